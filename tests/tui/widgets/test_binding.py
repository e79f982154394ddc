"""Keys on widgets come from the table, in the right order of precedence."""

from __future__ import annotations

from textual.widget import Widget

from groupx_tui.keymap import DEFAULT_KEYS, build_keymap
from groupx_tui.widgets.binding import bind_again, bind_place, keys_of_place


def test_every_key_of_a_place_runs_its_action() -> None:
    widget = Widget()
    bind_place(widget, "timeline", DEFAULT_KEYS)
    found = {key: binding.action for key, binding in widget._bindings}
    assert found["r"] == "app.act('block.reply')"
    assert found["left_square_bracket"] == "app.act('timeline.previous_own')"
    assert found["plus"] == "app.act('timeline.unfold_all')"


def test_keys_of_anywhere_come_first_unless_a_place_has_them_too() -> None:
    widget = Widget()
    bind_place(widget, "anywhere", DEFAULT_KEYS)
    priorities = {key: binding.priority for key, binding in widget._bindings}
    assert priorities["ctrl+o"] is True
    assert priorities["ctrl+c"] is True
    assert priorities["tab"] is False


def test_other_keys_take_the_place_of_those_that_were_bound() -> None:
    widget = Widget()
    bind_place(widget, "timeline", DEFAULT_KEYS)
    bind_again(widget, build_keymap({"block.reply": "a"}))
    found = {key: binding.action for key, binding in widget._bindings}
    assert found["a"] == "app.act('block.reply')"
    assert "r" not in found
    assert len(list(widget._bindings)) == len({key for key, _ in widget._bindings})


def test_what_was_never_bound_stays_as_it_is() -> None:
    widget = Widget()
    bind_again(widget, DEFAULT_KEYS)
    assert list(widget._bindings) == list(Widget()._bindings)


def test_a_widget_that_does_its_keys_itself_gets_the_same_ones() -> None:
    assert keys_of_place("composer", DEFAULT_KEYS)["enter"] == "composer.send"
