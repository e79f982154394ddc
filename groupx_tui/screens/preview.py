"""What an agent would be told with the next message: how full it is, of what, and the text itself.

Pure but for Content. Counterpart: `handlers.inspect`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_shared.text import clip_text, safe_line, safe_text
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import BLANK, Fact, heading, paragraph
from groupx_tui.widgets.timeline.words import moment

if TYPE_CHECKING:
    from groupx_shared.wire.context import ContextPreview, SectionInfo, SummaryReply

LABEL_WIDTH: Final = 18
SECTION_WORDS: Final = {
    "groupx_protocol": "room and rules",
    "supervision_watch": "what it watches",
    "configured_agent_identity": "who it is: config",
    "self_identity": "… by itself",
    "user_authored_identity": "… by people",
    "observed_identity": "… by others",
    "agent_core_memory": "core memory",
    "agent_dated_memory": "its days",
    "pinned_group_memory": "pinned memory",
    "relevant_memory": "room's memory",
    "room_checkpoint_summary": "summary",
    "room_delta_since_cursor": "messages",
    "reply_chain": "chain of replies",
    "current_message": "the message",
}
"""What people call the sections of a packet; others are told by their own name."""
BAR_CELLS: Final = 14
MAX_TEXT_CHARS: Final = 100_000


def preview_screen(
    keymap: KeyMap,
    preview: ContextPreview,
    agent: str,
    room: str,
    offers: Mapping[str, Callable[[], object]] | None = None,
    *,
    unseen: int = 0,
) -> Reader:
    """The dialog; its copy key copies the whole text. `unseen`: characters of the message that is
    being written that are not in it."""
    title = f"What {agent} would be told in {room}"
    copies = (preview.text, "the text")
    facts = preview_facts(preview, unseen)
    return Reader(keymap, title, facts, LABEL_WIDTH, copies, offers, is_wide=True)


def summary_screen(
    keymap: KeyMap,
    summary: SummaryReply,
    room: str,
    offers: Mapping[str, Callable[[], object]] | None = None,
) -> Reader:
    """The room's summary alone; its copy key copies it. `offers`: see `Reader`."""
    title = f"What sums up {room}"
    if not summary.exists:
        nothing = "Nothing is summed up: agents are told the messages as they are."
        return Reader(keymap, title, [paragraph(nothing)], LABEL_WIDTH, is_wide=True)
    text = safe_text(summary.content)
    facts = [
        _fact("covers", f"#{summary.from_seq} to #{summary.through_seq}"),
        _fact(
            "stands for",
            f"{summary.message_count:,} messages with {summary.message_characters:,} characters",
        ),
        _fact(
            "told in",
            f"{summary.characters:,} characters"
            f" ({summary.characters / max(1, summary.message_characters):.1%})",
        ),
        _fact("written by", safe_line((summary.author_actor_id or "").partition(":")[2], 60)),
        _fact("on", moment(summary.created_at)),
        _fact("id", safe_line(summary.summary_id or "", 60)),
        BLANK,
        *(Fact(Content(""), Content(line)) for line in text.split("\n")),
    ]
    return Reader(keymap, title, facts, LABEL_WIDTH, (text, "the summary"), offers, is_wide=True)


def preview_facts(preview: ContextPreview, unseen: int = 0) -> list[Fact]:
    """The budget, the sections from the largest on, what was left out and why, and the text."""
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
        _fact("optional up to", f"{bar(soft, most)} {soft:,} characters"),
        _fact("for", session),
    ]
    if preview.needs_compaction:
        facts.append(paragraph("Messages do not fit: before a turn they are summed up."))
    elif any(section.omitted for section in preview.sections):
        why = f"What is left out does not fit: what is optional fills it to {soft:,} at most."
        facts.append(paragraph(why))
    if unseen:
        facts.append(paragraph(f"The end of your message, {unseen:,} characters, is not in it."))
    facts += [BLANK, heading("What fills it")]
    sections = sorted(preview.sections, key=lambda section: -section.characters)
    facts += [_section(section, max(used, 1)) for section in sections]
    text = clip_text(safe_text(preview.text), MAX_TEXT_CHARS)
    facts += [BLANK, heading("The text")]
    facts += [Fact(Content(""), Content(line)) for line in text.split("\n")]
    return facts


def _section(section: SectionInfo, used: int) -> Fact:
    parts = [f"{section.characters / used:>4.0%}", f"{section.characters:,}"]
    if section.included:
        parts.append(f"{section.included:,} in it")
    if section.omitted:
        parts.append(f"{section.omitted:,} left out")
    if section.mandatory:
        parts.append("always")
    name = SECTION_WORDS.get(section.name) or safe_line(section.name, LABEL_WIDTH - 2)
    return _fact(name, f"{bar(section.characters, used)} {' · '.join(parts)}")


def bar(part: int, whole: int) -> str:
    """A share as a bar of cells."""
    cells = round(BAR_CELLS * min(1.0, part / max(1, whole)))
    return "█" * cells + "░" * (BAR_CELLS - cells)


def _fact(label: str, text: str) -> Fact:
    return Fact(Content.styled(label, "$muted"), Content(text))
