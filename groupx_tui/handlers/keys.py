"""The person's own keys: listed, chosen by pressing them, kept in a file, counting at once.

Invariants: the file is whole at every moment and always one that is understood; what is wrong in a
file that was edited by hand is said, and the keys stay as they are. Counterpart: `keymap`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from groupx_shared.errors import ConfigError, WorkspaceError
from groupx_shared.jsontext import with_value, without
from groupx_shared.paths import private_folder, user_themes_folder
from groupx_tui.actions import ACTIONS, PLACES
from groupx_tui.keymap import KeyMap, build_keymap, clashes, load_keymap, show_key
from groupx_tui.screens.chooser import Choice, Chooser, Use
from groupx_tui.screens.presskey import PressKey
from groupx_tui.setup import KEYS_FILE
from groupx_tui.widgets.binding import bind_again

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

TEMPLATE: Final = '{\n  "keys": {\n  }\n}\n'


def use_keys(app: GroupXApp, keymap: KeyMap) -> None:
    """Let these keys count from now on, everywhere in this window: all its parts hold one map."""
    app.keymap.keys.clear()
    app.keymap.keys.update(keymap.keys)
    for screen in app.screen_stack:
        for node in screen.walk_children(with_self=True):
            bind_again(node, app.keymap)
    app.room.composer.editor.use_keys(app.keymap)
    app.room.keybar.on_resize()
    app.draw_view()


class KeySetup:
    """The list of actions and their keys."""

    def __init__(self, app: GroupXApp, edit_file: Callable[[Path, str, Any], object]) -> None:
        self._app = app
        self._edit_file = edit_file
        self._list: Chooser | None = None

    @property
    def path(self) -> Path:
        """Where the person's keys are kept."""
        return user_themes_folder().parent / KEYS_FILE

    def open(self) -> None:
        """Show all actions with their keys."""
        offers: dict[str, Callable[[str], object]] = {
            "add": self._press_more,
            "retract": self._reset,
            "editor": lambda action_id: self.edit(),
        }
        words = {"accept": "another key", "add": "one more key", "retract": "default"}
        use = Use(offers, opens=self._press, is_wide=True, words={**words, "editor": "the file"})
        self._list = Chooser(self._app.keymap, "Keys", self._choices(), use=use)
        self._app.push_screen(self._list)

    def edit(self) -> None:
        """Open the file in the person's editor; then it counts."""
        self._edit_file(self.path, TEMPLATE, self.check)

    def check(self, path: Path) -> None:
        """Let the keys of the file count, or say what is wrong in it."""
        try:
            keymap = load_keymap(path)
        except ConfigError as error:
            self._app.tell(f"{error.message} The keys stay as they are.", "warning")
            return
        use_keys(self._app, keymap)
        self._app.tell("These keys count from now on, in this window and in those to come.")
        self._draw()

    def _choices(self) -> list[Choice]:
        own = self._overrides()
        return [
            Choice(
                action.id,
                f"{'● ' if action.id in own else ''}{action.label}",
                f"{PLACES[action.where]}: {action.help}",
                " ".join(show_key(key) for key in self._app.keymap.of(action.id)) or "no key",
            )
            for action in ACTIONS.values()
        ]

    def _overrides(self) -> dict[str, Any]:
        try:
            data = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        keys = data.get("keys") if isinstance(data, dict) else None
        return keys if isinstance(keys, dict) else {}

    def _press(self, action_id: str) -> None:
        self._ask(action_id, ())

    def _press_more(self, action_id: str) -> None:
        if action_id:
            self._ask(action_id, self._app.keymap.of(action_id))

    def _ask(self, action_id: str, kept: Sequence[str]) -> None:
        def judge(key: str) -> tuple[bool, str]:
            try:
                build_keymap({**self._overrides(), action_id: [*kept, key]}, "")
            except ConfigError as error:
                return False, error.message.removeprefix(": ")
            told = clashes(self._app.keymap, action_id, key)
            return True, "\n".join(told) or "Nothing else has it."

        def pressed(key: str | None) -> None:
            if key is not None:
                self._keep(action_id, [*kept, key])

        title = f"A key for “{ACTIONS[action_id].label}”"
        self._app.push_screen(PressKey(self._app.keymap, title, judge), pressed)

    def _reset(self, action_id: str) -> None:
        if action_id in self._overrides():
            self._keep(action_id, None)

    def _keep(self, action_id: str, keys: list[str] | None) -> None:
        try:
            text = self._changed(action_id, keys)
            keymap = build_keymap(json.loads(text)["keys"], str(self.path))
            _replace(self.path, text)
        except (ConfigError, WorkspaceError) as error:
            self._app.tell(f"{error.message} The keys stay as they are.", "warning")
            return
        use_keys(self._app, keymap)
        self._draw()
        words = " ".join(map(show_key, keymap.of(action_id))) or "no key"
        self._app.tell(f"{ACTIONS[action_id].label}: {words}.")

    def _changed(self, action_id: str, keys: list[str] | None) -> str:
        """The file's text with another key of one action; the rest stays as it is written.
        Raises: ConfigError when the file has an error."""
        load_keymap(self.path)
        text = self.path.read_text("utf-8") if self.path.exists() else TEMPLATE
        try:
            path = ["keys", action_id]
            return without(text, path) if keys is None else with_value(text, path, keys)
        except ValueError as error:
            raise ConfigError(f"{self.path} cannot be changed: {error}.") from error

    def _draw(self) -> None:
        if self._list is not None and self._list.is_attached:
            self._list.replace_choices(self._list.heading, self._choices())


def _replace(path: Path, text: str) -> None:
    """Put the text in the place of the file, whole. Raises: WorkspaceError."""
    private_folder(path.parent)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise WorkspaceError(f"{path} cannot be written: {error.strerror or error}.") from error
