"""The last line: the keys that matter where the keyboard is, from the action table.

Each can be clicked. Invariant: what stands here works here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from rich.cells import cell_len
from textual import events
from textual.content import Content

from groupx_tui.actions import Action, Where, actions_of
from groupx_tui.keymap import KeyMap
from groupx_tui.widgets.bar import Bar

GAP = "   "
ListState = Literal["closed", "open", "typed"]
"""Of the candidates: `typed` when what is marked is what is written already."""


class KeyBar(Bar):
    """Keys and one word for each."""

    DEFAULT_CSS = """
    KeyBar { background: $panel; color: $foreground; }
    """

    def __init__(self, keymap: KeyMap) -> None:
        super().__init__(name="keys")
        self._keymap = keymap
        self._spans: list[tuple[int, int, str]] = []
        self._notice = ""
        self._shown: tuple[Where, bool] = ("composer", False)
        self._list: ListState = "closed"

    def show(self, where: Where, *, is_running: bool, list_state: ListState = "closed") -> None:
        """Show the keys of one place; `is_running`: some agent works, so it can be stopped;
        `list_state`: of the candidates over the composer."""
        self._shown, self._list = (where, is_running), list_state
        self._put()

    def say(self, notice: str) -> None:
        """Put a short question in place of the keys; empty brings them back."""
        self._notice = notice
        self._put()

    @property
    def notice(self) -> str:
        """The question shown; empty when there is none."""
        return self._notice

    def on_resize(self) -> None:
        """Show as many keys as fit now."""
        self._put()

    def _put(self) -> None:
        self._spans = []
        if self._notice:
            self.put(Content.styled(self._notice, "bold"))
            return
        where, is_running = self._shown
        if where == "composer" and self._list != "closed":
            actions = list_actions(self._keymap, is_typed=self._list == "typed")
        else:
            actions = footer_actions(where, self._keymap, is_running=is_running)
        parts: list[Content] = []
        column = 0
        for keys, action in fitting(actions, self._keymap, self.content_size.width):
            part = Content.assemble((keys, "$text-accent"), f" {action.footer}")
            self._spans.append((column, column + part.cell_length, action.id))
            column += part.cell_length + len(GAP)
            parts.append(part)
        self.put(Content(GAP).join(parts))

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked on."""
        x = event.x - self.styles.padding.left
        for start, end, action_id in self._spans:
            if start <= x < end:
                event.stop()
                await self.run_action(f"app.act('{action_id}')")


def list_actions(keymap: KeyMap, *, is_typed: bool) -> list[Action]:
    """The actions of the key line while candidates are open, with the words they have then;
    `is_typed`: the marked one stands there already, so the send key sends."""
    return [
        action if action.id == "composer.send" and is_typed else replace(action, footer=in_list)
        for action in actions_of("composer")
        if (in_list := action.in_list) and keymap.of(action.id)
    ]


def fitting(actions: Sequence[Action], keymap: KeyMap, width: int) -> list[tuple[str, Action]]:
    """Keys and action of what fits into `width` cells. Neighbours with the same word stand
    together; what does not fit falls out from the end, but never the help."""
    items: list[tuple[str, Action]] = []
    for action in actions:
        keys = keymap.shown(action.id)
        if items and items[-1][1].footer == action.footer:
            items[-1] = (f"{items[-1][0]} {keys}", action)
        else:
            items.append((keys, action))
    while len(items) > 2 and _width(items) > width:
        last = -2 if items[-1][1].id == "app.help" else -1
        del items[last]
    return items


def _width(items: Sequence[tuple[str, Action]]) -> int:
    cells = sum(cell_len(f"{keys} {action.footer}") for keys, action in items)
    return cells + len(GAP) * (len(items) - 1)


def footer_actions(where: Where, keymap: KeyMap, *, is_running: bool) -> list[Action]:
    """The actions of the key line: those of the place first, the running turn's before all."""
    places: tuple[Where, ...] = (where,) if where == "dialog" else (where, "anywhere")
    found = [
        action
        for place in places
        for action in actions_of(place)
        if action.footer and keymap.of(action.id)
    ]
    found = [action for action in found if action.id != "turn.cancel"] + [
        action for action in found if action.id == "turn.cancel"
    ]
    if not is_running:
        return [action for action in found if action.id != "turn.cancel"]
    return found[-1:] + found[:-1]
