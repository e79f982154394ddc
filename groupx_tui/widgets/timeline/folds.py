"""What is unfolded. Invariant: everything is folded until the reader opens it."""

from __future__ import annotations

from typing import Literal

FoldKind = Literal["reasoning", "plan", "tool", "thread"]
FOLD_KINDS: tuple[FoldKind, ...] = ("reasoning", "plan", "tool", "thread")


class Folds:
    """Which folds are open: a rule for each kind, and single ones that differ from it."""

    def __init__(self) -> None:
        self._open_kinds: set[FoldKind] = set()
        self._others: set[tuple[str, str]] = set()
        self.version = 0
        """Counts changes, so that whoever drew folds knows that they may differ."""

    def is_open(self, block_id: str, kind: FoldKind, key: str) -> bool:
        """Whether the fold `key` (the part key of its header) of a block is open."""
        return (kind in self._open_kinds) != ((block_id, key) in self._others)

    def toggle(self, block_id: str, key: str) -> None:
        """Open what is folded, fold what is open."""
        self._others ^= {(block_id, key)}
        self.version += 1

    def set_kind(self, kind: FoldKind, *, is_open: bool) -> None:
        """Open or fold all of a kind; single exceptions are forgotten."""
        if is_open:
            self._open_kinds.add(kind)
        else:
            self._open_kinds.discard(kind)
        self._others = {other for other in self._others if kind_of(other[1]) != kind}
        self.version += 1

    def kind_is_open(self, kind: FoldKind) -> bool:
        """Whether the rule for the kind is `open`."""
        return kind in self._open_kinds


def kind_of(key: str) -> FoldKind | None:
    """Return the kind of the fold that the part key stands for or lies in."""
    name = key.split(":", 1)[0]
    return next((kind for kind in FOLD_KINDS if kind == name), None)


def fold_of(key: str) -> str | None:
    """Return the key of the header of the fold that the part lies in (or is)."""
    kind = kind_of(key)
    if kind is None:
        return None
    if kind != "tool":
        return kind
    head, _, tail = key.rpartition(TOOL_BODY)
    return head if tail and head else key


TOOL_BODY = "\x1f"
"""Separates a tool's part key from the name of a part inside it: cleaned call ids have none."""
