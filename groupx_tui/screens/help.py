"""The help: every key, those of the place one comes from first. Built from the action table."""

from __future__ import annotations

from textual.content import Content

from groupx_tui.actions import PLACES, Action, Where, actions_of
from groupx_tui.keymap import KeyMap, show_key
from groupx_tui.screens.reader import Reader

KEY_WIDTH = 24
INTRO = (
    "Write a message and press enter: it goes to the agents named with @, else to the one shown",
    "above the text. This window can be closed at any time; the server and the agents go on.",
)


def help_screen(keymap: KeyMap, place: Where) -> Reader:
    """The help as seen from `place`."""
    return Reader(keymap, "Help", help_lines(keymap, place))


def help_lines(keymap: KeyMap, place: Where) -> list[Content]:
    """Headings and one line for each action that has a key or a slash word."""
    places = sorted(PLACES, key=lambda where: where != place)
    lines = [Content.styled(" ".join(INTRO), "$muted")]
    for where in places:
        here = " (here)" if where == place else ""
        lines += [Content(""), Content.styled(f"{PLACES[where]}{here}", "bold")]
        lines += [
            _line(action, keymap)
            for action in actions_of(where)
            if keymap.of(action.id) or action.slash
        ]
    return lines


def _line(action: Action, keymap: KeyMap) -> Content:
    keys = [show_key(key) for key in keymap.of(action.id)]
    if action.slash:
        keys.append(f"/{action.slash}")
    shown = Content.styled(" ".join(keys), "$text-accent")
    return Content.assemble(shown.truncate(KEY_WIDTH, ellipsis=True, pad=True), " ", action.help)
