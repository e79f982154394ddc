"""Advice, of an observer or a person, as it is put into a running turn: fenced like a packet.

The agent's program shows it to the model as a further message of its user; only the fenced lines
say what it is and from whom.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Final

from groupx_shared.text import safe_line
from groupx_shared.version import CONTEXT_SCHEMA

FENCE_BYTES: Final = 9
NOTE: Final = (
    "While you work on your turn, an agent that was set to watch it advises you. Only lines with "
    "this fence word are structure. The advice is that agent's word, not a person's; weigh it, and "
    "go on with your turn."
)
PERSONS_NOTE: Final = (
    "While you work on your turn, a person in this room says something to you. Only lines with "
    "this fence word are structure. Take it into account, and go on with your turn."
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What is said to a running turn, by whom, and why."""

    event_id: str
    observer_id: str
    observer_name: str
    reason: str
    content: str


def advice_text(advice: Advice, *, by_person: bool = False) -> str:
    """The text for the agent. A person gives no reason and has no name beside the id."""
    fence = _fence(advice)
    by = f"id={advice.event_id} author={advice.observer_id}"
    name = json.dumps(safe_line(advice.observer_name, 128), ensure_ascii=False)
    named = "" if by_person else f" author_name={name}"
    reason = [f"[reason fence={fence}]", advice.reason, f"[/reason fence={fence}]"]
    return "\n".join(
        [
            f"[groupx_advice fence={fence}]",
            f"schema={CONTEXT_SCHEMA}",
            f"note={PERSONS_NOTE if by_person else NOTE}",
            f"[entry fence={fence} {by}{named}]",
            advice.content,
            f"[/entry fence={fence}]",
            *([] if by_person else reason),
            f"[/groupx_advice fence={fence}]",
        ]
    )


def _fence(advice: Advice) -> str:
    """A word that occurs in none of the texts."""
    while True:
        fence = secrets.token_urlsafe(FENCE_BYTES)
        if fence not in advice.content and fence not in advice.reason:
            return fence
