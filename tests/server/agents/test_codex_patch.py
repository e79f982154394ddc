"""File changes of Codex as diff items."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.codex_patch import diff_items, patch_locations, patch_title

TWO_HUNKS = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n \n@@ -9,2 +9,3 @@ def f():\n x\n+y\n z\n"


def _change(kind: Any, diff: str, path: str = "/w/a.py") -> dict[str, Any]:
    return {"path": path, "kind": kind, "diff": diff}


def test_each_hunk_is_a_diff_of_its_lines() -> None:
    first, second = diff_items(_change({"type": "update", "move_path": None}, TWO_HUNKS))
    assert (first["oldText"], first["newText"]) == ("a\nb\n", "a\nB\n")
    assert (second["oldText"], second["newText"]) == ("x\nz", "x\ny\nz")


def test_the_first_changed_line_is_the_location() -> None:
    changes = [_change({"type": "update"}, TWO_HUNKS), _change({"type": "add"}, "x\n", "/w/b")]
    assert patch_locations(changes) == ({"path": "/w/a.py", "line": 1}, {"path": "/w/b"})


def test_a_missing_last_newline_is_no_line() -> None:
    diff = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
    [item] = diff_items(_change({"type": "update"}, diff))
    assert (item["oldText"], item["newText"]) == ("a", "b")


def test_a_change_without_hunks_is_shown_as_far_as_it_can_be() -> None:
    assert diff_items(_change({"type": "update"}, "")) == []
    [item] = diff_items(_change("update", "+only added\n"))
    assert (item["oldText"], item["newText"]) == ("", "only added")


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ([], "Edit files"),
        ([_change({"type": "add"}, "")], "Create a.py"),
        ([_change("delete", "")], "Delete a.py"),
        ([_change({"type": "update", "move_path": "/w/b.py"}, "")], "Edit a.py → b.py"),
        ([_change({"type": 7}, ""), _change(None, "")], "Edit 2 files"),
        ([_change([], "")], "Edit a.py"),
    ],
)
def test_the_title_names_what_is_done(changes: list[dict[str, Any]], title: str) -> None:
    assert patch_title(changes) == title
