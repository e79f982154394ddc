"""Editing the text: each verb is one of the text area's own actions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

SELECTING: Final = {
    "select_left": "cursor_left",
    "select_right": "cursor_right",
    "select_up": "cursor_up",
    "select_down": "cursor_down",
}
"""Verbs that are a movement while selecting."""


class EditHandlers:
    """`edit.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def __getattr__(self, verb: str) -> Callable[[str], Any]:
        editor = self._app.room.composer.editor
        if verb in SELECTING:
            return partial(_run, partial(getattr(editor, f"action_{SELECTING[verb]}"), True))
        return partial(_run, getattr(editor, f"action_{verb}"))


def _run(action: Callable[[], Any], argument: str) -> Any:
    return action()
