"""A driver is found by its name, or the error helps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.base import AgentSpec, native_protocol
from groupx_server.agents.catalogue import known_agent
from groupx_server.agents.claude_driver import ClaudeDriver
from groupx_server.agents.codex_driver import CodexDriver
from groupx_server.agents.presets import PRESETS, apply_preset
from groupx_server.agents.registry import DriverRegistry
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from server.agents.kit import NoGuard


def _spec(driver: str, argv: list[str] | None = None, **options: object) -> AgentSpec:
    return AgentSpec("agent:toy", driver, argv or [], Path("/"), {"MINE": "1"}, options)


def test_the_acp_driver_takes_any_command() -> None:
    driver = DriverRegistry(NoGuard())(_spec("acp", ["toy", "acp"]))
    assert isinstance(driver, AcpDriver)
    assert driver.spec.argv == ["toy", "acp"]


def test_claude_is_spoken_with_in_its_own_protocol() -> None:
    assert isinstance(DriverRegistry(NoGuard())(_spec("claude")), ClaudeDriver)
    assert isinstance(DriverRegistry(NoGuard())(_spec("claude-agent-acp")), AcpDriver)


def test_the_builtin_agent_is_a_module_of_ours_that_a_folder_cannot_shadow() -> None:
    driver = DriverRegistry(NoGuard())(_spec("builtin"))
    assert driver.spec.argv == [sys.executable, "-P", "-m", "groupx_server.builtin_agent"]


def test_codex_speaks_its_own_protocol_and_its_bridge_is_a_preset() -> None:
    registry = DriverRegistry(NoGuard())
    assert isinstance(registry(_spec("codex", model="m")), CodexDriver)
    assert native_protocol("codex") == "codex-app-server"
    assert isinstance(registry(_spec("codex-acp")), AcpDriver)
    assert native_protocol("codex-acp") == "acp"


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(AgentError, match="Did you mean “kimi”") as refused:
        DriverRegistry(NoGuard())(_spec("kimmi"))
    assert refused.value.code is ErrorCode.ADAPTER_NOT_FOUND


def test_a_preset_is_beneath_what_the_settings_say() -> None:
    driver = DriverRegistry(NoGuard())(_spec("gemini", ["node", "gemini.js", "--acp"], settle_s=0))
    assert driver.spec.argv == ["node", "gemini.js", "--acp"]
    assert driver.spec.options == {
        "mode_id": "yolo",
        "handshake_s": 60.0,
        "settle_s": 0,
        "sign_in": known_agent("gemini").login,  # type: ignore[union-attr]
    }
    assert driver.spec.env["MINE"] == "1"
    assert driver.spec.env["GEMINI_CLI_NO_RELAUNCH"] == "true"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_makes_a_driver(name: str) -> None:
    driver = DriverRegistry(NoGuard())(_spec(name))
    assert driver.spec.argv == list(PRESETS[name].argv)


def test_passwords_of_ports_are_fresh_at_each_start() -> None:
    first = apply_preset(PRESETS["opencode"], _spec("opencode")).env["OPENCODE_SERVER_PASSWORD"]
    second = apply_preset(PRESETS["opencode"], _spec("opencode")).env["OPENCODE_SERVER_PASSWORD"]
    assert len(first) >= 24
    assert first != second


@pytest.mark.parametrize(("user", "told"), [(0, "1"), (1000, None)])
def test_root_says_that_the_machine_is_a_sandbox(
    monkeypatch: pytest.MonkeyPatch, user: int, told: str | None
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    applied = apply_preset(PRESETS["claude-agent-acp"], _spec("claude-agent-acp"))
    assert applied.env.get("IS_SANDBOX") == told


def test_a_registered_driver_takes_the_place_of_a_preset() -> None:
    registry = DriverRegistry(NoGuard())
    seen: list[AgentSpec] = []

    def factory(spec: AgentSpec) -> AcpDriver:
        seen.append(spec)
        return AcpDriver(spec, NoGuard())

    registry.register("codex", factory)
    registry(_spec("codex"))
    assert [spec.driver for spec in seen] == ["codex"]
    assert "codex" in registry.names


def test_a_wrong_option_names_the_key() -> None:
    with pytest.raises(ConfigError, match="mode_idd"):
        DriverRegistry(NoGuard())(_spec("acp", ["toy"], mode_idd="yolo"))
