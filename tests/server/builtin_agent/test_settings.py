"""Settings from the environment; a bad value is told and never fatal."""

from __future__ import annotations

import pytest

from groupx_server.builtin_agent.settings import (
    DEFAULT_MODEL_TIMEOUT_S,
    OPENAI_BASE_URL,
    USUAL_PORTS,
    read_settings,
)


def test_an_empty_environment_means_discovery_on_the_usual_ports() -> None:
    settings = read_settings({})
    assert settings.base_url is None
    assert settings.discovery
    assert settings.ports == USUAL_PORTS
    assert settings.problems == ()


def test_everything_can_be_set() -> None:
    settings = read_settings(
        {
            "GROUPX_MODEL_BASE_URL": "http://h:1",
            "GROUPX_MODEL_NAME": "m",
            "GROUPX_MODEL_API_KEY": "k",
            "GROUPX_MODEL_TIMEOUT_S": "7.5",
            "GROUPX_MODEL_DISCOVERY": "off",
            "GROUPX_MODEL_PORTS": "1234, 9",
            "GROUPX_MODEL_HISTORY_CHARS": "500",
            "GROUPX_AGENT_URL": "http://127.0.0.1:5/",
            "GROUPX_AGENT_TOKEN": "t",
            "GROUPX_AGENT_ACTOR": "agent:me",
        }
    )
    assert (settings.base_url, settings.model, settings.api_key) == ("http://h:1/v1", "m", "k")
    assert (settings.timeout_s, settings.discovery, settings.history_chars) == (7.5, False, 500)
    assert settings.ports == ((1234, "LM Studio"), (9, "a model server"))
    assert (settings.agent_url, settings.agent_token) == ("http://127.0.0.1:5", "t")
    assert settings.actor_id == "agent:me"


@pytest.mark.parametrize("value", ["soon", "-1", "0", "nan", "1e9"])
def test_a_bad_number_is_told_and_the_default_holds(value: str) -> None:
    settings = read_settings({"GROUPX_MODEL_TIMEOUT_S": value})
    assert settings.timeout_s == DEFAULT_MODEL_TIMEOUT_S
    assert "GROUPX_MODEL_TIMEOUT_S" in settings.problems[0]


def test_bad_ports_are_told_and_the_good_ones_used() -> None:
    settings = read_settings({"GROUPX_MODEL_PORTS": "80,x,70000"})
    assert [port for port, _ in settings.ports] == [80]
    assert "GROUPX_MODEL_PORTS" in settings.problems[0]


def test_openai_variables_count_only_when_told() -> None:
    env = {"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}
    assert read_settings(env).base_url is None
    told = read_settings({**env, "GROUPX_MODEL_FROM_OPENAI_ENV": "1"})
    assert (told.base_url, told.api_key, told.model) == (OPENAI_BASE_URL, "k", "m")
    nothing = read_settings({"GROUPX_MODEL_FROM_OPENAI_ENV": "1"})
    assert nothing.base_url is None
    own = read_settings(
        {**env, "GROUPX_MODEL_FROM_OPENAI_ENV": "1", "GROUPX_MODEL_BASE_URL": "http://h/v1"}
    )
    assert (own.base_url, own.api_key) == ("http://h/v1", None)


def test_an_address_that_is_none_is_a_problem_of_the_model() -> None:
    settings = read_settings({"GROUPX_MODEL_BASE_URL": "localhost:1"})
    assert settings.model_problem is not None
    assert "GROUPX_MODEL_BASE_URL" in settings.model_problem


def test_a_key_that_no_header_can_carry_is_a_problem_and_is_not_shown() -> None:
    settings = read_settings({"GROUPX_MODEL_BASE_URL": "http://h", "GROUPX_MODEL_API_KEY": "ключ"})
    assert settings.model_problem is not None
    assert "ключ" not in settings.model_problem
    assert "ключ" not in repr(settings)
