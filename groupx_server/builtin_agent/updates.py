"""What a turn tells the client while it runs: ACP `session/update` notifications.

One `TurnSink` per turn; each call sends one line and waits while the client is slow, so memory
does not grow. The counterpart is the client's ACP driver.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, Literal

Notify = Callable[[str, dict[str, Any]], Awaitable[None]]
ToolKind = Literal["read", "search", "fetch", "think", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]

MAX_UPDATE_CHARS: Final = 65_536
"""Longest text in one update; more is sent as several."""
PIECE_CHARS: Final = 48
"""The guide's text is streamed in pieces of about this size, cut at spaces."""


class TurnSink:
    """Sends one turn's updates. Call ids are unique within the session."""

    def __init__(self, session_id: str, notify: Notify, turn_number: int) -> None:
        self._session_id = session_id
        self._notify = notify
        self._turn = turn_number
        self._calls = itertools.count(1)
        self._said: list[str] = []
        self._is_in_text = False

    @property
    def said(self) -> str:
        """The answer's text so far."""
        return "".join(self._said)

    async def message(self, text: str) -> None:
        """Send a piece of the answer; nothing for an empty one."""
        self._said.append(text)
        self._is_in_text = self._is_in_text or bool(text)
        await self._text("agent_message_chunk", text)

    async def thought(self, text: str) -> None:
        """Send a piece of reasoning, or a notice about the work."""
        await self._text("agent_thought_chunk", text)

    async def say(self, text: str) -> None:
        """Stream a paragraph that is known whole, in small pieces."""
        for piece in pieces("\n\n" * self._is_in_text + text):
            await self.message(piece)

    async def tool_started(
        self,
        title: str,
        kind: ToolKind,
        *,
        status: ToolStatus = "in_progress",
        raw_input: Any = None,
    ) -> str:
        """Announce a tool call and return its id."""
        if self._is_in_text:
            self._said.append("\n\n")
        self._is_in_text = False
        call_id = f"call-{self._turn}-{next(self._calls)}"
        update: dict[str, Any] = {"toolCallId": call_id, "title": title, "kind": kind}
        update["status"] = status
        if raw_input is not None:
            update["rawInput"] = raw_input
        await self._send("tool_call", **update)
        return call_id

    async def tool_changed(self, call_id: str, **changes: Any) -> None:
        """Send changed fields of a call (`title`, `status`, `rawInput`, …)."""
        await self._send("tool_call_update", toolCallId=call_id, **changes)

    async def tool_ended(self, call_id: str, text: str, *, failed: bool = False) -> None:
        """Close a tool call with its (already bounded) result."""
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        status = "failed" if failed else "completed"
        await self.tool_changed(call_id, status=status, content=content)

    async def usage(self, used_tokens: int, window_tokens: int) -> None:
        """Say how full the model's window is."""
        await self._send("usage_update", used=used_tokens, size=window_tokens)

    async def _text(self, kind: str, text: str) -> None:
        for start in range(0, len(text), MAX_UPDATE_CHARS):
            part = text[start : start + MAX_UPDATE_CHARS]
            await self._send(kind, content={"type": "text", "text": part})

    async def _send(self, update_kind: str, **fields: Any) -> None:
        update = {"sessionUpdate": update_kind, **fields}
        await self._notify("session/update", {"sessionId": self._session_id, "update": update})


def pieces(text: str, size: int = PIECE_CHARS) -> Iterator[str]:
    """Cut `text` after spaces and newlines into pieces of at most about `size` characters; joined
    they are `text` again."""
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            cut = max(text.rfind(" ", start, end), text.rfind("\n", start, end)) + 1
            end = cut if cut > start else end
        yield text[start:end]
        start = end


def commands_update(session_id: str, commands: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Build the params that tell a client which slash commands there are."""
    update = {"sessionUpdate": "available_commands_update", "availableCommands": list(commands)}
    return {"sessionId": session_id, "update": update}
