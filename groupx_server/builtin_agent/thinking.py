"""Splits `<think>…</think>` at the start of an answer into reasoning. Sans-IO.

Reasoning models behind simple servers write their thoughts inline. Only a block at the very start
counts; the same tag later is part of the answer. The result does not depend on how the text was
cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

OPEN_TAG: Final = "<think>"
CLOSE_TAG: Final = "</think>"
MAX_LEADING_SPACE: Final = 64
"""White space before the tag; with more the text is taken as it is, so that little is held."""

Part = tuple[Literal["content", "reasoning"], str]


class ThinkSplitter:
    """Feed the answer's pieces, get (`content` | `reasoning`, text) parts, none of them empty."""

    def __init__(self) -> None:
        self._state: Literal["start", "think", "gap", "text"] = "start"
        self._held = ""

    def feed(self, text: str) -> Iterator[Part]:
        """Yield what `text` settles. At most one tag's length and leading white space is held."""
        if self._state == "text":
            if text:
                yield "content", text
            return
        self._held += text
        if self._state == "start":
            yield from self._start()
        if self._state == "think":
            yield from self._think()
        if self._state == "gap":
            yield from self._gap()

    def finish(self) -> Iterator[Part]:
        """Yield what was held back, at the end of the answer."""
        held, self._held = self._held, ""
        if held and self._state != "gap":
            yield ("reasoning" if self._state == "think" else "content"), held

    def _start(self) -> Iterator[Part]:
        body = self._held.lstrip()
        if len(self._held) - len(body) > MAX_LEADING_SPACE:
            yield from self._plain(self._held)
        elif body.startswith(OPEN_TAG):
            self._state, self._held = "think", body.removeprefix(OPEN_TAG)
        elif not OPEN_TAG.startswith(body):
            yield from self._plain(self._held)

    def _think(self) -> Iterator[Part]:
        thought, tag, rest = self._held.partition(CLOSE_TAG)
        if tag:
            self._state, self._held = "gap", rest
        else:
            keep = _partial_tag(self._held, CLOSE_TAG)
            cut = len(self._held) - keep
            thought, self._held = self._held[:cut], self._held[cut:]
        if thought:
            yield "reasoning", thought

    def _gap(self) -> Iterator[Part]:
        """White space between the block and the answer belongs to neither."""
        body = self._held.lstrip()
        self._held = ""
        if body:
            yield from self._plain(body)

    def _plain(self, text: str) -> Iterator[Part]:
        self._state, self._held = "text", ""
        yield "content", text


def _partial_tag(text: str, tag: str) -> int:
    """Length of the longest end of `text` that is a beginning of `tag`."""
    return next((n for n in range(len(tag) - 1, 0, -1) if text.endswith(tag[:n])), 0)
