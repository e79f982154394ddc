"""The help: every key, those of the place one comes from first. Built from the action table."""

from __future__ import annotations

from textual.content import Content

from groupx_tui.actions import PLACES, Action, Where, actions_of
from groupx_tui.keymap import KeyMap, show_key
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import BLANK, Fact, heading, paragraph

KEY_WIDTH = 20
INTRO = (
    "Write a message and press enter: it goes to the agents named with @, else to the one shown "
    "above the text. This window can be closed at any time; the server and the agents go on."
)


def help_screen(keymap: KeyMap, place: Where) -> Reader:
    """The help as seen from `place`."""
    return Reader(keymap, "Help", help_facts(keymap, place), KEY_WIDTH)


def help_facts(keymap: KeyMap, place: Where) -> list[Fact]:
    """Headings and one row for each action that has a key or a slash word."""
    facts = [paragraph(INTRO)]
    for where in sorted(PLACES, key=lambda where: where != place):
        here = " (here)" if where == place else ""
        facts += [BLANK, heading(f"{PLACES[where]}{here}")]
        facts += [
            _fact(action, keymap)
            for action in actions_of(where)
            if keymap.of(action.id) or action.slash
        ]
    return facts


def _fact(action: Action, keymap: KeyMap) -> Fact:
    keys = [show_key(key) for key in keymap.of(action.id)]
    if action.slash:
        keys.append(f"/{action.slash}")
    return Fact(Content.styled(" ".join(keys), "$text-accent"), Content(action.help))
