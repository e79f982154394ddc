"""Claude Code's tools in our words."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.claude_tools import (
    planned_content,
    result_content,
    result_text,
    tool_kind,
    tool_places,
    tool_title,
)

PATCH = {
    "filePath": "/a",
    "structuredPatch": [
        {"newStart": 4, "lines": [" one", "-two", "+TWO", " three"]},
        {"newStart": 40, "lines": ["+last"]},
    ],
}


def _block(content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t", "content": content, **fields}


@pytest.mark.parametrize(
    ("name", "given", "title"),
    [
        ("Bash", {"command": "ls -l\nrm x", "description": "list"}, "ls -l rm x"),
        ("Bash", {}, "Bash"),
        ("Read", {"file_path": "/a/b.py"}, "Read /a/b.py"),
        ("Grep", {"pattern": "x.*y", "path": "/a"}, "Grep x.*y"),
        ("WebFetch", {"url": "http://a", "prompt": "sum it up"}, "WebFetch http://a"),
        ("Task", {"description": "look", "prompt": "long"}, "Task look"),
        ("mcp__groupx__read", {"n": 3}, "groupx: read"),
        ("mcp__other__find", {"query": "cats"}, "other: find cats"),
        ("mcp__odd", {}, "odd"),
        ("New", {"name": "\x1b[31mred"}, "New ␛[31mred"),
    ],
)
def test_a_title_says_what_a_call_does(name: str, given: dict[str, Any], title: str) -> None:
    assert tool_title(name, given) == title


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "execute"),
        ("MultiEdit", "edit"),
        ("Read", "read"),
        ("Task", "think"),
        ("X", "other"),
    ],
)
def test_a_kind_is_one_of_the_protocols(name: str, kind: str) -> None:
    assert tool_kind(name) == kind


@pytest.mark.parametrize(
    ("given", "result", "place"),
    [
        ({"file_path": "/a"}, {}, {"path": "/a"}),
        ({"file_path": "/a", "offset": 30}, {}, {"path": "/a", "line": 30}),
        ({"file_path": "/a"}, PATCH, {"path": "/a", "line": 4}),
        ({"file_path": "/a", "offset": -1}, {}, {"path": "/a"}),
        ({"notebook_path": "/n"}, {}, {"path": "/n"}),
    ],
)
def test_a_place_is_the_file_and_its_line(
    given: dict[str, Any], result: dict[str, Any], place: dict[str, Any]
) -> None:
    assert tool_places(given, result) == (place,)


def test_a_call_without_a_file_has_no_place() -> None:
    assert tool_places({"command": "ls"}, {}) == ()


def test_edits_are_shown_before_they_ran() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    content = planned_content("MultiEdit", {"file_path": "/a", "edits": edits})
    assert [(item["oldText"], item["newText"]) for item in content] == [("a", "b"), ("c", "d")]
    [write] = planned_content("Write", {"file_path": "/a", "content": "new"})
    assert write == {"type": "diff", "path": "/a", "oldText": None, "newText": "new"}
    assert planned_content("Bash", {"command": "ls"}) == ()


def test_an_edit_that_was_made_is_shown_with_its_context() -> None:
    planned = planned_content("Edit", {"file_path": "/a", "old_string": "two", "new_string": "TWO"})
    first, second = result_content("Edit", planned, _block("ok"), PATCH)
    assert (first["oldText"], first["newText"]) == ("one\ntwo\nthree", "one\nTWO\nthree")
    assert (second["oldText"], second["newText"]) == ("", "last")


def test_an_edit_that_failed_is_shown_with_the_reason() -> None:
    planned = planned_content("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"})
    text = "<tool_use_error>String to replace not found</tool_use_error>"
    diff, reason = result_content("Edit", planned, _block(text, is_error=True), f"Error: {text}")
    assert diff["type"] == "diff"
    assert reason["content"]["text"] == "String to replace not found"


@pytest.mark.parametrize(
    ("block", "structured", "item"),
    [
        (
            _block("out\nerr"),
            {"stdout": "out\n", "stderr": "err"},
            {"output": "out\nerr", "exitCode": 0},
        ),
        (
            _block("Exit code 3\nhi", is_error=True),
            "Error: Exit code 3\nhi",
            {"output": "hi", "exitCode": 3},
        ),
        (_block("Exit code 137", is_error=True), None, {"output": "", "exitCode": 137}),
        (_block("hi"), None, {"output": "hi"}),
        (
            _block("in the background"),
            {"stdout": "", "backgroundTaskId": "b"},
            {"output": "in the background"},
        ),
        (_block("denied", is_error=True), {"stdout": ""}, {"output": "denied"}),
    ],
)
def test_a_command_shows_its_output_and_how_it_ended(
    block: dict[str, Any], structured: Any, item: dict[str, Any]
) -> None:
    assert result_content("Bash", (), block, structured) == ({"type": "terminal", **item},)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "source": {"media_type": "image/png"}}], "[image: image/png]"),
        ([{"type": "tool_reference", "tool_name": "mcp__a__b"}], "mcp__a__b"),
        ([7, None, {"type": "odd"}], ""),
        (None, ""),
    ],
)
def test_the_text_of_a_result_is_found_in_every_form(content: Any, text: str) -> None:
    assert result_text(content) == text


def test_a_result_without_text_shows_nothing() -> None:
    assert result_content("WebFetch", (), _block([]), None) == ()
