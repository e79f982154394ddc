"""Which of the tools that an agent offers the fake model calls, and with which arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from support.fake_model.script import Tool

ROOM: Final = "groupx"
"""In the name of each tool of the room, as agents show them to models."""

_SHELLS: Final = (
    "run_shell_command",
    "exec_command",
    "bash",
    "shell",
    "terminal",
    "shell_command",
    "run_command",
    "run_commands",
    "run_terminal_command",
)
"""Names of shell tools, most telling first."""
_COMMANDS: Final = ("command", "cmd", "script")
"""Names of their argument."""
_MANY_COMMANDS: Final = "commands"
"""The argument of one that takes a list of them."""

Call = tuple[Tool | None, dict[str, Any]]


def shell_call(command: str, tools: Sequence[Tool]) -> Call:
    """The call of the agent's shell."""
    tool = _shell(tools)
    return tool, {} if tool is None else _command(tool, command)


def call_of_the_room(argument: str, tools: Sequence[Tool], results: Sequence[str]) -> Call:
    """The call of a tool of the room, or the step that leads to it: where an agent hides tools
    behind a search, the search, then what it found, directly or through another tool."""
    name, _, rest = argument.partition(" ")
    arguments = json.loads(rest or "{}")
    if (tool := _of_the_room(tools, name)) is not None:
        return tool, arguments
    if not results:
        search = next((tool for tool in tools if is_search(tool.name)), None)
        required = search.schema.get("required") or ["query"] if search else []
        return search, dict.fromkeys(required, f"{ROOM} {name}")
    found = re.search(rf"[\w-]*{ROOM}[\w.-]*{name}\b", results[-1])
    return (None, {}) if found is None else _bridge(found[0], arguments, tools)


def _bridge(found: str, arguments: dict[str, Any], tools: Sequence[Tool]) -> Call:
    """The call of a hidden tool through the one that an agent offers for it."""
    by_name = {tool.name: tool for tool in tools}
    if (typescript := by_name.get("run_typescript")) is not None:
        call = f"await tools.{found}({json.dumps(arguments)})"
        return typescript, {"code": f"async function main() {{ return {call}; }}"}
    if (use := by_name.get("use_tool")) is not None:
        return use, {"tool_name": found, "tool_input": arguments}
    return by_name.get("tool_call"), {"name": found, "arguments": arguments}


def _shell(tools: Sequence[Tool]) -> Tool | None:
    by_name = {tool.name.lower(): tool for tool in tools}
    return next((by_name[name] for name in _SHELLS if name in by_name), None)


def _of_the_room(tools: Sequence[Tool], ending: str) -> Tool | None:
    found = [tool for tool in tools if ROOM in tool.full_name and tool.name.endswith(ending)]
    # `read`, and not `memory_read`: vendors put different prefixes before the room's own name.
    return min(found, key=lambda tool: len(tool.name), default=None)


def is_search(name: str) -> bool:
    """True for a name like `tool_search` or `search_tool_functions`."""
    return {"tool", "search"} <= set(name.lower().split("_"))


def _command(tool: Tool, command: str) -> dict[str, Any]:
    """Arguments for a shell tool, whatever it calls them; what else it requires gets a value."""
    properties: dict[str, Any] = tool.schema.get("properties", {})
    if _MANY_COMMANDS in properties:
        return {_MANY_COMMANDS: [command]}
    key = next((key for key in _COMMANDS if key in properties), _COMMANDS[0])
    takes_words = str(properties.get(key, {}).get("type")).lower() == "array"
    required = [name for name in tool.schema.get("required", []) if name != key]
    values = {name: _some_value(properties.get(name, {})) for name in required}
    return {**values, key: ["bash", "-c", command] if takes_words else command}


def _some_value(schema: dict[str, Any]) -> Any:
    if choices := schema.get("enum"):
        return choices[0]
    kinds: dict[str, Any] = {"boolean": False, "integer": 60, "number": 60, "array": []}
    return kinds.get(str(schema.get("type")).lower(), "A live test")
