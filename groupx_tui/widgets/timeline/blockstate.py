"""One block as parts: which there are, in what order, and which of them are still the same.

Invariant: a part whose inputs did not change keeps its rows, so a delta costs the open end of the
answer and a header. Counterpart: `document.py`, which keeps a state for each block in view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import partial

from textual.strip import Strip

from groupx_tui.render.markdown.scanner import BlockScanner
from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.plain import PlainScanner
from groupx_tui.render.row import Layout, Row
from groupx_tui.render.writer import Writer
from groupx_tui.state.model import MessageBlock, Shown, ThreadBlock, ToolView, TurnBlock
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline import headers
from groupx_tui.widgets.timeline.contents import (
    FOLD_INDENT,
    AnswerParts,
    plan_part,
    text_part,
    tool_parts,
)
from groupx_tui.widgets.timeline.flow import Flow
from groupx_tui.widgets.timeline.folds import FoldKind, Folds
from groupx_tui.widgets.timeline.headers import Words
from groupx_tui.widgets.timeline.parts import Part, Stack
from groupx_tui.widgets.timeline.threads import THREAD, Lineage


@dataclass(frozen=True, slots=True)
class Around:
    """What a block's drawing depends on beside the block itself."""

    lead: tuple[tuple[str, Role | None], ...] = ()
    """Lines above it: `("", None)` is an empty row, others are centred rules (a day, unread)."""
    about: str | None = None
    """The message that it answers, quoted, where that is not plain from its place."""
    behind: str | None = None
    """What a queued turn waits for."""
    hint: str = ""
    """What can be done about a turn."""
    now: datetime | None = None
    """Time for the clocks of open turns; None for blocks that have none."""
    is_live: bool = True
    """False: nobody knows how an open turn goes on, the connection is lost."""
    ago: datetime | None = None
    """Time for how long ago things were; None shows when they were."""
    lineage: Lineage | None = None
    """Where it stands in an open exchange of agents."""


class BlockState:
    """The parts of one block, kept up to date with `update`.

    They come in three sections: what stands before the text, the closed part of the text (which
    may be thousands of parts, and is never looked through), and what comes after.
    """

    def __init__(self, tz: tzinfo | None) -> None:
        self.parts: list[Part] = []
        self._tz = tz
        self._block: Shown | None = None
        self._around: Around | None = None
        self._folds_version = -1
        self._tools: dict[str, tuple[ToolView, bool, list[Part]]] = {}
        self._answer = Flow(BlockScanner, AnswerParts("answer"))
        self._message = Flow(PlainScanner, partial(text_part, "text", None, ""))
        self._reasoning = Flow(
            PlainScanner, partial(text_part, "reasoning", Role.REASONING, FOLD_INDENT)
        )
        self._before: list[Part] = []
        self._text = Stack()
        self._after: list[Part] = []

    def update(self, block: Shown, around: Around, folds: Folds) -> None:
        """Bring the parts up to date."""
        if block is self._block and around == self._around and folds.version == self._folds_version:
            return
        self._block, self._around, self._folds_version = block, around, folds.version
        before = list(self._lead(around))
        flow: Flow | None = None
        if isinstance(block, MessageBlock):
            header = headers.message_header(block, self._tz, around.about, ago=around.ago)
            before.append(self._head((*headers.lineage_mark(around.lineage), *header)))
            flow = self._message_text(block)
            footer = headers.message_footer(block)
        elif isinstance(block, TurnBlock):
            before += self._turn_head(block, around, folds)
            flow = self._answer
            flow.update(block.text, is_whole=not block.is_open)
            if before[-1].key != "head" and flow.parts:
                before.append(_lead_part((("", None),), "gap"))
            footer = headers.turn_footer(block, around.hint)
        elif isinstance(block, ThreadBlock):
            before.append(_fold_part(THREAD, headers.thread_header(block, self._tz, around.ago)))
            footer = ()
        else:
            before.append(self._head(headers.notice_words(block, self._tz, around.ago)))
            footer = headers.hint_line(around.hint)
        self._place(before, flow, footer)

    def _place(self, before: list[Part], flow: Flow | None, footer: tuple[Words, ...]) -> None:
        """Put the sections together; parts that did not change are kept, rows and all."""
        known = {part.key: part for part in (*self._before, *self._after)}
        self._before = [_kept(known, part) for part in before]
        self._text = Stack() if flow is None else flow.closed
        after = [] if flow is None else list(flow.open)
        if footer:
            after.append(_kept(known, _words_part("foot", footer)))
        self._after = after
        self.parts = [*self._before, *self._text.parts, *after]

    def height(self, width: int) -> int:
        """Return the rows of the block, guessed where they were not laid out at this width."""
        return (
            sum(part.height(width) for part in self._before)
            + self._text.height(width)
            + sum(part.height(width) for part in self._after)
        )

    def above(self, index: int, width: int) -> int:
        """Return the rows of the block above one of its parts."""
        first, last = len(self._before), len(self._before) + len(self._text.parts)
        rows = sum(part.height(width) for part in self._before[:index])
        if index > first:
            rows += self._text.above(min(index, last) - first, width)
        return rows + sum(part.height(width) for part in self._after[: max(0, index - last)])

    def at(self, rows: int, width: int) -> tuple[int, int]:
        """Return the part that has about `rows` rows above it, and the rows left inside it."""
        for index, part in enumerate(self._before):
            if rows < part.height(width):
                return index, rows
            rows -= part.height(width)
        first, text = len(self._before), self._text.height(width)
        if rows < text:
            index, rows = self._text.find(rows, width)
            return first + index, rows
        rows -= text
        for index, part in enumerate(self._after, first + len(self._text.parts)):
            if rows < part.height(width):
                return index, rows
            rows -= part.height(width)
        return len(self.parts) - 1, rows

    def index_of(self, key: str) -> int | None:
        """Return the index of the part with a key."""
        first = len(self._before)
        text = self._text.parts
        number = key.rpartition(":")[2]
        if number.isdecimal() and int(number) < len(text) and text[int(number)].key == key:
            return first + int(number)
        last = first + len(text)
        for start, parts in ((0, self._before), (last, self._after)):
            for index, part in enumerate(parts, start):
                if part.key == key:
                    return index
        return None

    def _lead(self, around: Around) -> Iterator[Part]:
        if around.lead:
            yield _lead_part(around.lead)

    def _head(self, header: Words) -> Part:
        return _words_part("head", (header,), has_stops=True)

    def _message_text(self, block: MessageBlock) -> Flow:
        """A person's text as it was typed; an agent's or the system's as markdown."""
        flow = self._message if block.author.kind == "user" else self._answer
        flow.update(StreamText(block.text), is_whole=True)
        return flow

    def _turn_head(self, block: TurnBlock, around: Around, folds: Folds) -> Iterator[Part]:
        header = headers.turn_header(
            block,
            self._tz,
            around.now,
            behind=around.behind,
            about=around.about,
            is_live=around.is_live,
        )
        mark, caller = headers.lineage_mark(around.lineage), headers.caller_words(around.lineage)
        yield self._head((*mark, *header, *caller))
        yield from self._folded(block, folds)

    def _folded(self, block: TurnBlock, folds: Folds) -> Iterator[Part]:
        def is_open(kind: FoldKind, key: str) -> bool:
            return folds.is_open(block.block_id, kind, key)

        if len(block.reasoning):
            opened = is_open("reasoning", "reasoning")
            yield _fold_part("reasoning", headers.reasoning_header(block, is_open=opened))
            if opened:
                self._reasoning.update(block.reasoning, is_whole=not block.is_open)
                yield from self._reasoning.parts
        if block.plan:
            opened = is_open("plan", "plan")
            yield _fold_part("plan", headers.plan_header(block, is_open=opened))
            if opened:
                yield plan_part(block.plan)
        for tool in block.tools:
            yield from self._tool(tool, is_open=is_open("tool", f"tool:{tool.call_id}"))

    def _tool(self, tool: ToolView, *, is_open: bool) -> list[Part]:
        """Return a tool call's line and, when open, its details; made once for each state."""
        made = self._tools.get(tool.call_id)
        if made is not None and made[0] is tool and made[1] == is_open:
            return made[2]
        header = headers.tool_header(tool, is_open=is_open)
        parts = [_fold_part(f"tool:{tool.call_id}", header)]
        if is_open:
            parts += tool_parts(tool)
        self._tools[tool.call_id] = (tool, is_open, parts)
        return parts


def _kept(known: dict[str, Part], part: Part) -> Part:
    """Return the part as it was known, rows and all, when nothing in it changed."""
    old = known.get(part.key)
    return old if old is not None and old is not part and old.inputs == part.inputs else part


def _fold_part(key: str, words: Words) -> Part:
    return _words_part(key, (words,), has_stops=True, kind="fold")


def _words_part(
    key: str, lines: tuple[Words, ...], *, has_stops: bool = False, kind: str = "block"
) -> Part:
    return Part(
        key,
        lines,
        partial(_draw_words, lines, kind if has_stops else None),
        chars=sum(len(text) for words in lines for text, _ in words),
        lines=len(lines),
        has_stops=has_stops,
    )


def _draw_words(lines: tuple[Words, ...], stop: str | None, width: int, palette: Palette) -> Layout:
    writer = Writer(width, palette)
    if stop is not None:
        writer.stop(stop, "")
    for line in lines:
        writer.write(
            [(text, palette.base if role is None else palette.style(role)) for text, role in line]
        )
    return writer.layout()


def _lead_part(lines: tuple[tuple[str, Role | None], ...], key: str = "lead") -> Part:
    return Part(key, lines, partial(_draw_lead, lines), lines=len(lines), is_content=False)


def _draw_lead(lines: tuple[tuple[str, Role | None], ...], width: int, palette: Palette) -> Layout:
    rows = []
    writer = Writer(width, palette)
    for text, role in lines:
        if role is None:
            writer.gap()
        else:
            writer.line([(_rule(text, width), palette.style(role))], text)
    rows = writer.layout().rows
    return Layout([*rows] or [Row(Strip.blank(0))])


def _rule(text: str, width: int) -> str:
    """Return `── text ──` over the width, or the text alone where there is no room."""
    spare = width - len(text) - 2
    if spare < 4:
        return text[:width]
    left = spare // 2
    return f"{'─' * left} {text} {'─' * (spare - left)}"


def copy_text(block: Shown) -> str:
    """Return the text of a block that copying it gives."""
    if isinstance(block, TurnBlock):
        return str(block.text) or block.error_message or ""
    return block.text
