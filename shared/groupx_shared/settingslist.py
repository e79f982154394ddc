"""The plain settings of a workspace, one by one: value, default, bounds, meaning.

For forms and lists; agents and the assistant have commands of their own. Pure. Invariant: what
`read_value` returns fits the model, and what does not is refused with what was found and expected.
Counterpart: `configedit`, which writes one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic.fields import FieldInfo

from groupx_shared.errors import ConfigError
from groupx_shared.meanings import meaning
from groupx_shared.names import unknown_name
from groupx_shared.settings import RESTART_LIMITS, RESTART_SECTIONS, Config, Setting
from groupx_shared.text import safe_line

SECTIONS: Final = ("limits", "timeouts", "storage", "server")
"""In the order in which people look for them."""
WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting. `key` is as in the file, with dots: `limits.queuePerAgent`."""

    key: str
    value: Any
    default: Any
    meaning: str
    lowest: int | None = None
    highest: int | None = None
    needs_restart: bool = False

    @property
    def path(self) -> list[str]:
        """The keys that lead to it."""
        return self.key.split(".")

    @property
    def expected(self) -> str:
        """What can stand there, in words."""
        if isinstance(self.default, bool):
            return "on or off"
        if isinstance(self.default, int):
            upper = "" if self.highest is None else f" to {self.highest:,}"
            return f"a whole number from {self.lowest or 0:,}{upper or ' on'}"
        return "a text"


def knobs(config: Config) -> list[Knob]:
    """All plain settings with their values."""
    return [
        knob
        for section in SECTIONS
        for knob in _of(section, getattr(config, section), getattr(Config(), section))
    ]


def find_knob(config: Config, key: str) -> Knob:
    """The setting called `key`. Raises: ConfigError naming the nearest."""
    found = {knob.key: knob for knob in knobs(config)}
    if key not in found:
        raise ConfigError(unknown_name("setting", key, found))
    return found[key]


def read_value(knob: Knob, text: str) -> Any:
    """The value that `text` stands for. Raises: ConfigError saying what is expected."""
    text = text.strip()
    value: Any = text
    if isinstance(knob.default, bool):
        value = WORDS.get(text.lower())
    elif isinstance(knob.default, int):
        value = _whole_number(text)
    is_in_bounds = not isinstance(value, int) or _fits(knob, value)
    if value is None or value == "" or not is_in_bounds:
        found = f"“{safe_line(text, 40)}”" if text else "nothing"
        raise ConfigError(f"{knob.key}: expected {knob.expected}; found {found}.")
    return value


def _whole_number(text: str) -> int | None:
    """Digits, with separators as people write them."""
    digits = text.replace(",", "").replace("_", "").replace(" ", "")
    is_number = digits.isascii() and digits.isdigit() and len(digits) < 20
    return int(digits) if is_number else None


def _fits(knob: Knob, value: int) -> bool:
    lowest, highest = knob.lowest, knob.highest
    return (lowest is None or value >= lowest) and (highest is None or value <= highest)


def _of(section: str, now: Setting, default: Setting) -> Iterator[Knob]:
    for name, field in type(now).model_fields.items():
        value, usual = getattr(now, name), getattr(default, name)
        key = f"{section}.{field.alias or name}"
        if isinstance(value, Setting):
            yield from _of(key, value, usual)
        else:
            told = meaning(type(now), name)
            yield _knob(key, name, field, told, (value, usual))


def _knob(key: str, name: str, field: FieldInfo, told: str, values: tuple[Any, Any]) -> Knob:
    lowest, highest = (_bound(field, bound) for bound in ("ge", "le"))
    is_late = key.partition(".")[0] in RESTART_SECTIONS or name in RESTART_LIMITS
    return Knob(key, *values, told, lowest, highest, is_late)


def _bound(field: FieldInfo, name: str) -> int | None:
    found = [getattr(each, name) for each in field.metadata if hasattr(each, name)]
    return found[0] if found else None
