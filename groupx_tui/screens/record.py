"""What is remembered, as lines of a list and as facts: whose, by whom, since when, what it was.

Pure but for Content. Counterpart: `handlers.memory`, which reads and changes the records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_shared.text import safe_line, safe_text
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.chooser import Choice
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import BLANK, Fact, heading
from groupx_tui.widgets.timeline.words import moment

if TYPE_CHECKING:
    from groupx_shared.wire.memory import MemoryRecord

LABEL_WIDTH: Final = 12
EXCERPT_CHARS: Final = 200
STATUS_WORDS: Final = {
    "active": "told to agents",
    "superseded": "corrected: another text took its place",
    "retracted": "taken back: told to nobody",
}
_WORD: Final = re.compile(r"\s+|[^\s]+")

Names = Mapping[str, str]
"""What to call actors and rooms, by id."""


def record_choice(record: MemoryRecord, names: Names) -> Choice:
    """One line of the list: whose and what kind, the text, who wrote it and when."""
    mark = {"superseded": "✎ ", "retracted": "✗ "}.get(record.status, "")
    pin = "● " if record.pinned_at else ""
    label = f"{pin}{mark}{record.kind} · {scope_words(record, names)}"
    author = names.get(record.author_actor_id) or _last(record.author_actor_id)
    text = safe_line(record.content[: EXCERPT_CHARS * 2], EXCERPT_CHARS)
    return Choice(
        record.memory_id, safe_line(label, 60), text, f"{author} {moment(record.created_at)[:10]}"
    )


def scope_words(record: MemoryRecord, names: Names) -> str:
    """Whose it is, in a word or two."""
    if record.scope.type == "agent":
        name = names.get(record.scope.id) or _last(record.scope.id)
        return f"{name}, {'kept' if record.agent_memory_type == 'core' else 'a day'}"
    if record.scope.type == "correlation":
        return "one talk"
    return names.get(record.scope.id) or _last(record.scope.id)


def record_screen(
    keymap: KeyMap,
    record: MemoryRecord,
    names: Names,
    offers: Mapping[str, Callable[[], object]],
) -> Reader:
    """All that is known of a record; its copy key copies the text."""
    author = names.get(record.author_actor_id) or _last(record.author_actor_id)
    subject = record.subject_actor_id
    facts = [
        ("kind", record.kind),
        ("whose", f"{scope_words(record, names)} ({safe_line(record.scope.id)})"),
        ("by", f"{author} ({safe_line(record.author_actor_id)})"),
        ("about", names.get(subject or "") or _last(subject or "")),
        ("state", STATUS_WORDS.get(record.status, record.status)),
        ("pinned", f"since {moment(record.pinned_at)}" if record.pinned_at else ""),
        ("written", moment(record.created_at)),
        ("taken back", moment(record.retracted_at)),
        ("comes from", safe_line(record.source_event_id or "")),
        ("how", safe_line(record.source_kind)),
        ("id", safe_line(record.memory_id)),
    ]
    rows = [Fact(Content(""), Content(safe_text(record.content))), BLANK]
    rows += [Fact(Content.styled(k, "$muted"), Content(v)) for k, v in facts if v]
    copies = (record.content, "the text")
    return Reader(keymap, "What is remembered", rows, LABEL_WIDTH, copies, offers)


def history_screen(keymap: KeyMap, versions: Sequence[MemoryRecord], names: Names) -> Reader:
    """All versions, newest first, each with what it changed."""
    rows: list[Fact] = []
    for index, record in enumerate(versions):
        before = versions[index + 1].content if index + 1 < len(versions) else None
        author = names.get(record.author_actor_id) or _last(record.author_actor_id)
        state = "" if record.status == "active" else f" · {record.status}"
        rows += [BLANK] if rows else []
        rows.append(heading(f"{moment(record.created_at)} · {author}{state}"))
        rows.append(Fact(Content(""), changes(before, safe_text(record.content))))
    return Reader(keymap, "How it came about", rows, LABEL_WIDTH)


def changes(before: str | None, after: str) -> Content:
    """The text with what was taken out struck through and what was put in marked; without colours
    too: `[-old-]` and `{+new+}`."""
    if before is None:
        return Content(after)
    old, new = _WORD.findall(safe_text(before)), _WORD.findall(after)
    parts: list[Content] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            parts.append(Content("".join(new[start:end])))
            continue
        if first < last:
            parts.append(Content.styled(f"[-{''.join(old[first:last])}-]", "$text-error"))
        if start < end:
            parts.append(Content.styled(f"{{+{''.join(new[start:end])}+}}", "$text-success"))
    return Content("").join(parts)


def _last(actor_id: str) -> str:
    return safe_line(actor_id.rpartition(":")[2], 40)
