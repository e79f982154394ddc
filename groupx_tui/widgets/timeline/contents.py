"""Draws the parts of a block that hold content: answers, reasoning, plans, tool calls.

Each `*_part` returns a `Part`; the drawing happens when it comes into view.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from groupx_tui.render.code import GrowingCode
from groupx_tui.render.diff import write_diff, write_diff_lines
from groupx_tui.render.markdown.chunk import layout_chunk
from groupx_tui.render.markdown.scanner import Chunk
from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.plain import PlainScanner
from groupx_tui.render.row import Layout
from groupx_tui.render.sgr import plain_output, terminal_pieces
from groupx_tui.render.writer import Writer
from groupx_tui.state.model import ToolView
from groupx_tui.widgets.timeline.folds import TOOL_BODY
from groupx_tui.widgets.timeline.parts import Draw, Part

FOLD_INDENT: Final = "  "
"""What is inside a fold stands this far to the right of its header."""

MAX_INPUT_CHARS: Final = 2_000
"""Of a tool's input, as JSON: more is cut, with a mark."""


class AnswerParts:
    """Makes the parts of one answer; an open code block at its end grows line by line."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._growing: tuple[int, GrowingCode] = (-1, GrowingCode())

    def __call__(self, number: int, chunk: Chunk, before: Chunk | None) -> Part:
        """Return the part of one block of markdown."""
        has_gap = before is not None and not chunk.continues and _wants_gap(chunk)
        draw: Draw = partial(_draw_answer, chunk, has_gap)
        if chunk.kind == "fence" and not chunk.is_closed:
            if self._growing[0] != number:
                self._growing = (number, GrowingCode())
            draw = partial(_draw_growing, self._growing[1], chunk, has_gap)
        return Part(
            f"{self._prefix}:{number}",
            (chunk, has_gap),
            draw,
            chars=len(chunk.source),
            lines=chunk.source.count("\n") + 1 + has_gap,
            has_stops=chunk.kind == "fence" or "```" in chunk.source or "~~~" in chunk.source,
        )


def _wants_gap(chunk: Chunk) -> bool:
    return chunk.has_gap or (chunk.kind == "markdown" and chunk.source.startswith("#"))


def _draw_answer(chunk: Chunk, has_gap: bool, width: int, palette: Palette) -> Layout:
    return layout_chunk(chunk, width, palette, has_gap=has_gap)


def _draw_growing(
    code: GrowingCode, chunk: Chunk, has_gap: bool, width: int, palette: Palette
) -> Layout:
    return code.layout(
        chunk.source, chunk.info, width, palette, has_gap=has_gap, continues=chunk.continues
    )


def text_part(
    prefix: str, role: Role | None, indent: str, number: int, chunk: Chunk, _before: Chunk | None
) -> Part:
    """Return the part of one piece of plain text."""
    return Part(
        f"{prefix}:{number}",
        (chunk, role, indent),
        partial(_draw_text, chunk.source, role, indent),
        chars=len(chunk.source),
        lines=chunk.source.count("\n") + 1,
    )


def _draw_text(text: str, role: Role | None, indent: str, width: int, palette: Palette) -> Layout:
    writer = Writer(width, palette)
    style = palette.base if role is None else palette.style(role)
    with writer.prefix((indent, palette.base)):
        writer.write([(text, style)])
    return writer.layout()


def plan_part(plan: tuple[dict[str, str], ...]) -> Part:
    """Return the entries of a plan, a line each with a box for its state."""
    key = tuple((entry.get("status", ""), entry.get("content", "")) for entry in plan)
    return Part("plan:0", key, partial(_draw_plan, key), lines=len(key))


_BOXES: Final = {"completed": ("☑", Role.DIM), "in_progress": ("◐", Role.STRONG)}


def _draw_plan(entries: tuple[tuple[str, str], ...], width: int, palette: Palette) -> Layout:
    writer = Writer(width, palette)
    with writer.prefix((FOLD_INDENT, palette.base)):
        for status, content in entries:
            box, role = _BOXES.get(status, ("☐", None))
            style = palette.base if role is None else palette.style(role)
            with writer.prefix(("  ", style), (f"{box} ", style)):
                writer.write([(content, style)])
    return writer.layout()


def tool_parts(tool: ToolView) -> list[Part]:
    """Return the parts of an opened tool call: input, places, and each item of its content."""
    prefix = f"tool:{tool.call_id}{TOOL_BODY}"
    parts: list[Part] = []
    source = _input_text(tool.input)
    if source:
        parts.append(_tool_part(f"{prefix}input", source, partial(_draw_lines, source, Role.DIM)))
    told = {str(item.get("path")) for item in tool.content if item.get("type") == "diff"}
    every = (_place(place) for place in tool.locations)
    places = ", ".join(place for place in every if place not in told)  # a diff names its own
    if places:
        parts.append(_tool_part(f"{prefix}places", places, partial(_draw_lines, places, Role.URL)))
    for number, item in enumerate(tool.content):
        parts += _item_parts(f"{prefix}{number}", item)
    note = "… cut here" if tool.is_cut else "" if parts else "no details"
    if note:
        parts.append(_tool_part(f"{prefix}note", note, partial(_draw_lines, note, Role.DIM)))
    return parts


def _tool_part(key: str, text: str, draw: Draw) -> Part:
    return Part(key, text, draw, chars=len(text), lines=text.count("\n") + 1, has_stops=True)


def _input_text(value: Any) -> str:
    """Return a tool's input in one line: a command as it is, anything else as compact JSON."""
    if value in (None, "", {}, []):
        return ""
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        value = only if isinstance(only, str) else value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_INPUT_CHARS else f"{text[:MAX_INPUT_CHARS]}…"


def _place(place: Mapping[str, Any]) -> str:
    path, line = place.get("path", ""), place.get("line")
    return f"{path}:{line}" if line is not None else str(path)


def _draw_lines(text: str, role: Role, width: int, palette: Palette) -> Layout:
    writer = Writer(width, palette)
    with writer.prefix((FOLD_INDENT, palette.base)):
        writer.write([(text, palette.style(role))])
    return writer.layout()


def _item_parts(key: str, item: Mapping[str, Any]) -> list[Part]:
    """Return the parts of one item of a tool's content; long output is many."""
    kind = item.get("type")
    if kind == "diff":
        path, old, new = (str(item.get(name) or "") for name in ("path", "oldText", "newText"))
        return [_tool_part(key, old + new, partial(_draw_diff, path, old, new))]
    if kind == "terminal":
        parts = _long_parts(key, str(item.get("output") or ""), _draw_terminal)
        code = item.get("exitCode")
        if code is not None:
            role = Role.ERROR if code else Role.DIM
            text = f"exit code {code}"
            parts.append(_tool_part(f"{key}:exit", text, partial(_draw_lines, text, role)))
        return parts
    known: object = item.get("text")
    text = known if isinstance(known, str) else json.dumps(dict(item), ensure_ascii=False)
    return _long_parts(key, text.rstrip("\n"), _draw_output)


def _long_parts(key: str, text: str, draw: Callable[[str, int, Palette], Layout]) -> list[Part]:
    scanner = PlainScanner()
    chunks = [*scanner.feed(text), *scanner.finish()]
    return [
        _tool_part(f"{key}:{number}", chunk.source, partial(draw, chunk.source))
        for number, chunk in enumerate(chunks)
    ]


def _draw_output(text: str, width: int, palette: Palette) -> Layout:
    """Text of a tool; a unified diff in it is coloured."""
    writer = Writer(width, palette)
    with writer.prefix((FOLD_INDENT, palette.base)):
        writer.stop("code", text)
        if text.startswith(("diff --git ", "--- ")) and "\n@@" in text:
            write_diff_lines(writer, text.split("\n"))
        else:
            writer.write(terminal_pieces(text, palette.base), chop=True)
    return writer.layout()


def _draw_terminal(output: str, width: int, palette: Palette) -> Layout:
    writer = Writer(width, palette)
    base = palette.style(Role.FENCE)
    with writer.prefix((FOLD_INDENT, palette.base)), writer.prefix(("│ ", base)):
        writer.stop("code", plain_output(output))
        writer.write(terminal_pieces(output.rstrip("\n"), base), chop=True, fill=base)
    return writer.layout()


def _draw_diff(path: str, old: str, new: str, width: int, palette: Palette) -> Layout:
    writer = Writer(width, palette)
    with writer.prefix((FOLD_INDENT, palette.base)):
        write_diff(writer, path, old, new)
    return writer.layout()
