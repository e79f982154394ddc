"""Themes in a terminal of 16 colours: by the hue of each colour, not by its nearest neighbour.

A theme's colours are soft; the nearest of 16 is grey for most of them, and a failure looks like an
answer. Pure. Invariants: the terminal's own ground and text are kept; done, waiting and failed are
told apart. Counterpart: `theme`, whose files these are.
"""

from __future__ import annotations

import colorsys
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from textual.color import Color

from groupx_tui.theme import COLORS, TERMINAL_OPTIONAL, ThemeFile

HUES: Final = {"red": 0, "yellow": 60, "green": 120, "cyan": 180, "blue": 240, "magenta": 300}
"""Degrees on the colour circle."""
GREY: Final = 0.12
"""Saturation below which a colour is none."""
STATES: Final = ("error", "success", "warning")
UNSEEN_ON_LIGHT: Final = "yellow"


def in_few_colours(theme: ThemeFile) -> ThemeFile:
    """Return the theme as it is drawn in 16 colours."""
    if theme.ansi:
        return theme
    avoided = set() if theme.dark else {UNSEEN_ON_LIGHT}
    hues: dict[str, str | None] = {}
    for key in STATES:
        taken = {hue for hue in hues.values() if hue is not None}
        hues[key] = _hue(theme.colors[key], avoided | taken)
    if hues["error"] is not None:
        avoided.add(hues["error"])
    for key in COLORS:
        if key not in hues and key not in TERMINAL_OPTIONAL:
            hues[key] = _hue(theme.colors[key], avoided)
    bright = "bright_" if theme.dark else ""
    named = {
        key: "ansi_default" if hue is None else f"ansi_{bright}{hue}" for key, hue in hues.items()
    }
    return replace(theme, ansi=True, colors=named, variables={})


def _hue(color: str, avoided: Collection[str]) -> str | None:
    """The nearest hue that is not avoided; None for a grey."""
    parsed = Color.parse(color)
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in parsed.rgb))
    if saturation < GREY:
        return None
    degrees = hue * 360

    def distance(name: str) -> float:
        apart = abs(HUES[name] - degrees)
        return min(apart, 360 - apart)

    return min((name for name in HUES if name not in avoided), key=distance)
