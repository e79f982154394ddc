"""The list of what is remembered: searched on the server, narrowed, read on as one goes down.

Returns nothing; what is done with a line is offered. Invariant: what is typed is looked for among
all records, not among the lines that are here. Counterpart: `handlers.memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.chooser import MAX_ROWS, Choice, Chooser, Use
from groupx_tui.screens.record import Names, name_of
from groupx_tui.state.remembered import MEMORY_KINDS, Place, Sought, State

EMPTY: Final = "Nothing is remembered like that."
UNREAD: Final = "It cannot be read now; it is as soon as the server answers."
PLACE_WORDS: Final[dict[Place, str]] = {
    "room": "what rooms remember",
    "core": "what agents keep",
    "dated": "what agents' days held",
    "talk": "of one talk only",
    "identity": "who agents are",
}
STATE_WORDS: Final[dict[State, str]] = {
    "now": "what counts now",
    "history": "with what was corrected and taken back",
    "retracted": "only what was taken back",
    "pinned": "only what is pinned",
}
WORD_FILTERS: Final = {
    "self": "as they say of themselves",
    "people": "as people say",
    "others": "as other agents say",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What the list needs to be read."""

    look_for: Callable[[str], object]
    """Called with what is typed, each time it changes."""
    read_on: Callable[[], object]
    """Called when the end of what is here comes near."""


class Browser(Chooser):
    """The list; its filter line asks the server."""

    DEFAULT_CSS = """
    Browser { .browser-filters { height: 1; color: $muted; text-overflow: ellipsis; } }
    """

    def __init__(self, keymap: KeyMap, use: Use, reading: Reading, words: str = "") -> None:
        super().__init__(keymap, "Memory", (), empty="", use=use)
        self._reading = reading
        self._looked_for = words

    def body(self) -> ComposeResult:
        yield Static("", classes="browser-filters", markup=False)
        filter_line = Input(self._looked_for, placeholder="Type to find", compact=True)
        filter_line.cursor_blink = False
        yield filter_line
        yield self.list

    def show_records(
        self, title: str, filters: str, choices: Sequence[Choice], wanted: str = ""
    ) -> None:
        """Show these lines; `wanted` gets the mark if it is there, else the marked one keeps it."""
        self.query_one(".browser-filters", Static).update(Content(filters))
        self.query_one(".dialog-title", Static).update(Content(title))
        self.list.empty = EMPTY
        marked = self.list.marked
        is_there = any(choice.key == wanted for choice in choices)
        kept = "" if marked is None else marked.key
        self.list.show(choices, wanted if is_there else kept)

    def say_unread(self) -> None:
        """Nothing could be read now; what is shown stays."""
        self.list.empty = UNREAD
        self.list.refresh(layout=True)

    def _show(self, typed: str) -> None:
        if typed != self._looked_for:
            self._looked_for = typed
            self._reading.look_for(typed)

    def on_mount(self) -> None:
        """Nothing is here yet: have it read."""
        self._reading.look_for(self._looked_for)

    def _tell(self) -> None:
        if self.list.left_below < MAX_ROWS:
            self._reading.read_on()


def title_of(count: int, *, has_more: bool) -> str:
    """The heading: how many are here, and whether there are more."""
    if has_more:
        return f"Memory · the first {count:,}; more come as you go down"
    return f"Memory · {count:,}"


def filter_words(sought: Sought, names: Names) -> str:
    """What is shown, in words."""
    parts = [_whose(sought, names) or "everything"]
    parts += [WORD_FILTERS[sought.word]] if sought.word else []
    parts += [f"kind {sought.kind}"] if sought.kind else []
    parts += [f"by {name_of(sought.author_id, names)}"] if sought.author_id else []
    parts.append(STATE_WORDS["now" if sought.words else sought.state])
    return " · ".join(parts)


def _whose(sought: Sought, names: Names) -> str:
    owner = name_of(sought.owner_id, names)
    if not owner:
        return PLACE_WORDS[sought.place] if sought.place else ""
    return {
        "core": f"what {owner} keeps",
        "dated": f"what {owner}'s days held",
        "identity": f"who {owner} is",
    }.get(sought.place or "", owner)


def filters(sought: Sought, names: Names) -> Iterator[tuple[Choice, Sought]]:
    """Everything the list can be narrowed to from here, with what is sought then. What is chosen
    already is marked; choosing it again takes it back."""
    rooms = [each for each in names if each.startswith("room:")]
    agents = [each for each in names if each.startswith("agent:")]
    whole = Sought(words=sought.words)
    yield _line("Everything", "no filter", whole, sought)
    for place, about in PLACE_WORDS.items():
        yield _toggled("Whose", about, sought, place=place, owner_id="", word=None)
    for room_id in rooms:
        about = f"room {names[room_id]}"
        yield _toggled("Whose", about, sought, place="room", owner_id=room_id, word=None)
    for agent_id in agents:
        yield from _of_agent(agent_id, names[agent_id], sought)
    for word, about in WORD_FILTERS.items():
        yield _toggled("Who agents are", about, sought, place="identity", word=word)
    for kind in (*MEMORY_KINDS, "summary"):
        yield _toggled("Kind", kind, sought, kind=kind)
    for actor_id in ("user:web", *agents):
        yield _toggled("By", names.get(actor_id, actor_id), sought, author_id=actor_id)
    for state, about in STATE_WORDS.items():
        yield _toggled("State", about, sought, state=state)


def _of_agent(agent_id: str, name: str, sought: Sought) -> Iterator[tuple[Choice, Sought]]:
    whose: dict[Place | None, str] = {
        None: f"{name}, all",
        "core": f"{name}, what it keeps",
        "dated": f"{name}, its days",
        "identity": f"{name}, who it is",
    }
    for place, about in whose.items():
        yield _toggled("Whose", about, sought, place=place, owner_id=agent_id, word=None)


def _toggled(
    label: str, about: str, sought: Sought, **changes: str | None
) -> tuple[Choice, Sought]:
    wanted = replace(sought, **changes)  # type: ignore[arg-type]  # names checked by replace
    if wanted != sought:
        return _line(label, about, wanted, sought)
    clear = {name: getattr(Sought(), name) for name in changes}
    return _line(label, about, sought, sought)[0], replace(sought, **clear)


def _line(label: str, about: str, wanted: Sought, sought: Sought) -> tuple[Choice, Sought]:
    name = f"{label}: {about}"
    return Choice(name, name, right="on" if wanted == sought else ""), wanted
