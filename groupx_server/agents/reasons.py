"""Telling reasons apart in the words of agents: sign-in, limits, a policy, plain errors.

Pure. Vendors hide the reason of a failure in JSON inside a message, in HTTP texts, in their own
words; the readers of each protocol find the text, this module reads it. Counterparts:
`acp_errors.py`, `codex_errors.py`.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

MAX_REASON_CHARS: Final = 500
"""Of an agent's own words in a sentence of ours."""
_AUTH_TEXT: Final = re.compile(
    r"authentication required|unauthori[sz]ed|invalid api key|\b401\b|no llm provider configured"
    r"|failed to resolve provider",
    re.IGNORECASE,
)
"""A program that was never set up has no provider to ask."""
_RATE_TEXT: Final = re.compile(r"rate.?limit|too many requests|\b429\b|quota", re.IGNORECASE)
_POLICY_TEXT: Final = re.compile(r"managed polic|disabled by (?:your )?(?:admin|org)", re.I)


def mentions_sign_in(text: str) -> bool:
    """True when an agent says that nobody is signed in, or that its key is refused."""
    return _AUTH_TEXT.search(text) is not None


def mentions_limit(text: str) -> bool:
    """True when an agent says that a rate limit or a quota is used up."""
    return _RATE_TEXT.search(text) is not None


def mentions_policy(text: str) -> bool:
    """True when an agent says that its owner's policy forbids the way GroupX starts it."""
    return _POLICY_TEXT.search(text) is not None


def inner_text(value: Any) -> str:
    """The message inside `{"error": {"message": …}}`, given as JSON or as JSON in a string."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value)
    for _ in range(3):  # error objects are nested twice at most
        if not isinstance(value, dict):
            break
        value = value.get("error", value.get("message", value.get("detail")))
    return value if isinstance(value, str) else ""
