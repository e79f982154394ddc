"""What a window is opened with: read from the person's files, with a sentence for each mistake."""

from __future__ import annotations

from groupx_shared.paths import user_state_folder, user_themes_folder
from groupx_tui.keymap import DEFAULT_KEYS
from groupx_tui.setup import load_setup


def test_without_any_file_all_is_ours() -> None:
    setup = load_setup()
    assert setup.keymap is DEFAULT_KEYS
    assert setup.notes == ()
    assert "nord" in setup.shelf.themes


def test_each_mistake_costs_a_sentence_and_nothing_else() -> None:
    themes = user_themes_folder()
    themes.mkdir(parents=True)
    (themes / "bad.toml").write_text("x = 1")
    (themes.parent / "keys.json").write_text('{"keys": {"room.nxt": "f9"}}')
    user_state_folder().mkdir(parents=True)
    (user_state_folder() / "window.json").write_text("{")
    setup = load_setup()
    assert len(setup.notes) == 3
    assert any("bad.toml" in note for note in setup.notes)
    assert any("room.next" in note and "default keys" in note for note in setup.notes)
    assert any("window.json" in note for note in setup.notes)
    assert setup.keymap is DEFAULT_KEYS


def test_keys_and_themes_of_the_person_are_there() -> None:
    themes = user_themes_folder()
    themes.mkdir(parents=True)
    (themes.parent / "keys.json").write_text('{"keys": {"room.next": "f9"}}')
    assert load_setup().keymap.of("room.next") == ("f9",)
