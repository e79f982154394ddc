"""Gives a widget or a screen its keys from the action table.

Each key runs `app.act('noun.verb')`: the table says what, the app's handlers do it. Counterpart:
`keymap`, which knows the keys.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import _character_to_key

from groupx_tui.actions import ACTIONS, Where, actions_of
from groupx_tui.keymap import KeyMap

FIRST: Final = frozenset({"dialog.delete_or_close", "dialog.next_part", "dialog.previous_part"})
"""Before what the focused field does with the key: so what is typed at once after it goes where it
leads."""
ALT: Final = "alt+"
"""With a letter, terminals send it as escape and that letter, and a field would write it down."""
ACT: Final = "app.act("
_PLACES: Final[WeakKeyDictionary[DOMNode, Where]] = WeakKeyDictionary()
"""What was bound to which place."""


def textual_name(key: str) -> str:
    """Return what Textual calls a key of the table: `(` is its `left_parenthesis`."""
    return _character_to_key(key) if len(key) == 1 else key


def bind_place(node: DOMNode, where: Where, keymap: KeyMap) -> None:
    """Bind the keys of all actions that belong to `where` on `node`.

    Keys of `anywhere` come before what the focused widget does with them (so what is typed after
    one goes where it leads), unless a place of the room has the same key for itself. Dialogs are
    screens of their own.
    """
    _PLACES[node] = where
    elsewhere = {
        key
        for action in ACTIONS.values()
        if action.where not in (where, "dialog")
        for key in keymap.of(action.id)
    }
    for action in actions_of(where):
        for key in keymap.of(action.id):
            node._bindings._add_binding(
                Binding(
                    textual_name(key),
                    f"app.act('{action.id}')",
                    action.label,
                    show=False,
                    priority=action.id in FIRST
                    or (where == "dialog" and key.startswith(ALT))
                    or (where == "anywhere" and key not in elsewhere),
                )
            )


def bind_again(node: DOMNode, keymap: KeyMap) -> None:
    """Bind the keys of the place that `node` was bound to, as they are now."""
    where = _PLACES.get(node)
    if where is None:
        return
    for bindings in node._bindings.key_to_bindings.values():
        bindings[:] = [each for each in bindings if not each.action.startswith(ACT)]
    bind_place(node, where, keymap)


def keys_of_place(where: Where, keymap: KeyMap) -> dict[str, str]:
    """Action by key, for a widget that handles its keys itself."""
    return {
        textual_name(key): action.id for action in actions_of(where) for key in keymap.of(action.id)
    }
