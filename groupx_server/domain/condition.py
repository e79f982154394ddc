"""Why an agent cannot work for now although its program is fine: nobody is signed in, or a limit.

Every driver says it the same way, in the `details` of a `TurnFailed` or an `AgentError`:

| key | meaning |
|---|---|
| `authRequired: true` | nobody is signed in, or the key is refused |
| `rateLimited: true` | a limit of its vendor is used up |
| `resetsAt` | when the limit ends, seconds since 1970, if the agent told it |

Facts of the protocol only; nothing is guessed from silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Condition:
    """What stands in the way. `until_s`: when a limit ends, seconds since 1970."""

    kind: Literal["needs_login", "rate_limited"]
    until_s: float | None = None


def read_condition(details: Mapping[str, Any]) -> Condition | None:
    """The condition that an error's details tell; None for any other error."""
    if details.get("authRequired") is True:
        return Condition("needs_login")
    if details.get("rateLimited") is not True:
        return None
    until = details.get("resetsAt")
    is_time = isinstance(until, int | float) and not isinstance(until, bool) and until > 0
    return Condition("rate_limited", float(until) if is_time and until is not None else None)
