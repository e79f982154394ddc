"""Themes as data: reads `.toml` files and makes Textual themes of them.

Invariant: a theme that does not parse never stops the program; its sentence names the file, the
key and the nearest key, and the other themes go on. The data is in `groupx_themes` (ours) and in
the user's themes folder (theirs, which win by name). docs/THEMES.md describes the keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from groupx_shared.errors import ConfigError
from groupx_shared.names import nearest
from groupx_shared.text import safe_line

DEFAULT_THEME: Final = "groupx-dark"
FEW_COLOURS_THEME: Final = "terminal"
FEW_COLOURS: Final = (
    "This terminal has 16 colours; the theme is drawn in those of its hues. If it has more, set "
    "TERM to its name, like xterm-256color, or COLORTERM=truecolor."
)
MAX_THEME_BYTES: Final = 64 * 1024
"""A theme is some twenty lines; what is larger is another file by mistake."""

COLORS: Final = {
    "background": "behind everything",
    "surface": "behind lists, the composer and dialogs",
    "panel": "behind the header, the key line and what is selected",
    "foreground": "text",
    "primary": "the focused thing, links, you",
    "secondary": "borders and quiet marks",
    "accent": "keys and what wants to be found",
    "success": "ready, done",
    "warning": "working, waiting, uncertain",
    "error": "failed",
}
"""The colour keys and what each is for (docs/THEMES.md is checked against this)."""
TERMINAL_OPTIONAL: Final = frozenset({"background", "surface", "panel", "foreground"})
"""Left out by a theme of the terminal's own colours: the terminal's default is used."""
SCROLLBAR_GROUNDS: Final = tuple(
    f"scrollbar-{part}"
    for part in ("background", "background-hover", "background-active", "corner-color")
)
SCROLLBAR_SHARE: Final = 0.3
"""Share of the text colour in the scrollbar: seen, but not before the text."""
STYLE_WORDS: Final = ("none", "not", "bold", "dim", "italic", "underline", "reverse", "strike")
_SHARE: Final = re.compile(r"\s+\d{1,3}%$")
Value = TypeVar("Value")
MUTED_SHARE: Final = 0.3
"""Share of the background in muted text, as far as it can still be read."""
READABLE: Final = 4.5
"""Contrast of text with its ground (WCAG 2, AA)."""
KEYS: Final = ("title", "dark", "ansi", "colors", "variables")


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """One theme as its file says it."""

    name: str
    """The file's name without `.toml`; what `/theme` takes."""
    title: str
    dark: bool
    colors: dict[str, str]
    ansi: bool = False
    """True: drawn in the terminal's own 16 colours."""
    variables: dict[str, str] = field(default_factory=dict)
    """Textual's design variables, for what the colours alone cannot say."""


@dataclass(frozen=True, slots=True)
class ThemeShelf:
    """All themes that parsed, by name, and a sentence for each that did not."""

    themes: dict[str, ThemeFile]
    problems: tuple[str, ...] = ()


def load_themes(user_folder: Path) -> ThemeShelf:
    """Read our themes and those in `user_folder` (which need not exist)."""
    themes = dict(own_themes())
    problems: list[str] = []
    for path in sorted(user_folder.glob("*.toml")) if user_folder.is_dir() else ():
        try:
            theme = read_theme(path)
        except ConfigError as error:
            problems.append(error.message)
        else:
            themes[theme.name] = theme
    return ThemeShelf(themes, tuple(problems))


@cache
def own_themes() -> dict[str, ThemeFile]:
    """The themes that come with the program, by name."""
    files = [
        entry
        for entry in resources.files("groupx_themes").iterdir()
        if entry.name.endswith(".toml")
    ]
    themes = [
        parse_theme(entry.name.removesuffix(".toml"), entry.read_text("utf-8"), entry.name)
        for entry in sorted(files, key=lambda entry: entry.name)
    ]
    return {theme.name: theme for theme in themes}


def read_theme(path: Path) -> ThemeFile:
    """Read one theme file. Raises: ConfigError naming file, key and what was expected."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(raw) > MAX_THEME_BYTES:
        raise ConfigError(f"{path} is larger than 64 KiB; a theme is a short file.")
    return parse_theme(path.stem, raw.decode("utf-8", "replace"), str(path))


def parse_theme(name: str, text: str, where: str) -> ThemeFile:
    """Parse the text of a theme file; `where` is how errors call it. Raises: ConfigError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where} is not valid TOML: {error}.") from error
    _refuse_unknown(data, KEYS, where, "")
    ansi = _typed(data, "ansi", bool, where, default=False)
    colors = _typed(data, "colors", dict, where)
    _check_colors(colors, where, ansi=ansi)
    variables = _typed(data, "variables", dict, where, default={})
    _check_variables(variables, where)
    return ThemeFile(
        name=name,
        title=safe_line(_typed(data, "title", str, where, default=name), 40),
        dark=_typed(data, "dark", bool, where),
        ansi=ansi,
        colors=colors,
        variables=variables,
    )


def to_textual(theme: ThemeFile) -> Theme:
    """Return the theme in the form that Textual takes."""
    base = dict.fromkeys((*TERMINAL_OPTIONAL, "boost"), "ansi_default") if theme.ansi else {}
    return Theme(
        name=theme.name,
        dark=theme.dark,
        ansi=theme.ansi,
        variables={**_base_variables(theme), "muted": _muted(theme), **theme.variables},
        **{**base, **theme.colors},  # type: ignore[arg-type] # all keys of COLORS are str fields
    )


def _base_variables(theme: ThemeFile) -> dict[str, str]:
    """A quiet scrollbar; and in the terminal's colours, what Textual's style sheets need."""
    if not theme.ansi:
        ground, text = Color.parse(theme.colors["surface"]), Color.parse(theme.colors["foreground"])
        grounds = dict.fromkeys(SCROLLBAR_GROUNDS, ground.hex)
        return {**grounds, "scrollbar": ground.blend(text, SCROLLBAR_SHARE).hex}
    return BUILTIN_THEMES["ansi-dark" if theme.dark else "ansi-light"].variables


def _muted(theme: ThemeFile) -> str:
    """The colour of what is said beside the matter: `$muted`, a blend, since Textual's own
    `$text-muted` is relative and has no colour inside a styled text."""
    if theme.ansi:
        return "ansi_default"  # any other of the 16 may be the background's colour
    text = Color.parse(theme.colors["foreground"])
    grounds = [Color.parse(theme.colors[key]) for key in ("background", "surface", "panel")]
    share = MUTED_SHARE
    while share > 0:
        muted = text.blend(grounds[0], share)
        if min(contrast(muted, ground) for ground in grounds) >= READABLE:
            return muted.hex
        share -= 0.02
    return text.hex


def for_few_colours(shelf: ThemeShelf, theme: str, chosen: str | None) -> tuple[str, str]:
    """The theme to draw with in a terminal of 16 colours, and what to say of that. `chosen`: what
    the person has chosen for all windows; without that the terminal's own theme, for nobody knows
    whether its ground is light or dark."""
    if (
        theme not in shelf.themes
        or shelf.themes[theme].ansi
        or FEW_COLOURS_THEME not in shelf.themes
    ):
        return theme, ""
    return (FEW_COLOURS_THEME, "") if chosen is None else (theme, FEW_COLOURS)


def contrast(first: Color, second: Color) -> float:
    """Return the contrast of two opaque colours, 1 to 21 (WCAG 2)."""
    lighter, darker = sorted((_light(first), _light(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _light(color: Color) -> float:
    """The relative luminance."""
    parts = [value / 255 for value in color.rgb]
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def unknown_theme(name: str, known: Iterable[str]) -> str:
    """Return the sentence for a theme name that is not there."""
    names = sorted(known)
    near = nearest(name, names)
    hint = f"Did you mean “{near}”?" if near else f"There are: {', '.join(names)}."
    return f"There is no theme “{safe_line(name, 40)}”. {hint}"


def _refuse_unknown(data: dict[str, Any], known: Iterable[str], where: str, prefix: str) -> None:
    names = list(known)
    for key in data:
        if key not in names:
            near = nearest(key, names)
            hint = f" Did you mean “{near}”?" if near else f" Known: {', '.join(names)}."
            raise ConfigError(f"{where}: {prefix}{safe_line(key, 60)}: no such key.{hint}")


def _typed(
    data: dict[str, Any], key: str, kind: type[Value], where: str, *, default: Value | None = None
) -> Value:
    value = data.get(key, default)
    if value is None:
        raise ConfigError(f"{where}: {key} is missing; expected {_kind_name(kind)}.")
    if not isinstance(value, kind):
        raise ConfigError(
            f"{where}: {key}: expected {_kind_name(kind)}, found {safe_line(repr(value), 40)}."
        )
    return value


def _kind_name(kind: type[Any]) -> str:
    return {bool: "true or false", str: "text in quotes", dict: "a table"}[kind]


def _check_colors(colors: dict[str, Any], where: str, *, ansi: bool) -> None:
    _refuse_unknown(colors, COLORS, where, "colors.")
    for key in COLORS:
        if key not in colors:
            if ansi and key in TERMINAL_OPTIONAL:
                continue
            raise ConfigError(f"{where}: colors.{key} is missing: the colour {COLORS[key]}.")
        _check_color(colors[key], f"{where}: colors.{key}")


def _check_color(value: object, where: str) -> None:
    try:
        if not isinstance(value, str):
            raise ColorParseError("not text")
        Color.parse(value)
    except ColorParseError as error:
        found = safe_line(repr(value), 40)
        raise ConfigError(
            f"{where}: expected a colour like “#7db8ff” or “ansi_blue”, found {found}."
        ) from error


def _check_variables(variables: dict[str, Any], where: str) -> None:
    sample = Theme(name="sample", primary="#ffffff").to_color_system().generate()
    _refuse_unknown(variables, [*sample, "muted"], where, "variables.")
    for key, value in variables.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}: variables.{key}: expected text in quotes.")
        if key.endswith("-style"):
            _check_style(value, f"{where}: variables.{key}")
        else:
            _check_color(_SHARE.sub("", value), f"{where}: variables.{key}")


def _check_style(value: str, where: str) -> None:
    wrong = [word for word in value.split() if word not in STYLE_WORDS]
    if wrong:
        raise ConfigError(
            f"{where}: expected words of {', '.join(STYLE_WORDS)}; found {safe_line(wrong[0], 40)}."
        )
