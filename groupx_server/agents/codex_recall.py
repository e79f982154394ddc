"""What Codex's record of a thread says of one turn. Pure: reads the answer to `thread/turns/list`.

Seen on 0.171: turns come newest first, each with its status and its messages; a turn whose process
was killed is not `completed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from groupx_server.agents.base import Recalled
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.domain.native import TurnCancelled, TurnCompleted, TurnFailed
from groupx_shared.errors import ErrorCode
from groupx_shared.text import safe_line

TURNS_LOOKED_AT: Final = 20
"""The newest turns of a thread; the one that was under way is the last or the one before it."""


def find_turn(
    answer: Any, native_turn_id: str | None, is_ours: Callable[[str], bool]
) -> Recalled | None:
    """Find the turn by its id, or by its prompt, and say how it ended."""
    for entry in as_list(as_dict(answer).get("data")):
        turn = as_dict(entry)
        known = native_turn_id is not None and turn.get("id") == native_turn_id
        if known or any(is_ours(text) for text in _prompts(turn)):
            return Recalled(_end_of(turn))
    return None


def _end_of(turn: dict[str, Any]) -> TurnCompleted | TurnCancelled | TurnFailed | None:
    status = turn.get("status")
    if status == "completed":
        return TurnCompleted(content="\n\n".join(_answers(turn)))
    if status == "failed":
        message = as_text(as_dict(turn.get("error")).get("message"))
        return TurnFailed(ErrorCode.AGENT_ERROR, safe_line(message, 500) or "Codex failed.")
    return None  # interrupted by the kill, or still open in the record: nobody knows how far


def _prompts(turn: dict[str, Any]) -> Iterator[str]:
    for item in map(as_dict, as_list(turn.get("items"))):
        if item.get("type") == "userMessage":
            for part in map(as_dict, as_list(item.get("content"))):
                yield as_text(part.get("text"))


def _answers(turn: dict[str, Any]) -> Iterator[str]:
    for item in map(as_dict, as_list(turn.get("items"))):
        if item.get("type") == "agentMessage" and (text := as_text(item.get("text"))):
            yield text
