"""The room's read-only tools for a model: `room_history`, `room_find`, `room_agents`.

We run them against the server ourselves; results are bounded and fenced as data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from groupx_server.builtin_agent.quoting import as_data, as_data_line
from groupx_server.builtin_agent.room_api import Page, RoomApi, RoomDataError
from groupx_server.builtin_agent.room_search import MAX_HITS, parse_query, search_room
from groupx_server.builtin_agent.updates import ToolKind
from groupx_shared.english import counted
from groupx_shared.names import unknown_name
from groupx_shared.text import safe_line

MAX_RESULT_CHARS: Final = 16_000
"""About 4,000 tokens; a small local model still has room to answer."""
MAX_HISTORY: Final = 50
_MESSAGE_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model gets back."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the model sees it; `parameters` are the JSON Schema's properties."""

    name: str
    kind: ToolKind
    description: str
    parameters: dict[str, Any]
    required: tuple[str, ...] = ()

    def offered(self) -> dict[str, Any]:
        """The tool in the chat API's form."""
        schema = {
            "type": "object",
            "properties": self.parameters,
            "required": list(self.required),
            "additionalProperties": False,
        }
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": schema,
            },
        }


_BEFORE: Final = {"type": "integer", "description": "Only messages older than this number."}
_LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": MAX_HISTORY}

TOOLS: Final = {
    tool.name: tool
    for tool in (
        ToolSpec(
            "room_history",
            "read",
            "Read messages of this room in order, the newest by default. Each has a number (#seq).",
            {"limit": _LIMIT, "before": _BEFORE},
        ),
        ToolSpec(
            "room_find",
            "search",
            "Find earlier messages of this room that hold all the given words.",
            {
                "query": {"type": "string", "description": 'Words, or "a phrase".'},
                "before": _BEFORE,
            },
            ("query",),
        ),
        ToolSpec("room_agents", "read", "List the agents of this workspace and their state.", {}),
    )
}


class RoomTools:
    """Runs the tools for one room."""

    def __init__(self, api: RoomApi, room_id: str) -> None:
        self._api = api
        self._room_id = room_id

    def offered(self) -> list[dict[str, Any]]:
        """All tools in the chat API's form."""
        return [tool.offered() for tool in TOOLS.values()]

    def title(self, name: str, arguments: dict[str, Any]) -> str:
        """One line for people: what the call looks at."""
        if name == "room_find":
            return safe_line(f"Find “{arguments.get('query', '')}” in {self._room_id}")
        if name == "room_history":
            return safe_line(f"Read messages of {self._room_id}")
        return "List the agents" if name == "room_agents" else safe_line(name, 80)

    async def run(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Run one tool; never raises for what the model asked or the server did."""
        try:
            if name == "room_history":
                return await self._history(arguments)
            if name == "room_find":
                return await self._find(arguments)
            if name == "room_agents":
                return await self._agents()
        except RoomDataError as error:
            return ToolResult(error.message, failed=True)
        return ToolResult(unknown_name("tool", name, TOOLS), failed=True)

    async def _history(self, arguments: dict[str, Any]) -> ToolResult:
        limit = _number(arguments.get("limit"), 20, MAX_HISTORY)
        page = await self._api.messages(self._room_id, _before(arguments), limit)
        if not page.messages:
            return ToolResult("The room has no messages there.")
        lines = [as_data_line(message, _MESSAGE_CHARS) for message in page.messages]
        more = "Older messages exist." if page.has_more_before else "The room begins here."
        return ToolResult(as_data([*lines, more], MAX_RESULT_CHARS))

    async def _find(self, arguments: dict[str, Any]) -> ToolResult:
        query = parse_query(str(arguments.get("query", "")))
        if not query.words:
            return ToolResult("`query` must hold at least one word.", failed=True)

        async def read(before: int | None) -> Page:
            return await self._api.messages(self._room_id, before or _before(arguments))

        found = await search_room(read, query, skip=lambda _: False, max_hits=MAX_HITS)
        hits = found.hits or [message for _, message in found.near]
        lines = [as_data_line(message, _MESSAGE_CHARS) for message in hits]
        exact = "" if found.hits or not hits else " None holds all words; these hold some."
        searched = counted(found.searched, "message")
        range_said = f"{searched} searched, #{found.first_seq}–#{found.last_seq}."
        return ToolResult(as_data([*lines, range_said + exact], MAX_RESULT_CHARS))

    async def _agents(self) -> ToolResult:
        lines = [
            safe_line(
                f"{agent.get('actorId')} “{agent.get('displayName')}”: {agent.get('status')}"
                + (f" ({agent['detail']})" if agent.get("detail") else ""),
                400,
            )
            for agent in await self._api.agents()
        ]
        return ToolResult(as_data(lines or ["There are no agents."], MAX_RESULT_CHARS))


def _before(arguments: dict[str, Any]) -> int | None:
    value = arguments.get("before")
    return value if isinstance(value, int) and value > 0 else None


def _number(value: Any, default: int, high: int) -> int:
    return min(max(1, value), high) if isinstance(value, int) else default
