"""Nearest known name, for error sentences that help: "no agent `kimmi`; did you mean `kimi`?"."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from groupx_shared.text import safe_line


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when nothing is near."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence for an unknown `kind` (agent, room, key…): the name, the nearest known
    one, else the known ones (at most eight)."""
    names = sorted(known)
    shown = safe_line(name, 80)
    if (near := nearest(name, names)) is not None:
        return f"There is no {kind} “{shown}”. Did you mean “{near}”?"
    if not names:
        return f"There is no {kind} “{shown}”; there are none at all."
    listed = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    return f"There is no {kind} “{shown}”. Known: {listed}."
