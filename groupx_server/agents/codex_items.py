"""Codex thread items as tool calls: commands, patches, MCP tools, searches, sub-agents.

Pure: an item of `item/started` or `item/completed` in, the call's whole state out. Each kind of
item has a reader of its own in `_READERS`; an item without one is no tool call. No field is
trusted. The counterpart is `codex_turn.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Final

from groupx_server.agents.codex_patch import diff_items, patch_locations, patch_title
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.mediawords import media_words
from groupx_server.domain.native import ToolCall, ToolStatus

_STATUSES: Final[dict[str, ToolStatus]] = {
    "inProgress": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "declined": "failed",
    "interrupted": "cancelled",
}
_ACTION_KINDS: Final = {"read": "read", "listFiles": "search", "search": "search"}
_SHELL_WORDS: Final = 3
"""A shell, its `-lc`, and the command that the model wrote."""

Item = dict[str, Any]
Content = tuple[dict[str, Any], ...]


def read_tool_item(item: Item, *, is_over: bool) -> ToolCall | None:
    """The call that an item is, or None. `is_over`: it came with `item/completed`; an item that
    has no status of its own is in progress until then."""
    reader = _READERS.get(as_text(item.get("type")))
    item_id = as_text(item.get("id"))
    if reader is None or not item_id:
        return None
    fallback: ToolStatus = "completed" if is_over else "in_progress"
    status = _STATUSES.get(as_text(item.get("status")), fallback)
    if is_over and status == "in_progress":
        status = "completed"
    return reader(item, item_id, status)


def text_item(text: str) -> dict[str, Any]:
    """A content item of plain text."""
    return {"type": "text", "text": text}


def terminal_item(output: str, exit_code: Any = None) -> dict[str, Any]:
    """A content item of a command's output."""
    item: dict[str, Any] = {"type": "terminal", "output": output}
    if isinstance(exit_code, int) and not isinstance(exit_code, bool):
        item["exitCode"] = exit_code
    return item


def _command(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    actions = [as_dict(action) for action in as_list(item.get("commandActions"))]
    kinds = {_ACTION_KINDS.get(as_text(action.get("type")), "execute") for action in actions}
    output, exit_code = as_text(item.get("aggregatedOutput")), item.get("exitCode")
    has_result = bool(output) or exit_code is not None
    return ToolCall(
        item_id,
        title=_plain_command(as_text(item.get("command"))),
        kind=kinds.pop() if len(kinds) == 1 else "execute",
        status=status,
        raw_input={"command": as_text(item.get("command")), "cwd": as_text(item.get("cwd"))},
        content=(terminal_item(output, exit_code),) if has_result else (),
        locations=tuple({"path": path} for action in actions if (path := _path_of(action))),
    )


def _path_of(action: dict[str, Any]) -> str:
    return as_text(action.get("path")) if action.get("type") == "read" else ""


def _plain_command(command: str) -> str:
    """Without the `/bin/bash -lc '…'` that Codex puts around what the model wrote."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == _SHELL_WORDS and words[0].endswith("sh") and words[1] in ("-lc", "-c"):
        return words[2]
    return command


def _patch(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    changes = [as_dict(change) for change in as_list(item.get("changes"))]
    return ToolCall(
        item_id,
        title=patch_title(changes),
        kind="edit",
        status=status,
        content=tuple(diff for change in changes for diff in diff_items(change)),
        locations=patch_locations(changes),
    )


def _mcp_tool(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    error = as_text(as_dict(item.get("error")).get("message"))
    blocks = as_list(as_dict(item.get("result")).get("content"))
    return ToolCall(
        item_id,
        title=f"{as_text(item.get('server'))}: {as_text(item.get('tool'))}",
        status=status,
        raw_input=item.get("arguments"),
        content=_texts([*map(_block_text, blocks), error]),
    )


def _dynamic_tool(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    blocks = as_list(item.get("contentItems"))
    names = (as_text(item.get("namespace")), as_text(item.get("tool")))
    return ToolCall(
        item_id,
        title=": ".join(name for name in names if name),
        status=status,
        raw_input=item.get("arguments"),
        content=_texts(map(_block_text, blocks)),
    )


def _web_search(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    action = as_dict(item.get("action"))
    url = as_text(action.get("url"))
    what = as_text(item.get("query")) or as_text(action.get("query")) or url
    return ToolCall(
        item_id,
        title=f"Search the web: {what}" if what else "Search the web",
        kind="fetch" if url else "search",
        status=status,
        raw_input=action or None,
    )


def _collab_call(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    prompt = as_text(item.get("prompt"))
    return ToolCall(
        item_id,
        title=f"Agents: {as_text(item.get('tool')) or 'call'}",
        status=status,
        raw_input={"prompt": prompt} if prompt else None,
    )


def _sub_agent(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    path, kind = as_text(item.get("agentPath")), as_text(item.get("kind"))
    return ToolCall(item_id, title=f"Sub-agent {path} {kind}".strip(), status=status)


def _image_view(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    path = as_text(item.get("path"))
    where = ({"path": path},) if path else ()
    return ToolCall(item_id, title=f"Look at {path}", kind="read", status=status, locations=where)


def _image_generation(_: Item, item_id: str, status: ToolStatus) -> ToolCall:
    return ToolCall(item_id, title="Generate an image", status=status)


def _compaction(_: Item, item_id: str, status: ToolStatus) -> ToolCall:
    return ToolCall(item_id, title="Compact its context", kind="think", status=status)


def _sleep(item: Item, item_id: str, status: ToolStatus) -> ToolCall:
    duration_ms = item.get("durationMs")
    span = f" for {duration_ms / 1000:g} s" if isinstance(duration_ms, int | float) else ""
    return ToolCall(item_id, title=f"Wait{span}", status=status)


def _texts(texts: Any) -> Content:
    return tuple(text_item(text) for text in texts if text)


def _block_text(block: Any) -> str:
    """The text of a result block; a block of another type is named."""
    fields = as_dict(block)
    kind, text = as_text(fields.get("type")), as_text(fields.get("text"))
    if text or kind in ("text", "inputText", ""):
        return text
    if kind == "resource":
        return _block_text({"type": "text", **as_dict(fields.get("resource"))})
    name = kind.removeprefix("input").lower()
    if name == "image":
        place = fields.get("imageUrl") or fields.get("uri")
        return media_words(name, fields.get("mimeType"), fields.get("data"), place)
    return f"[{name}]"


_READERS: Final[dict[str, Callable[[Item, str, ToolStatus], ToolCall]]] = {
    "commandExecution": _command,
    "fileChange": _patch,
    "mcpToolCall": _mcp_tool,
    "dynamicToolCall": _dynamic_tool,
    "webSearch": _web_search,
    "collabAgentToolCall": _collab_call,
    "collabToolCall": _collab_call,
    "subAgentActivity": _sub_agent,
    "imageView": _image_view,
    "imageGeneration": _image_generation,
    "contextCompaction": _compaction,
    "sleep": _sleep,
}
