"""Limits, timeouts, backups: listed with their values, changed one by one.

Invariants: what does not fit is said at the field and never written; the file is changed only by
`groupx config set`, which checks it, keeps its layout and replaces it whole; after each change the
list shows what the file says. Counterpart: `groupx_tui.cli.config`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from groupx_shared.config import parse_config
from groupx_shared.errors import ConfigError
from groupx_shared.settings import Config
from groupx_shared.settingslist import Knob, knobs, read_value
from groupx_shared.text import safe_line
from groupx_tui.screens.chooser import Choice, Chooser, Use
from groupx_tui.screens.setting import AskSetting

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp

ELSEWHERE: Final = "The server is elsewhere: change its settings on its machine."
RESTART: Final = "It counts after the server was started again: “groupx restart”."
AT_ONCE: Final = "It counts at once; turns that run are not touched."


class LimitHandlers:
    """The list and what is done with it."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._list: Chooser | None = None
        self._knobs: dict[str, Knob] = {}

    def open(self) -> None:
        """Show the settings."""
        self._list = None
        self._read()

    def _read(self) -> None:
        path = self._app.command_line.config_path
        if path is None:
            self._app.tell(ELSEWHERE)
            return
        try:
            self._show(knobs(config_at(path)))
        except ConfigError as error:
            self._app.tell(error.message, "warning")

    def _show(self, found: Sequence[Knob]) -> None:
        self._knobs = {knob.key: knob for knob in found}
        choices = [_choice(knob) for knob in found]
        if self._list is not None and self._list.is_attached:
            self._list.replace_choices(self._list.heading, choices)
            return
        use = Use(
            {"retract": self._reset},
            opens=self._change,
            is_wide=True,
            words={"accept": "change", "retract": "default"},
        )
        title = "Limits, timeouts, backups · ● changed · ↻ after a restart"
        self._list = Chooser(self._app.keymap, title, choices, use=use)
        self._app.push_screen(self._list)

    def _change(self, key: str) -> None:
        knob = self._knobs[key]

        def typed(value: str | None) -> None:
            if value is not None and value != shown(knob.value):
                self._set(key, value)

        when = RESTART if knob.needs_restart else AT_ONCE
        about = (
            f"{knob.meaning}\n{knob.expected[:1].upper()}{knob.expected[1:]}; default "
            f"{shown(knob.default)}. {when}"
        )
        value = "" if knob.value is None else shown(knob.value)
        screen = AskSetting(self._app.keymap, key, value, about, lambda text: wrong(knob, text))
        self._app.push_screen(screen, typed)

    def _reset(self, key: str) -> None:
        if key in self._knobs:
            self._set(key, "")

    def _set(self, key: str, value: str) -> None:
        def done(printed: str) -> None:
            lines = printed.strip().splitlines()
            self._app.tell(lines[-1] if lines else "Done.")
            self._read()

        words = ("config", "set", f"{key}={value}")
        self._app.attempt(self._app.command_line.run(words), done)


def config_at(path: Path) -> Config:
    """What a config file says; the defaults when there is none. Raises: ConfigError."""
    try:
        return parse_config(path.read_bytes(), path)
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error


def wrong(knob: Knob, text: str) -> str:
    """What is wrong with a value."""
    try:
        read_value(knob, text)
    except ConfigError as error:
        return error.message.partition(": ")[2]
    return ""


def shown(value: Any) -> str:
    """A value as people read and write it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else safe_line(str(value), 60)


def _choice(knob: Knob) -> Choice:
    section, _, name = knob.key.partition(".")
    label = name if section in ("limits", "timeouts") else knob.key.removeprefix("storage.")
    mark = "" if knob.value == knob.default else "● "
    later = "↻ " if knob.needs_restart else ""
    return Choice(knob.key, f"{mark}{label}", f"{later}{knob.meaning}", shown(knob.value))
