"""What an agent would be told with the next message: how full it is, of what, and the text itself.

Pure but for Content. Counterpart: `handlers.inspect`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_shared.text import clip_text, safe_line, safe_text
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import BLANK, Fact, heading, paragraph

if TYPE_CHECKING:
    from groupx_shared.wire.context import ContextPreview, SectionInfo

LABEL_WIDTH: Final = 18
BAR_CELLS: Final = 14
MAX_TEXT_CHARS: Final = 100_000


def preview_screen(keymap: KeyMap, preview: ContextPreview, agent: str, room: str) -> Reader:
    """The dialog; its copy key copies the whole text."""
    title = f"What {agent} would be told in {room}"
    copies = (preview.text, "the text")
    return Reader(keymap, title, preview_facts(preview), LABEL_WIDTH, copies, is_wide=True)


def preview_facts(preview: ContextPreview) -> list[Fact]:
    """The budget, the sections from the largest on, what was left out, and the text."""
    soft, most = preview.soft_characters, preview.max_characters
    used = preview.characters
    session = (
        "a new session: it is told the past"
        if preview.session == "new"
        else ("a session that goes on: it is told what is new")
    )
    facts = [
        _fact(
            "all of it", f"{bar(used, most)} {used:,} of {most:,} characters ({used / most:.0%})"
        ),
        _fact("optional up to", f"{soft:,} characters"),
        _fact("for", session),
    ]
    if preview.needs_compaction:
        facts.append(paragraph("Messages do not fit: before a turn they are summed up."))
    facts += [BLANK, heading("What fills it")]
    sections = sorted(preview.sections, key=lambda section: -section.characters)
    facts += [_section(section, max(used, 1)) for section in sections]
    text = clip_text(safe_text(preview.text), MAX_TEXT_CHARS)
    facts += [BLANK, heading("The text")]
    facts += [Fact(Content(""), Content(line)) for line in text.split("\n")]
    return facts


def _section(section: SectionInfo, used: int) -> Fact:
    parts = [f"{section.characters:,}"]
    if section.included:
        parts.append(f"{section.included:,} in it")
    if section.omitted:
        parts.append(f"{section.omitted:,} left out")
    if section.mandatory:
        parts.append("always")
    return _fact(
        safe_line(section.name, LABEL_WIDTH - 2),
        f"{bar(section.characters, used)} {' · '.join(parts)}",
    )


def bar(part: int, whole: int) -> str:
    """A share as a bar of cells."""
    cells = round(BAR_CELLS * min(1.0, part / max(1, whole)))
    return "█" * cells + "░" * (BAR_CELLS - cells)


def _fact(label: str, text: str) -> Fact:
    return Fact(Content.styled(label, "$muted"), Content(text))
