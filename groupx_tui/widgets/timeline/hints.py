"""What can be done about a turn, as the last line of its block: take it up again, or take it back.

Pure. Invariant: a hint stands only where the key does what it says. Counterpart: `handlers.turn`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groupx_tui.state.model import NoticeBlock, Shown, TurnBlock


@dataclass(frozen=True, slots=True)
class KeyHints:
    """The keys as people read them; empty where an action has none."""

    retry: str = ""
    go_on: str = ""
    stop: str = ""


NO_KEYS: Final = KeyHints()


def turn_hint(turn: TurnBlock, keys: KeyHints, *, is_taken_up: bool) -> str:
    """Return the line for a turn; empty when there is nothing to do. `is_taken_up`: a later
    message has taken it up again already."""
    if turn.can_retry:
        return "taken up again below" if is_taken_up else _again(turn, keys)
    if turn.phase == "queued" and keys.stop:
        return f"{keys.stop} takes it back" if turn.hop_count == 0 else f"{keys.stop} stop"
    return ""


def loop_hint(keys: KeyHints, *, goes_on: bool) -> str:
    """Return the line for agents that a limit stopped; `goes_on`: a person let them go on."""
    if goes_on or not keys.go_on:
        return ""
    return f"{keys.go_on} lets them go on"


def goes_on(stopped: NoticeBlock, later: Shown) -> bool:
    """Whether a later block tells that a person let the agents of `stopped` go on."""
    return (
        isinstance(later, NoticeBlock)
        and later.loop == "continued"
        and later.root_id == stopped.root_id
    )


def _again(turn: TurnBlock, keys: KeyHints) -> str:
    warning = " (it may then be done twice)" if is_uncertain(turn) else ""
    parts = [f"{keys.retry} retry{warning}" if keys.retry else ""]
    parts.append(f"{keys.go_on} continue" if keys.go_on and turn.can_continue else "")
    return " · ".join(part for part in parts if part)


def is_uncertain(turn: TurnBlock) -> bool:
    """Whether nobody knows how far the agent came with it."""
    if not turn.can_retry or turn.certainty == "not_delivered":
        return False
    return turn.certainty == "unknown" or turn.phase == "interrupted"
