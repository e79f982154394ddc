"""Themes as data: ours are complete and readable, a user's mistakes get a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from groupx_shared.errors import ConfigError
from groupx_tui.theme import (
    COLORS,
    DEFAULT_THEME,
    FEW_COLOURS,
    READABLE,
    ThemeFile,
    ThemeShelf,
    contrast,
    for_few_colours,
    load_themes,
    own_themes,
    parse_theme,
    to_textual,
    unknown_theme,
)

THEMES_PAGE = Path(__file__).parents[2] / "docs" / "THEMES.md"
GOOD = "dark = true\n[colors]\n" + "\n".join(f'{key} = "#808080"' for key in COLORS)
OWN = sorted(own_themes())


def ratio(first: str, second: str) -> float:
    """Contrast of two colours by name or number."""
    return contrast(Color.parse(first), Color.parse(second))


def test_there_are_themes_for_every_taste_and_eye() -> None:
    assert len(OWN) >= 8
    assert {DEFAULT_THEME, "groupx-light", "high-contrast", "colour-blind", "terminal"} <= set(OWN)


@pytest.mark.parametrize("name", OWN)
def test_every_theme_makes_a_textual_theme(name: str) -> None:
    theme = to_textual(own_themes()[name])
    assert theme.name == name
    assert theme.to_color_system().generate()


@pytest.mark.parametrize("name", [name for name in OWN if not own_themes()[name].ansi])
@pytest.mark.parametrize("role", sorted(set(COLORS) - {"background", "surface", "panel"}))
def test_every_colour_is_readable_on_every_ground(name: str, role: str) -> None:
    colors = own_themes()[name].colors
    for ground in ("background", "surface", "panel"):
        assert ratio(colors[role], colors[ground]) >= READABLE, (role, ground)


@pytest.mark.parametrize("name", [name for name in OWN if not own_themes()[name].ansi])
def test_muted_text_is_readable(name: str) -> None:
    theme = own_themes()[name]
    muted = to_textual(theme).variables["muted"]
    for ground in ("background", "surface", "panel"):
        assert ratio(muted, theme.colors[ground]) >= READABLE, ground


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dark = [", ["not valid TOML"]),
        (GOOD.replace("dark = true", ""), ["dark", "true or false"]),
        (GOOD.replace("dark = true", 'dark = "yes"'), ["dark", "found 'yes'"]),
        (GOOD.replace("primary", "primry"), ["colors.primry", "“primary”"]),
        (GOOD.replace('error = "#808080"', ""), ["colors.error", "failed"]),
        (GOOD.replace('error = "#808080"', 'error = "redish"'), ["colors.error", "redish"]),
        (GOOD.replace('error = "#808080"', "error = 5"), ["colors.error", "found 5"]),
        (GOOD + "\n[colours]\n", ["colours", "“colors”"]),
        (GOOD + '\n[variables]\nscrollbarr = "#fff"\n', ["variables.scrollbarr", "“scrollbar”"]),
        (GOOD + "\n[variables]\nscrollbar = 5\n", ["variables.scrollbar", "text in quotes"]),
    ],
)
def test_a_mistake_is_told_with_file_key_and_what_to_do(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_theme("mine", text, "/home/me/mine.toml")
    assert caught.value.message.startswith("/home/me/mine.toml")
    assert all(word in caught.value.message for word in words), caught.value.message


def test_a_title_with_an_escape_sequence_is_cleaned() -> None:
    theme = parse_theme("mine", 'title = "a\\u001b[31mb"\n' + GOOD, "mine.toml")
    assert "\x1b" not in theme.title


def test_a_users_theme_is_found_and_wins_by_name(tmp_path: Path) -> None:
    (tmp_path / "nord.toml").write_text('title = "My nord"\n' + GOOD)
    (tmp_path / "mine.toml").write_text(GOOD)
    shelf = load_themes(tmp_path)
    assert shelf.themes["nord"].title == "My nord"
    assert shelf.themes["mine"] == ThemeFile("mine", "mine", True, dict.fromkeys(COLORS, "#808080"))
    assert shelf.problems == ()


def test_a_broken_theme_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("dark = [")
    (tmp_path / "huge.toml").write_text("#" * 70_000)
    (tmp_path / "fine.toml").write_text(GOOD)
    shelf = load_themes(tmp_path)
    assert set(shelf.themes) == {*OWN, "fine"}
    assert len(shelf.problems) == 2
    assert "bad.toml" in shelf.problems[0]
    assert "64 KiB" in shelf.problems[1]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    assert "“nord”" in unknown_theme("nrod", OWN)
    assert "mono" in unknown_theme("zzzz", OWN)


def test_the_page_of_themes_names_every_theme_and_key() -> None:
    page = THEMES_PAGE.read_text("utf-8")
    assert all(f"`{name}`" in page for name in OWN)
    assert all(f"| `{key}` | {about} |" in page for key, about in COLORS.items())


def test_where_colours_are_few_a_chosen_theme_is_drawn_else_the_terminals_own() -> None:
    shelf = load_themes(Path("/nonexistent"))
    assert for_few_colours(shelf, "groupx-dark", None) == ("terminal", "")
    assert for_few_colours(shelf, "nord", "nord") == ("nord", FEW_COLOURS)
    assert for_few_colours(shelf, "terminal", "terminal") == ("terminal", "")
    assert for_few_colours(ThemeShelf({}), "mine", "mine") == ("mine", "")
