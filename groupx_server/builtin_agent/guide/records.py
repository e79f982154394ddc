"""The room's data with a tool record for each look at it, as any agent shows its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from groupx_server.builtin_agent.room_api import PAGE_MESSAGES, Page, RoomApi, RoomDataError
from groupx_server.builtin_agent.updates import ToolKind, TurnSink
from groupx_shared.english import counted

T = TypeVar("T")


class RecordedRoom:
    """Reads like `RoomApi`, for one room, and tells the client of every read."""

    def __init__(self, api: RoomApi, sink: TurnSink, room_id: str) -> None:
        self.room_id = room_id
        self._api = api
        self._sink = sink

    async def rooms(self) -> list[dict[str, Any]]:
        """All rooms. Raises: RoomDataError."""
        return await self._recorded("List the rooms", "read", {}, self._api.rooms(), _count("room"))

    async def agents(self) -> list[dict[str, Any]]:
        """All agents. Raises: RoomDataError."""
        call = self._api.agents()
        return await self._recorded("List the agents", "read", {}, call, _count("agent"))

    async def open_turns(self) -> list[dict[str, Any]]:
        """The room's open turns. Raises: RoomDataError."""
        call = self._api.open_turns(self.room_id)
        asked = {"room": self.room_id, "status": "open"}
        title = f"List open turns of {self.room_id}"
        return await self._recorded(title, "read", asked, call, _count("open turn"))

    async def memory(self) -> list[dict[str, Any]]:
        """The room's memory. Raises: RoomDataError."""
        call = self._api.memory(self.room_id)
        title = f"Read the memory of {self.room_id}"
        return await self._recorded(title, "read", {"room": self.room_id}, call, _count("record"))

    async def messages(
        self, before: int | None = None, limit: int = PAGE_MESSAGES, kind: ToolKind = "read"
    ) -> Page:
        """A page of messages. Raises: RoomDataError."""
        where = f"before #{before}" if before is not None else "from the newest"
        verb = "Search" if kind == "search" else "Read"
        title = f"{verb} messages of {self.room_id}, {where}"
        asked = {"room": self.room_id, "limit": limit}
        if before is not None:
            asked["before"] = before
        call = self._api.messages(self.room_id, before, limit)
        return await self._recorded(title, kind, asked, call, _page)

    async def _recorded(
        self,
        title: str,
        kind: ToolKind,
        asked: dict[str, Any],
        call: Awaitable[T],
        describe: Callable[[T], str],
    ) -> T:
        call_id = await self._sink.tool_started(title, kind, raw_input=asked)
        try:
            value = await call
        except RoomDataError as error:
            await self._sink.tool_ended(call_id, error.message, failed=True)
            raise
        await self._sink.tool_ended(call_id, describe(value))
        return value


def _count(noun: str) -> Callable[[list[Any]], str]:
    def describe(items: list[Any]) -> str:
        return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"

    return describe


def _page(page: Page) -> str:
    if not page.messages:
        return "no messages there"
    first, last = page.messages[0].seq, page.messages[-1].seq
    more = "older ones exist" if page.has_more_before else "the room begins here"
    return f"{counted(len(page.messages), 'message')}, #{first}–#{last}; {more}"
