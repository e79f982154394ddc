"""File changes as Codex tells them, as diff items: path, old text, new text.

Pure. Codex gives a new or deleted file as its content and a changed one as unified hunks; each
hunk becomes one item with the lines before and after, so that it can be drawn as any other diff.
The counterpart is `codex_items.py`.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any, Final

from groupx_server.agents.loose import as_dict, as_text

_HUNK: Final = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@.*$", re.MULTILINE)
_TRAILER: Final = re.compile(r"\n\nMoved to: .*\Z", re.DOTALL)
"""What Codex puts behind the hunks of a file that it also moves."""
_VERBS: Final = {"add": "Create", "delete": "Delete", "update": "Edit"}


def patch_title(changes: list[dict[str, Any]]) -> str:
    """`Edit a.py`, or how many files when there are more."""
    if len(changes) != 1:
        return f"Edit {len(changes)} files" if changes else "Edit files"
    change = changes[0]
    verb = _VERBS.get(_kind(change), "Edit")
    title = f"{verb} {PurePath(as_text(change.get('path'))).name}"
    moved = PurePath(_moved_to(change)).name
    return f"{title} → {moved}" if moved else title


def patch_locations(changes: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Where the files are afterwards, with the first changed line of a changed file."""
    locations = []
    for change in changes:
        path = _moved_to(change) or as_text(change.get("path"))
        found = _HUNK.search(as_text(change.get("diff"))) if _kind(change) == "update" else None
        if path:
            locations.append({"path": path, **({"line": int(found[1])} if found else {})})
    return tuple(locations)


def diff_items(change: dict[str, Any]) -> list[dict[str, Any]]:
    """The change of one file: one item for a new or deleted file, one for each hunk else."""
    path, diff = as_text(change.get("path")), as_text(change.get("diff"))
    kind = _kind(change)
    if kind == "add":
        return [_item(path, None, diff)]
    if kind == "delete":
        return [_item(path, diff, "")]
    diff = _TRAILER.sub("", diff)
    hunks = _HUNK.split(diff)[2::2] or ([diff] if diff else [])
    return [_item(path, *_sides(hunk)) for hunk in hunks]


def _sides(hunk: str) -> tuple[str, str]:
    """The lines before and after a hunk."""
    old, new = [], []
    for line in hunk.strip("\n").splitlines():
        mark, text = line[:1] or " ", line[1:]
        if mark in " -":
            old.append(text)
        if mark in " +":
            new.append(text)
    return "\n".join(old), "\n".join(new)


def _item(path: str, old: str | None, new: str) -> dict[str, Any]:
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def _kind(change: dict[str, Any]) -> str:
    kind = change.get("kind")
    return as_text(kind) or as_text(as_dict(kind).get("type"))


def _moved_to(change: dict[str, Any]) -> str:
    return as_text(as_dict(change.get("kind")).get("move_path"))
