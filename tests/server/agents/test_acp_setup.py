"""Steps to an unrestricted session, by what the agent reported."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.acp_facts import Capabilities, SessionFacts
from groupx_server.agents.acp_setup import AcpOptions, Step, plan_steps
from groupx_shared.errors import AgentError, ConfigError, ErrorCode


def _facts(**answer: Any) -> SessionFacts:
    return SessionFacts.read(answer)


def _modes(*names: str) -> dict[str, Any]:
    return {"availableModes": [{"id": name} for name in names]}


def _steps(options: dict[str, Any], facts: SessionFacts) -> list[Step]:
    return plan_steps(AcpOptions.read(options), facts, "Toy")


def test_the_first_mode_that_is_offered_is_set() -> None:
    facts = _facts(modes=_modes("ask", "auto", "yolo"))
    assert _steps({"mode_id": ["never", "auto", "yolo"]}, facts) == [
        Step("session/set_mode", {"modeId": "auto"})
    ]


def test_a_mode_that_is_only_a_setting_is_set_as_one() -> None:
    option = {"id": "m", "category": "mode", "options": [{"value": "ask"}, {"value": "yolo"}]}
    assert _steps({"mode_id": "yolo"}, _facts(configOptions=[option])) == [
        Step("session/set_config_option", {"configId": "m", "value": "yolo"})
    ]


def test_values_in_groups_are_found() -> None:
    groups = [{"group": "g", "options": [{"value": "on"}]}]
    facts = _facts(configOptions=[{"id": "x", "options": groups}])
    assert facts.choices == {"x": ("on",)}


def test_an_agent_that_lists_nothing_is_asked_anyway() -> None:
    assert _steps({"mode_id": "yolo"}, _facts()) == [Step("session/set_mode", {"modeId": "yolo"})]


def test_a_mode_that_is_not_offered_names_those_that_are() -> None:
    with pytest.raises(AgentError, match="it offers ask, plan") as refused:
        _steps({"mode_id": "yolo"}, _facts(modes=_modes("ask", "plan")))
    assert refused.value.code is ErrorCode.NATIVE_POLICY_BLOCKED


def test_a_value_that_is_not_offered_is_an_error_too() -> None:
    facts = _facts(configOptions=[{"id": "allow_all", "options": [{"value": "off"}]}])
    with pytest.raises(AgentError, match="allow_all"):
        _steps({"config_options": [{"id": "allow_all", "value": "on"}]}, facts)


def test_without_wishes_nothing_is_sent() -> None:
    assert _steps({}, _facts(modes=_modes("ask"))) == []


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "yolo"},
        {"mode_id": 5},
        {"config_options": [{"id": "x"}]},
        {"handshake_s": -1},
        {"settle_s": True},
        {"lost_patterns": ["("]},
        {"session_id_path": "a.b"},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        AcpOptions.read(options)


@pytest.mark.parametrize("junk", [None, 5, "x", [], {"agentInfo": 3, "agentCapabilities": []}])
def test_a_strange_handshake_has_no_capabilities(junk: Any) -> None:
    found = Capabilities.read(junk, "toy")
    assert found == Capabilities(name="toy")
    assert SessionFacts.read(junk) == SessionFacts()
