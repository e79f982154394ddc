"""Which keys do what here: the defaults of the action table under a person's own choices.

Invariant: a `KeyMap` has no key twice in one place, and no plain character where text is typed.
A wrong entry is refused with a sentence that names the action, the key and the nearest name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from groupx_shared.errors import ConfigError
from groupx_shared.names import nearest, unknown_name
from groupx_shared.text import safe_line
from groupx_tui.actions import ACTIONS, PLACES, Action

MODIFIERS: Final = ("ctrl", "alt", "shift", "super")
NAMED_KEYS: Final = frozenset(
    {
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete"),
        *("backspace", "enter", "tab", "escape", "space", "minus", "plus", "slash", "backslash"),
        *("underscore", "at", "comma"),
        *(f"f{number}" for number in range(1, 25)),
    }
)
TERMINAL_KEYS: Final = {
    "ctrl+s": "terminals use it to stop the output",
    "ctrl+q": "terminals use it to go on with the output",
    "ctrl+b": "tmux uses it as its prefix",
    "ctrl+i": "terminals send it as tab",
    "ctrl+m": "terminals send it as enter",
    "ctrl+h": "many terminals send it as backspace",
}
"""Keys that often never arrive, and why."""
DOUBTFUL_KEYS: Final = {
    "ctrl+a": "screen uses it as its prefix; there it does not arrive",
    "f10": "some terminals open their menu with it",
    "f11": "many terminals change to the full screen with it",
    "ctrl+z": "terminals suspend programs with it, and people expect that",
}
"""Keys that may be used and do not arrive everywhere."""
TYPING_PLACES: Final = ("composer", "anywhere", "dialog")

_SHOWN: Final = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "escape": "esc", "pageup": "pgup",
    "pagedown": "pgdn", "underscore": "_", "slash": "/", "minus": "-", "plus": "+",
    "delete": "del",
}  # fmt: skip
_CHARACTER: Final = re.compile(r"[!-~]")


@dataclass(frozen=True, slots=True)
class KeyMap:
    """Keys of each action; an action without keys has an empty tuple."""

    keys: dict[str, tuple[str, ...]]

    def of(self, action_id: str) -> tuple[str, ...]:
        """The keys of one action."""
        return self.keys[action_id]

    def shown(self, action_id: str) -> str:
        """The first key as people read it; empty when there is none."""
        keys = self.keys[action_id]
        return show_key(keys[0]) if keys else ""


DEFAULT_KEYS: Final = KeyMap({action.id: action.keys for action in ACTIONS.values()})


def show_key(key: str) -> str:
    """`ctrl+pageup` -> `ctrl+pgup`, `up` -> `↑`."""
    *modifiers, name = key.split("+") if key != "+" else [key]
    return "+".join((*modifiers, _SHOWN.get(name, name)))


def clashes(keymap: KeyMap, action_id: str, key: str) -> list[str]:
    """What people should know before `key` does `action_id`: who loses it, where it means
    something else, where it does not arrive."""
    where = ACTIONS[action_id].where
    told = [f"{show_key(key)}: {DOUBTFUL_KEYS[key]}."] if key in DOUBTFUL_KEYS else []
    for other in ACTIONS.values():
        if key not in keymap.of(other.id) or other.id == action_id:
            continue
        if other.where == where:
            is_last = len(keymap.of(other.id)) == 1
            left = ", which has no key then" if is_last else ""
            told.append(f"It is taken from “{other.label}”{left}.")
        elif "anywhere" in (where, other.where) and "dialog" not in (where, other.where):
            first = other if where == "anywhere" else ACTIONS[action_id]
            told.append(f"In “{PLACES[first.where]}” it means “{first.label}”.")
    return told


def load_keymap(path: Path) -> KeyMap:
    """Read `{"keys": {"room.next": "alt+n", "turn.cancel": ["ctrl+g", "f8"]}}` from `path`; the
    defaults when there is no such file. Raises: ConfigError naming file, action and key."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return DEFAULT_KEYS
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from error
    keys = data.get("keys", {}) if isinstance(data, dict) else None
    if not isinstance(keys, dict):
        raise ConfigError(f'{path}: expected {{"keys": {{"action": "key"}}}}.')
    return build_keymap(keys, str(path))


def build_keymap(overrides: Mapping[str, object], where: str = "keys") -> KeyMap:
    """Return the defaults with `overrides` (action -> a key, a list of keys, or [] for none) over
    them. A default key that an override takes leaves its old action. Raises: ConfigError."""
    chosen: dict[str, tuple[str, ...]] = {}
    for action_id, value in overrides.items():
        if action_id not in ACTIONS:
            raise ConfigError(f"{where}: {unknown_name('action', action_id, ACTIONS)}")
        chosen[action_id] = _read_keys(ACTIONS[action_id], value, where)
    _refuse_clash(chosen, where)
    taken = {(ACTIONS[name].where, key) for name, keys in chosen.items() for key in keys}
    kept = {
        action.id: tuple(key for key in action.keys if (action.where, key) not in taken)
        for action in ACTIONS.values()
    }
    return KeyMap(kept | chosen)


def _read_keys(action: Action, value: object, where: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(key, str) for key in values):
        raise ConfigError(f"{where}: {action.id}: expected a key like “ctrl+g” or a list of keys.")
    return tuple(_read_key(action, key, where) for key in values)


def _read_key(action: Action, key: str, where: str) -> str:
    *modifiers, name = key.split("+") if key != "+" else [key]
    shown = f"{where}: {action.id}: “{safe_line(key, 40)}”"
    for modifier in modifiers:
        if modifier not in MODIFIERS:
            raise ConfigError(f"{shown}: a key is made of {', '.join(MODIFIERS)} and a name.")
    if name not in NAMED_KEYS and not _CHARACTER.fullmatch(name):
        near = nearest(name, NAMED_KEYS)
        hint = f" Did you mean “{near}”?" if near else ""
        raise ConfigError(f"{shown} is no key.{hint}")
    if key in TERMINAL_KEYS:
        raise ConfigError(f"{shown} cannot be used: {TERMINAL_KEYS[key]}.")
    if _CHARACTER.fullmatch(key) and action.where in TYPING_PLACES:
        raise ConfigError(f"{shown} could not be typed any more; add ctrl or alt.")
    return key


def _refuse_clash(chosen: Mapping[str, tuple[str, ...]], where: str) -> None:
    seen: dict[tuple[str, str], str] = {}
    for action_id, keys in chosen.items():
        for key in keys:
            other = seen.setdefault((ACTIONS[action_id].where, key), action_id)
            if other != action_id:
                raise ConfigError(
                    f"{where}: “{key}” is given to both {other} and {action_id}; keep one of them."
                )
