"""The timeline's colours: component classes on theme variables, read into a palette.

Invariant: nothing here or in `groupx_tui.render` names a colour but terminal output itself; a
theme, light or dark, or NO_COLOR decides. What a colour says, a word or a mark says too.
"""

from __future__ import annotations

from typing import Final

from rich.style import Style
from textual.widget import Widget

from groupx_tui.render.palette import Palette, Role

COMPONENTS: Final = frozenset(f"timeline--{role.value}" for role in Role)

RULES: Final = """
    .timeline--dim, .timeline--url { color: $text-muted; }
    .timeline--strong, .timeline--table-head { text-style: bold; }
    .timeline--emphasis { text-style: italic; }
    .timeline--strike { text-style: strike; }
    .timeline--code { color: $text-accent; }
    .timeline--link { color: $text-primary; text-style: underline; }
    .timeline--heading-1 { color: $text-primary; text-style: bold underline; }
    .timeline--heading-2 { color: $text-primary; text-style: bold; }
    .timeline--heading-3 { color: $text-primary; text-style: bold italic; }
    .timeline--quote { text-style: italic; }
    .timeline--quote-bar, .timeline--bullet { color: $text-secondary; }
    .timeline--rule, .timeline--table-line { color: $foreground-muted; }
    .timeline--fence { background: $surface; }
    .timeline--fence-label { color: $text-muted; }
    .timeline--syntax-keyword { color: $text-accent; }
    .timeline--syntax-name { color: $text-primary; }
    .timeline--syntax-type { color: $text-warning; }
    .timeline--syntax-string { color: $text-success; }
    .timeline--syntax-number { color: $text-warning; }
    .timeline--syntax-comment { color: $text-muted; text-style: italic; }
    .timeline--syntax-operator { color: $foreground; }
    .timeline--syntax-error { color: $text-error; }
    .timeline--diff-added { color: $text-success; background: $success-muted 50%; }
    .timeline--diff-removed { color: $text-error; background: $error-muted 50%; }
    .timeline--diff-hunk { color: $text-primary; }
    .timeline--user { color: $text-accent; text-style: bold; }
    .timeline--agent { color: $text-primary; text-style: bold; }
    .timeline--system { color: $text-muted; text-style: bold; }
    .timeline--state-waiting { color: $text-warning; }
    .timeline--state-working { color: $text-primary; }
    .timeline--state-done { color: $text-success; }
    .timeline--state-failed, .timeline--error { color: $text-error; }
    .timeline--state-uncertain, .timeline--warning { color: $text-warning; }
    .timeline--hint { color: $text-accent; }
    .timeline--fold, .timeline--reasoning, .timeline--day { color: $text-muted; }
    .timeline--unread { color: $text-error; }
    .timeline--badge { color: auto 90%; background: $accent; text-style: bold; }
    .timeline--cursor { color: $block-cursor-foreground; background: $block-cursor-background; }
    .timeline--selection {
        color: $screen-selection-foreground;
        background: $screen-selection-background;
    }
    .timeline--hit { text-style: bold reverse; }
    .timeline--scroll-thumb { color: $foreground-muted; }
"""
"""What any widget nests into its own styles to draw with the roles (with `COMPONENTS`)."""

CSS: Final = f"""
Timeline {{
    width: 1fr;
    height: 1fr;
    background: $background;
    color: $foreground;
    {RULES}
}}
"""


def palette_of(widget: Widget) -> Palette:
    """Read the palette that the widget's theme gives its component classes."""
    base = widget.rich_style
    return Palette(
        base,
        {
            role: _difference(base, widget.get_component_rich_style(f"timeline--{role.value}"))
            for role in Role
        },
    )


def _difference(base: Style, style: Style) -> Style:
    """Return what of a role's style differs from the base, so that roles can be combined."""
    return Style(
        color=style.color if style.color != base.color else None,
        bgcolor=style.bgcolor if style.bgcolor != base.bgcolor else None,
        bold=style.bold,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=style.reverse,
    )
