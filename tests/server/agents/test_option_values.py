"""Options are ours and read strictly."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.option_values import read_seconds, read_strings, refuse_unknown
from groupx_shared.errors import ConfigError


def test_an_unknown_key_is_named_with_the_known_ones() -> None:
    refuse_unknown({"a": 1}, ("a", "b"), "toy")
    with pytest.raises(ConfigError) as wrong:
        refuse_unknown({"c": 1, "a": 1}, ("b", "a"), "toy")
    assert wrong.value.message == "The option 'c' is not known to the toy driver; it knows a, b."


@pytest.mark.parametrize("value", ["text", [1], None, {"a": 1}])
def test_a_list_of_texts_is_nothing_else(value: Any) -> None:
    with pytest.raises(ConfigError):
        read_strings("key", value)


def test_a_list_of_texts_is_read() -> None:
    assert read_strings("key", ["a", "b"]) == ("a", "b")


@pytest.mark.parametrize("value", [-1, "3", True, []])
def test_seconds_are_a_number_from_zero(value: Any) -> None:
    with pytest.raises(ConfigError) as wrong:
        read_seconds({"key": value}, "key", 1.0)
    assert "key" in wrong.value.message


def test_absent_seconds_are_the_default() -> None:
    assert read_seconds({}, "key", 1.0) == 1.0
    assert read_seconds({"key": 2}, "key", 1.0) == 2.0
    assert read_seconds({"key": None}, "key", 1.0) is None
