"""Writing something down, or correcting it: whose it is, what kind it is, and the text.

Returns what was written. It says at each moment who will be told and who may change it.
Counterpart: `handlers.memoryedit`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog
from groupx_tui.state.remembered import IDENTITY_KINDS, MEMORY_KINDS, Kept, Place
from groupx_tui.widgets.pick import Pick
from groupx_tui.widgets.wholearea import WholeArea

RULES: Final[dict[Place, str]] = {
    "room": "Every agent of {name} is told it, and may correct it.",
    "core": "Only {name} is told it. {name} and people may change it, no other agent.",
    "identity": "{name} is told it as your word about it, and cannot change it.",
    "talk": "It belongs to one talk.",
    "dated": "{name} wrote it; only its agent writes days.",
}
EMPTY: Final = "Write what is to be kept."
NEW_LINE: Final = ("ctrl+j", "alt+enter", "shift+enter")

InEditor = Callable[[str], Coroutine[Any, Any, str | None]]
"""Opens a text in the person's editor; None when nothing came back."""


class LineEditor(WholeArea):
    """Enter belongs to the dialog; ctrl+j begins a new line."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # not a new line: it goes on to the dialog
        elif event.key in NEW_LINE:
            event.prevent_default()
            event.stop()
            self.insert("\n")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a record can be."""

    place: Place
    owner_id: str
    name: str

    @property
    def key(self) -> str:
        """For the list of owners."""
        return f"{self.place} {self.owner_id}"

    @property
    def words(self) -> str:
        """As people read it."""
        forms: dict[Place, str] = {"core": "what {} keeps", "identity": "who {} is"}
        return forms.get(self.place, "{}").format(self.name)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    place: Place
    owner_id: str
    kind: str
    text: str
    is_pinned: bool


class Remember(Dialog[Written]):
    """Whose, kind, pinned, and the text. `kept`: what is corrected; whose it is stays then."""

    DEFAULT_CSS = """
    Remember {
        LineEditor { height: auto; min-height: 4; max-height: 10; border: none; padding: 0;
                     background: $panel; margin-bottom: 1; }
        LineEditor:focus { border: none; }
        .remember-rule { height: auto; color: $muted; margin-top: 1; }
        .remember-rule.-trouble { color: $text-warning; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        owners: Sequence[Owner],
        *,
        chosen: str = "",
        kept: Kept | None = None,
        in_editor: InEditor | None = None,
    ) -> None:
        keys = {
            name: keymap.shown(f"dialog.{name}")
            for name in ("accept", "next_part", "editor", "close")
        }
        hint = f"{keys['accept']} done   ctrl+j new line   {keys['next_part']} next   ←→ change"
        editor = f"   {keys['editor']} in your editor" if in_editor else ""
        title = "Remember" if kept is None else "Correct it; the old text stays in the history"
        super().__init__(keymap, title, f"{hint}{editor}   {keys['close']} close")
        self._owners = {owner.key: owner for owner in owners}
        self._kept = kept
        self._in_editor = in_editor
        self._whose = Pick("whose", [(o.key, o.words) for o in owners], chosen)
        self._kind = Pick("kind", self._kinds(), "note" if kept is None else kept.kind)
        self._pinned = Pick("pinned", [("", "when it fits"), ("yes", "goes with every turn")])

    def body(self) -> ComposeResult:
        area = LineEditor(
            "" if self._kept is None else self._kept.content, soft_wrap=True, tab_behavior="focus"
        )
        area.show_line_numbers = False
        area.highlight_cursor_line = False
        area.cursor_blink = False
        yield area
        if self._kept is None:
            yield self._whose
        yield self._kind
        if self._kept is None:
            yield self._pinned
        yield Static(classes="remember-rule", markup=False)

    def on_mount(self) -> None:
        """Write at the end of the text."""
        area = self.query_one(LineEditor)
        area.move_cursor(area.document.end)
        area.focus()
        self._show_rule()

    @on(Pick.Changed)
    def _picked(self, event: Pick.Changed) -> None:
        event.stop()
        if event.pick is self._whose:
            self._kind.offer(self._kinds(), self._kind.key)
        self._show_rule()

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._show_rule()

    @property
    def _owner(self) -> Owner:
        return self._owners[self._whose.key]

    def _kinds(self) -> list[tuple[str, str]]:
        is_identity = self._owner.place == "identity"
        return [(kind, kind) for kind in (IDENTITY_KINDS if is_identity else MEMORY_KINDS)]

    def _show_rule(self, trouble: str = "") -> None:
        self._pinned.display = self._owner.place == "room"
        rule = self.query_one(".remember-rule", Static)
        rule.set_class(bool(trouble), "-trouble")
        rule.update(Content(trouble or RULES[self._owner.place].format(name=self._owner.name)))

    def accept(self) -> None:
        """Return what was written, when there is something."""
        text = self.query_one(LineEditor).text.strip()
        if not text:
            self._show_rule(EMPTY)
            return
        owner = self._owner
        is_pinned = owner.place == "room" and bool(self._pinned.key)
        self.dismiss(Written(owner.place, owner.owner_id, self._kind.key, text, is_pinned))

    def offer(self, name: str) -> bool:
        """Go to the next part, or open the text in the person's editor."""
        if name == "next_part":
            self.focus_next()
        elif name == "previous_part":
            self.focus_previous()
        elif name == "editor" and self._in_editor is not None:
            self.run_worker(self._edit(self._in_editor), group="editor", exclusive=True)
        else:
            return False
        return True

    async def _edit(self, in_editor: InEditor) -> None:
        area = self.query_one(LineEditor)
        text = await in_editor(area.text)
        if text is not None:
            area.text = text
            area.move_cursor(area.document.end)
        area.focus()

    def move(self, lines: int) -> None:
        """One line up or down in the text; from a choice to the one beside it."""
        focused: Widget | None = self.focused
        if isinstance(focused, LineEditor):
            if lines < 0:
                focused.action_cursor_up()
            else:
                focused.action_cursor_down()
        elif lines < 0:
            self.focus_previous()
        else:
            self.focus_next()
