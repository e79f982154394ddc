"""After a text was removed for good: what went, what is left where, what GroupX cannot reach.

Pure but for Content. Invariant: everything here is what the server said; where nobody looked, it is
not said that nothing was found. Counterparts: `screens.remove`, which asked, `handlers.removal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_shared.text import safe_line
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import Fact

if TYPE_CHECKING:
    from groupx_shared.wire.forgetting import RedactReply

LABEL_WIDTH: Final = 14
NEW_SESSIONS: Final = "From here, /reset in that room does it."
SAME: Final = " "
"""A label that stands for the one above."""
MAX_NAMED: Final = 5
CLEAN: Final = "no byte of it is left in the database, its journal, the backups and the logs"
UNSEEN: Final = (
    "got out of the files; what it said is not known any more, so the files were not searched for "
    "it"
)
KEPT: Final = (
    "still in old backups and, out of sight, in the files; remove it once more and choose that "
    "they go"
)


def removed_sentence(reply: RedactReply) -> str:
    """What went, in a sentence, for those who look elsewhere."""
    went = [_count(len(reply.event_ids), "event"), _count(len(reply.record_ids), "record")]
    went.append(_count(reply.summaries, "summary", "summaries"))
    went.append(_count(reply.days, "day"))
    what = ", ".join(part for part in went if part) or "nothing more"
    quotes = _count(len(reply.quote_event_ids) + reply.side_messages, "place")
    cut = f", cut out of {quotes}" if quotes else ""
    return f"Removed for good: {what}{cut}.{_files(reply)}"


def _files(reply: RedactReply) -> str:
    if not reply.purged:
        return ""
    if reply.left_in:
        return f" It still stands in {_named(reply.left_in)}."
    return " No byte of it is left in the files." if reply.checked else ""


def removed_screen(keymap: KeyMap, reply: RedactReply) -> Reader:
    """The whole report; its copy key copies it."""
    facts = [(label, safe_line(text, 500)) for label, text in removed_facts(reply) if text]
    rows = [Fact(Content.styled(label, "$muted"), Content(text)) for label, text in facts]
    whole = "\n".join(f"{label}: {text}" for label, text in facts)
    return Reader(keymap, "Removed for good", rows, LABEL_WIDTH, (whole, "the report"))


def removed_facts(reply: RedactReply) -> list[tuple[str, str]]:
    """Label and text; an empty text says nothing."""
    anew = [_count(reply.summaries, "summary", "summaries"), _count(reply.days, "day")]
    thrown = ", ".join(part for part in anew if part)
    facts = [
        ("removed", _listed(reply.event_ids, "event")),
        (SAME, _listed(reply.record_ids, "record")),
        ("quotes", _listed(reply.quote_event_ids, "event", "cut out of ")),
        ("assistant", _cut_beside(reply.side_messages)),
        ("anew", f"{thrown} thrown away, to be written anew" if thrown else ""),
        ("bytes", _bytes(reply)),
        ("backups", _backups(reply)),
        ("left alone", _elsewhere(reply)),
    ]
    told = [NEW_SESSIONS] if reply.sessions else []
    unreached = [*reply.beyond[:1], *told, *reply.beyond[1:]]
    beyond = [(SAME if number else "not reached", each) for number, each in enumerate(unreached)]
    return [*facts, *beyond, ("kept", f"the line that says so: {reply.audit_event_id}")]


def _bytes(reply: RedactReply) -> str:
    if not reply.purged:
        return KEPT
    if reply.left_in:
        return f"it still stands in {_named(reply.left_in)}: what was left alone has it"
    return CLEAN if reply.checked else UNSEEN


def _backups(reply: RedactReply) -> str:
    if not reply.removed_backups:
        return ""
    count = _count(len(reply.removed_backups), "old backup")
    return f"one of now in the place of {count}"


def _elsewhere(reply: RedactReply) -> str:
    if not reply.elsewhere:
        return ""
    return (
        f"{len(reply.elsewhere)} with the text in them ({_named(reply.elsewhere)}); /redact ID "
        "removes each"
    )


def _cut_beside(count: int) -> str:
    return f"cut out of {_count(count, 'text')} of its conversation" if count else ""


def _listed(ids: Sequence[str], noun: str, before: str = "") -> str:
    return f"{before}{_count(len(ids), noun)}: {_named(ids)}" if ids else ""


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED:,} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _count(number: int, noun: str, many: str = "") -> str:
    if not number:
        return ""
    return f"1 {noun}" if number == 1 else f"{number:,} {many or noun + 's'}"
