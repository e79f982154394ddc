"""Claude Code's tools in GroupX's words: a title, a kind, places, and what to show of a call.

Pure. Counts on nothing: a tool it does not know keeps its name and shows its result as text.
Content items are those of the wire: `diff` for edits, `terminal` for commands, text for the rest.
The counterpart is `claude_calls.py`, which keeps the calls of a turn.
"""

from __future__ import annotations

import re
from typing import Any, Final

from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.mediawords import media_words
from groupx_shared.text import safe_line

Items = tuple[dict[str, Any], ...]

SHELL_TOOLS: Final = frozenset({"Bash", "BashOutput", "KillShell", "TaskOutput", "Monitor"})
EDIT_TOOLS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_KINDS: Final[dict[str, str]] = {
    **dict.fromkeys(SHELL_TOOLS, "execute"),
    **dict.fromkeys(EDIT_TOOLS, "edit"),
    **dict.fromkeys(("Read", "NotebookRead", "ReadMcpResource"), "read"),
    **dict.fromkeys(("Glob", "Grep", "LS", "ToolSearch", "WebSearch"), "search"),
    **dict.fromkeys(("Task", "Agent", "Skill", "Workflow"), "think"),
    **dict.fromkeys(("EnterPlanMode", "ExitPlanMode"), "switch_mode"),
    "WebFetch": "fetch",
}
_SUBJECT_KEYS: Final = (
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "description",
    "skill",
    "path",
    "name",
)
"""Of an input, what says best what the call is about, in this order."""
_PATH_KEYS: Final = ("file_path", "notebook_path", "path")
_MAX_TITLE_CHARS: Final = 200
_MAX_HUNKS: Final = 32
_EXIT_CODE: Final = re.compile(r"\A(?:Error: )?Exit code (\d{1,3})(?:\n|\Z)")
_ERROR_TAG: Final = re.compile(r"\A\s*<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)


def tool_kind(name: str) -> str:
    """The kind of a tool, as ACP names kinds."""
    return _KINDS.get(name, "other")


def tool_title(name: str, given: dict[str, Any]) -> str:
    """One line that says what a call does: the command of a shell, else the tool and its subject.
    `mcp__server__tool` is written `server: tool`."""
    if name == "Bash" and (command := as_text(given.get("command"))):
        return safe_line(command, _MAX_TITLE_CHARS)
    label = name
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        label = f"{server}: {tool}" if tool else server
    subject = next((text for key in _SUBJECT_KEYS if (text := as_text(given.get(key)))), "")
    return safe_line(f"{label} {subject}" if subject else label, _MAX_TITLE_CHARS)


def tool_places(given: dict[str, Any], result: dict[str, Any]) -> Items:
    """The file that a call is about, with the line where it reads or changed it."""
    path = next((text for key in _PATH_KEYS if (text := as_text(given.get(key)))), "")
    if not path:
        return ()
    first = as_dict(next(iter(as_list(result.get("structuredPatch"))), None))
    line = first.get("newStart", given.get("offset"))
    is_line = isinstance(line, int) and not isinstance(line, bool) and line > 0
    return ({"path": path, "line": line},) if is_line else ({"path": path},)


def planned_content(name: str, given: dict[str, Any]) -> Items:
    """What a call is about to change, before it ran: the diffs of an edit."""
    path = as_text(given.get("file_path")) or as_text(given.get("notebook_path"))
    match name:
        case "Edit":
            return (_diff(path, given.get("old_string"), given.get("new_string")),)
        case "MultiEdit":
            edits = [as_dict(edit) for edit in as_list(given.get("edits"))[:_MAX_HUNKS]]
            return tuple(_diff(path, e.get("old_string"), e.get("new_string")) for e in edits)
        case "Write":
            return (_diff(path, None, given.get("content")),)
        case "NotebookEdit":
            return (_diff(path, None, given.get("new_source")),)
        case _:
            return ()


def result_content(name: str, planned: Items, block: dict[str, Any], structured: Any) -> Items:
    """What a call did. `block` is its `tool_result`; `structured` the program's own form of the
    result (a dict, or a text for an error)."""
    is_error, text = block.get("is_error") is True, result_text(block.get("content"))
    result = as_dict(structured)
    if name in SHELL_TOOLS:
        return _terminal(text, result, is_error=is_error)
    if name not in EDIT_TOOLS:
        return _text_items(text)
    done = _patched(result) or planned
    return (*done, *_text_items(text)) if is_error else done


def result_text(content: Any) -> str:
    """The text of a result, whose blocks stand in a list; what is no text is named."""
    if isinstance(content, str):
        return _untagged(content)
    return "\n".join(text for item in as_list(content) if (text := _block_text(as_dict(item))))


def _block_text(block: dict[str, Any]) -> str:
    if text := as_text(block.get("text")):
        return _untagged(text)
    if block.get("type") == "tool_reference":
        return as_text(block.get("tool_name"))
    if block.get("type") in ("image", "document"):
        source = as_dict(block.get("source"))
        return media_words(block["type"], source.get("media_type"), source.get("data"))
    return ""


def _untagged(text: str) -> str:
    """Errors of the program itself come in a tag that is meant for the model."""
    found = _ERROR_TAG.match(text)
    return found.group(1) if found else text


def _terminal(text: str, result: dict[str, Any], *, is_error: bool) -> Items:
    exit_code = _EXIT_CODE.match(text)
    if exit_code:
        output = text[exit_code.end() :]
        return ({"type": "terminal", "output": output, "exitCode": int(exit_code.group(1))},)
    outputs = (as_text(result.get(key)).rstrip("\n") for key in ("stdout", "stderr"))
    output = "\n".join(part for part in outputs if part)
    item: dict[str, Any] = {"type": "terminal", "output": output or text}
    if not is_error and "stdout" in result and not result.get("backgroundTaskId"):
        item["exitCode"] = 0
    return (item,)


def _patched(result: dict[str, Any]) -> Items:
    """The real change, with its context lines; a new file is one diff from nothing."""
    path = as_text(result.get("filePath"))
    if not path:
        return ()
    hunks = [as_dict(hunk) for hunk in as_list(result.get("structuredPatch"))[:_MAX_HUNKS]]
    if hunks:
        return tuple(_hunk(path, hunk) for hunk in hunks)
    if "content" in result:
        return (_diff(path, result.get("originalFile"), result.get("content")),)
    return ()


def _hunk(path: str, hunk: dict[str, Any]) -> dict[str, Any]:
    lines = [as_text(line) for line in as_list(hunk.get("lines"))]
    old = "\n".join(line[1:] for line in lines if line[:1] in (" ", "-"))
    new = "\n".join(line[1:] for line in lines if line[:1] in (" ", "+"))
    return _diff(path, old, new)


def _diff(path: str, old: Any, new: Any) -> dict[str, Any]:
    old_text = old if isinstance(old, str) else None
    return {"type": "diff", "path": path, "oldText": old_text, "newText": as_text(new)}


def _text_items(text: str) -> Items:
    return ({"type": "content", "content": {"type": "text", "text": text}},) if text else ()
