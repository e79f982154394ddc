"""Declarations and the values read from them."""

from __future__ import annotations

from groupx_tui.cli.options import Command, Invocation, Option


def test_a_value_is_called_by_the_long_flag() -> None:
    assert Option(("--reply-to", "-y"), "").name == "reply_to"


def test_an_option_that_is_not_given_has_its_start_value() -> None:
    assert Option(("--json",), "", kind="flag").start_value is False
    assert Option(("--to",), "", many=True).start_value == []
    assert Option(("--room",), "", default="room:main").start_value == "room:main"
    assert Option(("--since",), "", kind="integer").start_value is None


def test_an_invocation_gives_typed_values() -> None:
    values = {"text": "a", "none": None, "to": ["x"], "wait": True, "limit": 3, "timeout": 1.5}
    call = Invocation(Command((), "m:f", ""), values)
    assert (call.text("text"), call.text("none"), call.required("text")) == ("a", None, "a")
    assert (call.texts("to"), call.flag("wait")) == (["x"], True)
    assert (call.integer("limit"), call.integer("none")) == (3, None)
    assert (call.number("timeout"), call.number("none")) == (1.5, None)
