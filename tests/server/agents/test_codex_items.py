"""Codex thread items as tool calls."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.codex_items import read_tool_item


def _read(is_over: bool = True, **item: Any) -> Any:
    call = read_tool_item({"id": "i", **item}, is_over=is_over)
    assert call is not None
    return call


@pytest.mark.parametrize("kind", ["agentMessage", "reasoning", "userMessage", "hookPrompt", "new"])
def test_what_is_no_tool_is_no_call(kind: str) -> None:
    assert read_tool_item({"id": "i", "type": kind}, is_over=True) is None


def test_an_item_without_an_id_is_no_call() -> None:
    assert read_tool_item({"type": "sleep", "durationMs": 1}, is_over=True) is None


@pytest.mark.parametrize(
    ("status", "is_over", "expected"),
    [
        ("inProgress", False, "in_progress"),
        ("inProgress", True, "completed"),
        ("completed", True, "completed"),
        ("failed", True, "failed"),
        ("declined", True, "failed"),
        ("interrupted", True, "cancelled"),
        (None, False, "in_progress"),
        (None, True, "completed"),
        ({"odd": 1}, True, "completed"),
    ],
)
def test_the_status_of_a_call(status: Any, is_over: bool, expected: str) -> None:
    assert _read(is_over, type="webSearch", query="x", status=status).status == expected


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ("/bin/bash -lc 'echo \"hi there\"'", 'echo "hi there"'),
        ("/usr/bin/zsh -c ls", "ls"),
        ("ls -l /tmp", "ls -l /tmp"),
        ("/bin/bash -lc 'unfinished", "/bin/bash -lc 'unfinished"),
        ("bash -x script", "bash -x script"),
    ],
)
def test_a_command_is_shown_as_the_model_wrote_it(command: str, title: str) -> None:
    call = _read(type="commandExecution", command=command, cwd="/w", status="completed")
    assert call.title == title
    assert call.raw_input == {"command": command, "cwd": "/w"}


def test_a_command_that_only_reads_is_a_read_with_its_file() -> None:
    actions = [{"type": "read", "command": "cat a", "name": "a", "path": "/w/a"}]
    call = _read(type="commandExecution", command="cat a", commandActions=actions)
    assert (call.kind, call.locations) == ("read", ({"path": "/w/a"},))
    mixed = [*actions, {"type": "unknown", "command": "rm a"}]
    assert _read(type="commandExecution", command="x", commandActions=mixed).kind == "execute"


def test_blocks_of_a_tools_result_are_text_or_named() -> None:
    content = [
        {"type": "text", "text": "plain"},
        {"type": "image", "data": "…"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
        {"type": "text", "text": ""},
        "odd",
    ]
    call = _read(type="mcpToolCall", server="s", tool="t", result={"content": content})
    assert [item["text"] for item in call.content] == [
        "plain",
        "[image: unknown type, damaged]",
        "inside",
    ]


def test_the_error_of_a_tool_is_shown() -> None:
    call = _read(type="mcpToolCall", server="s", tool="t", error={"message": "no"}, status="failed")
    assert call.content == ({"type": "text", "text": "no"},)


def test_a_dynamic_tool_shows_its_name_and_answer() -> None:
    items = [
        {"type": "inputText", "text": "ok"},
        {"type": "inputImage", "imageUrl": "data:image/png;base64,iVBORw0KGgo="},
    ]
    call = _read(type="dynamicToolCall", namespace="n", tool="t", contentItems=items)
    assert call.title == "n: t"
    assert [item["text"] for item in call.content] == ["ok", "[image: image/png, 8 bytes]"]


def test_a_search_and_an_opened_page_of_the_web() -> None:
    search = _read(type="webSearch", query="cats", action={"type": "search", "query": "cats"})
    assert (search.title, search.kind) == ("Search the web: cats", "search")
    opened = _read(type="webSearch", query="", action={"type": "openPage", "url": "http://c"})
    assert (opened.title, opened.kind) == ("Search the web: http://c", "fetch")
    assert _read(type="webSearch", query="").title == "Search the web"


@pytest.mark.parametrize(
    ("item", "title"),
    [
        (
            {"type": "collabAgentToolCall", "tool": "spawnAgent", "prompt": "go"},
            "Agents: spawnAgent",
        ),
        ({"type": "collabToolCall"}, "Agents: call"),
        (
            {"type": "subAgentActivity", "agentPath": "/a", "kind": "started"},
            "Sub-agent /a started",
        ),
        ({"type": "imageView", "path": "/p.png"}, "Look at /p.png"),
        ({"type": "imageGeneration", "fileId": "x"}, "Generate an image"),
        ({"type": "contextCompaction"}, "Compact its context"),
        ({"type": "sleep", "durationMs": 1500}, "Wait for 1.5 s"),
        ({"type": "sleep"}, "Wait"),
    ],
)
def test_other_items_have_a_title(item: dict[str, Any], title: str) -> None:
    assert _read(**item).title == title
