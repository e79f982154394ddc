"""What is remembered, as lines of a list and as facts: whose, by whom, since when, what it was.

Pure but for Content. Counterpart: `handlers.memory`, which reads and changes the records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from textual.content import Content

from groupx_shared.text import safe_line, safe_text
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.chooser import Choice
from groupx_tui.screens.reader import Reader
from groupx_tui.state.remembered import Kept
from groupx_tui.widgets.facts import BLANK, Fact, heading
from groupx_tui.widgets.timeline.words import moment

LABEL_WIDTH: Final = 12
EXCERPT_CHARS: Final = 200
STATUS_WORDS: Final = {
    "active": "told to agents",
    "superseded": "corrected: another text took its place",
    "retracted": "taken back: told to nobody",
}
WORD_WORDS: Final = {
    "self": "its own word",
    "people": "a person's word about it",
    "others": "another agent's observation of it",
}
HOW_WORDS: Final = {
    "web": "by hand",
    "mcp": "with an agent's tools",
    "automatic": "by the agent, for GroupX",
    "operator": "by the room assistant",
}
"""By how the source's kind begins."""
UNCHANGED_WORDS: Final = 12
"""Of a long stretch that stayed: so many words are shown at each end of it."""
_WORD: Final = re.compile(r"\s+|[^\s]+")

Names = Mapping[str, str]
"""What to call actors and rooms, by id."""


def record_choice(kept: Kept, names: Names) -> Choice:
    """One line of the list: whose and what kind, the text, who wrote it and when."""
    mark = {"superseded": "✎ ", "retracted": "✗ "}.get(kept.status, "")
    pin = "● " if kept.pinned_at else ""
    what = f"day {kept.day or ''}".strip() if kept.place == "dated" else kept.kind
    label = f"{pin}{mark}{what} · {place_words(kept, names)}"
    text = safe_line(kept.content[: EXCERPT_CHARS * 2], EXCERPT_CHARS)
    author = name_of(kept.author_id, names)
    return Choice(
        kept.record_id, safe_line(label, 60), text, f"{author} {moment(kept.created_at)[:10]}"
    )


def place_words(kept: Kept, names: Names) -> str:
    """Whose it is, in a word or two."""
    if kept.place == "talk":
        return "one talk"
    name = name_of(kept.owner_id, names)
    return {
        "room": name,
        "core": f"{name} keeps",
        "dated": name,
        "identity": f"about {name}",
    }[kept.place]


def record_screen(
    keymap: KeyMap,
    kept: Kept,
    names: Names,
    offers: Mapping[str, Callable[[], object]],
) -> Reader:
    """All that is known of a record; its copy key copies the text."""
    subject = kept.subject_id if kept.subject_id != kept.owner_id else None
    facts = [
        ("kind", kept.kind),
        ("whose", f"{place_words(kept, names)} ({safe_line(kept.owner_id)})"),
        ("whose word", WORD_WORDS[kept.word] if kept.is_identity else ""),
        ("day", kept.day or ""),
        ("by", f"{name_of(kept.author_id, names)} ({safe_line(kept.author_id)})"),
        ("about", name_of(subject, names) if subject else ""),
        ("state", STATUS_WORDS.get(kept.status, kept.status)),
        ("pinned", f"since {moment(kept.pinned_at)}" if kept.pinned_at else ""),
        ("written", moment(kept.created_at)),
        ("taken back", moment(kept.retracted_at)),
        ("comes from", safe_line(kept.source_event_id or "")),
        ("how", how_words(kept.source_kind)),
        ("id", kept.record_id),
    ]
    rows = [Fact(Content(""), Content(kept.content)), BLANK]
    rows += [Fact(Content.styled(k, "$muted"), Content(v)) for k, v in facts if v]
    copies = (kept.content, "the text")
    return Reader(keymap, "What is remembered", rows, LABEL_WIDTH, copies, offers)


def how_words(source_kind: str) -> str:
    """How it came to be written down."""
    known = (words for start, words in HOW_WORDS.items() if source_kind.startswith(start))
    return next(known, source_kind)


def history_screen(keymap: KeyMap, versions: Sequence[Kept], names: Names) -> Reader:
    """All versions, newest first, each with what it changed."""
    rows: list[Fact] = []
    for index, kept in enumerate(versions):
        before = versions[index + 1].content if index + 1 < len(versions) else None
        state = "" if kept.status == "active" else f" · {STATUS_WORDS.get(kept.status, '')}"
        rows += [BLANK] if rows else []
        author = name_of(kept.author_id, names)
        rows.append(heading(f"{moment(kept.created_at)} · {author}{state}".rstrip(" ·")))
        rows.append(Fact(Content(""), changes(before, kept.content)))
    return Reader(keymap, "How it came about", rows, LABEL_WIDTH)


def changes(before: str | None, after: str) -> Content:
    """The text with what was taken out struck through and what was put in marked; without colours
    too: `[-old-]` and `{+new+}`. Of a long stretch that stayed only the ends are shown."""
    if before is None:
        return Content(after)
    old, new = _WORD.findall(safe_text(before)), _WORD.findall(after)
    parts: list[Content] = []
    for kind, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "equal":
            is_first, is_last = start == 0, end == len(new)
            parts.append(Content(_stayed(new[start:end], is_first=is_first, is_last=is_last)))
            continue
        if first < last:
            parts.append(Content.styled(f"[-{''.join(old[first:last])}-]", "$text-error strike"))
        if start < end:
            parts.append(Content.styled(f"{{+{''.join(new[start:end])}+}}", "$text-success bold"))
    return Content("").join(parts)


def _stayed(words: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    """What is the same in both texts; shortened where it is long."""
    head = 0 if is_first else UNCHANGED_WORDS * 2  # every other one is the space between
    tail = 0 if is_last else UNCHANGED_WORDS * 2
    if len(words) <= head + tail + UNCHANGED_WORDS * 2:
        return "".join(words)
    left, right = "".join(words[:head]), "".join(words[len(words) - tail :])
    return f"{left} … {right}" if head or tail else "".join(words)


def name_of(some_id: str | None, names: Names) -> str:
    """What to call an actor or a room; the end of its id when nothing is known of it."""
    if not some_id:
        return ""
    return names.get(some_id) or safe_line(some_id.rpartition(":")[2], 40)
