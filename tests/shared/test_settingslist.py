"""The plain settings: all there, their bounds those of the models, wrong values refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from groupx_shared.errors import ConfigError
from groupx_shared.settings import Config, LimitSettings, TimeoutSettings
from groupx_shared.settingslist import find_knob, knobs, read_value


def test_every_limit_and_timeout_is_there_with_its_meaning() -> None:
    found = {knob.key: knob for knob in knobs(Config())}
    for section, model in (("limits", LimitSettings), ("timeouts", TimeoutSettings)):
        for field in model.model_fields.values():
            assert found[f"{section}.{field.alias}"].meaning
    assert found["storage.backups.maxAgeDays"].value == 30
    assert found["limits.queuePerAgent"].highest == 10_000


def test_what_needs_a_restart_says_so() -> None:
    late = {knob.key for knob in knobs(Config()) if knob.needs_restart}
    assert {"server.port", "storage.backups.keep", "limits.sseBytes"} <= late
    assert not {key for key in late if key.startswith("timeouts.")}


@given(st.sampled_from(knobs(Config())), st.integers(-10, 200_000_000))
def test_a_number_is_taken_just_when_the_model_takes_it(knob: Any, number: int) -> None:
    if isinstance(knob.default, bool) or not isinstance(knob.default, int):
        return
    content: Any = number
    for part in reversed(knob.path):
        content = {part: content}
    try:
        Config.model_validate(content)
    except ValidationError:
        with pytest.raises(ConfigError, match="expected a whole number from"):
            read_value(knob, str(number))
    else:
        assert read_value(knob, f"{number:,}") == number


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("limits.queuePerAgent", " 1_000 ", 1_000),
        ("storage.backups.enabled", "off", False),
        ("storage.backups.enabled", "Yes", True),
        ("storage.path", "a/b.db", "a/b.db"),
    ],
)
def test_values_are_read_as_people_write_them(key: str, text: str, value: object) -> None:
    assert read_value(find_knob(Config(), key), text) == value


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("limits.queuePerAgent", "many", "from 1 to 10,000; found “many”"),
        ("limits.queuePerAgent", "", "found nothing"),
        ("limits.tokensPerRoot", "-1", "a whole number from 0 on; found “-1”"),
        ("limits.queuePerAgent", "9" * 40, "found “999"),
        ("storage.backups.enabled", "maybe", "expected on or off"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_expected(key: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"^{key}: expected ") as refused:
        read_value(find_knob(Config(), key), text)
    assert said in refused.value.message


def test_an_unknown_setting_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"limits\.queuePerAgent"):
        find_knob(Config(), "limits.queuePerAgnt")
