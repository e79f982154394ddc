"""Prints the answers of one or more agents, without ever mixing two of them.

One agent: its text alone, as it comes. Several: a label line before each block; the first agent
that speaks is printed live, what the others say waits; finished ones follow in the order in which
they finished, then the next one goes on live.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from groupx_shared.text import safe_text

Write = Callable[[str], None]


@dataclass(slots=True, eq=False)
class _Block:
    label: str
    waiting: list[str] = field(default_factory=list)
    held: str = ""
    """A carriage return whose line feed may be in the next piece."""
    ends_line: bool = True
    is_empty: bool = True
    has_ended: bool = False


class BlockPrinter:
    """Takes pieces and ends of answers in any order and writes whole blocks.

    `labels` maps each answer's key to its label, in the order of the targets.
    """

    def __init__(self, labels: dict[str, str], write: Write) -> None:
        self._blocks = {key: _Block(label) for key, label in labels.items()}
        self._write = write
        self._is_labelled = len(labels) > 1
        self._live: _Block | None = None
        self._finished: list[_Block] = []
        self._spoke: list[_Block] = []
        self._has_written = False

    def piece(self, key: str, text: str) -> None:
        """Text that follows what came before."""
        block = self._blocks[key]
        block.waiting.append(text)
        if block not in self._spoke:
            self._spoke.append(block)
        if self._live is None:
            self._live = block
        if self._live is block:
            self._print(block)

    def end(self, key: str) -> None:
        """The answer is over; nothing more comes for `key`."""
        block = self._blocks[key]
        block.has_ended = True
        if self._live is not None and self._live is not block:
            self._finished.append(block)
            return
        self._close(block)
        for finished in self._finished:
            self._close(finished)
        self._finished.clear()
        self._live = next((each for each in self._spoke if not each.has_ended), None)
        if self._live is not None:
            self._print(self._live)

    def give_up(self) -> None:
        """Nobody waits any more: print what has come so far."""
        if self._live is not None:
            self._close(self._live)
        for block in self._spoke:
            if block is not self._live:
                self._close(block)

    def _close(self, block: _Block) -> None:
        self._print(block)
        if block.held:
            self._emit(block, safe_text(block.held))
        if not block.ends_line:
            self._write("\n")

    def _print(self, block: _Block) -> None:
        text = block.held + "".join(block.waiting)
        block.waiting.clear()
        block.held = "\r" if text.endswith("\r") else ""
        if text := safe_text(text.removesuffix("\r")):
            self._emit(block, text)

    def _emit(self, block: _Block, text: str) -> None:
        if block.is_empty and self._is_labelled:
            between = "\n" if self._has_written else ""
            text = f"{between}{block.label}\n{text}"
        block.is_empty = False
        block.ends_line = text.endswith("\n")
        self._has_written = True
        self._write(text)
