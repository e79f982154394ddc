"""Before a text is removed for good: what goes, what is made anew, what stays, what is not reached.

Returns how it is to be removed; closed, nothing is. Invariant: what is said here is what the server
does; what became of it is told afterwards by `screens.removed`. Counterpart: `handlers.removal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_line
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog
from groupx_tui.state.doomed import Doomed
from groupx_tui.widgets.facts import Fact, FactList
from groupx_tui.widgets.pick import LABEL_WIDTH, Pick
from groupx_tui.widgets.timeline.words import moment

MAX_SHOWN_CHARS: Final = 140
"""Two lines, however the words fall."""
GOES: Final = (
    "it, GroupX's own copies of it, memory drawn from it, and quotes of it in replies, answers and "
    "results of tools"
)
RECORD_GOES: Final = "it in all its versions, with the lines in the timeline that say them"
DAY_GOES: Final = "what the agent wrote of that day; it is not written again"
SIDE_GOES: Final = (
    "it with its answer, and quotes of it elsewhere; the assistant begins a new session"
)
MADE_ANEW: Final = "summaries and agents' days that drew on it are thrown away and written anew"
STAYS: Final = "“[removed]” in its place, ids and times, and a line that says that you did this"
NOT_REACHED: Final = (
    "what agents keep in their own sessions and histories, exports, copies elsewhere"
)
KEEP, PURGE = "keep", "purge"
LEAVE, TAKE = "leave", "take"
BYTES: Final = {
    KEEP: "It cannot be undone. Its bytes stay in old backups and, out of sight, in the files.",
    PURGE: "It cannot be undone. Files are cleaned and searched for it; a backup of now takes the "
    "place of the old ones. The room goes on meanwhile.",
}


@dataclass(frozen=True, slots=True)
class Removal:
    """How it is to be removed."""

    purge: bool
    copies: bool


class Remove(Dialog[Removal]):
    """Says what will happen, and lets choose how far it goes."""

    DEFAULT_CSS = """
    Remove {
        .remove-text { height: auto; max-height: 3; background: $panel; margin-bottom: 1; }
        FactList { margin-bottom: 1; }
        .remove-rule { height: auto; color: $text-warning; }
    }
    """

    def __init__(self, keymap: KeyMap, doomed: Doomed) -> None:
        keys = {n: keymap.shown(f"dialog.{n}") for n in ("accept", "close", "next_part")}
        hint = (
            f"{keys['accept']} remove it   {keys['next_part']} next   ←→ change   "
            f"{keys['close']} leave it as it is"
        )
        title = f"Remove this {doomed.what} for good?"
        super().__init__(keymap, title, hint)
        self._doomed = doomed
        self._bytes = Pick(
            "bytes", [(KEEP, "remove the text"), (PURGE, "and get its bytes out of the files")]
        )
        self._copies = Pick(
            "others",
            [(LEAVE, "who else has the text is named"), (TAKE, "what has the text goes too")],
        )

    def body(self) -> ComposeResult:
        doomed = self._doomed
        text = "It was removed already." if doomed.is_gone else doomed.text
        yield Static(
            Content(f"{doomed.by} · {moment(doomed.at)}\n{safe_line(text, MAX_SHOWN_CHARS)}"),
            classes="remove-text",
        )
        facts = [(label, text) for label, text in reach(doomed) if text]
        rows = [Fact(Content.styled(label, "$muted"), Content(text)) for label, text in facts]
        yield FactList(rows, LABEL_WIDTH)
        yield self._bytes
        yield self._copies
        yield Static(classes="remove-rule", markup=False)

    def on_mount(self) -> None:
        """What is asked first is how far it goes."""
        self._bytes.focus()
        self._show_rule()

    @on(Pick.Changed)
    def _picked(self, event: Pick.Changed) -> None:
        event.stop()
        self._show_rule()

    def _show_rule(self) -> None:
        self.query_one(".remove-rule", Static).update(Content(BYTES[self._bytes.key]))

    def accept(self) -> None:
        """Remove it so."""
        purge, copies = self._bytes.key == PURGE, self._copies.key == TAKE
        self.dismiss(Removal(purge=purge, copies=copies))

    def offer(self, name: str) -> bool:
        """Go to the other choice."""
        if name not in ("next_part", "previous_part"):
            return False
        self.move(1)
        return True

    def move(self, lines: int) -> None:
        """To the other choice."""
        other = self._copies if self.focused is self._bytes else self._bytes
        other.focus()


def reach(doomed: Doomed) -> list[tuple[str, str]]:
    """What goes, what is made anew, what stays, what is not reached."""
    if doomed.ref_id.startswith("side_"):
        return [
            ("goes", SIDE_GOES),
            ("stays", STAYS),
            ("beyond", NOT_REACHED),
        ]
    is_record = doomed.ref_id.startswith(("mem_", "identity_"))
    goes = GOES
    if is_record:
        goes = DAY_GOES if doomed.is_day else RECORD_GOES
    if doomed.is_gone:
        goes = "what came of it since"
    return [
        ("goes", goes),
        ("anew", "" if is_record else MADE_ANEW),
        ("stays", STAYS),
        ("beyond", NOT_REACHED),
    ]
