"""How an ACP session is made to work without asking, as data of the agent's profile.

Pure. `AcpOptions` reads the profile's options strictly (they are ours); `plan_steps` turns them
into requests by what the session reported. Counterpart: `acp_driver.py`, which sends the steps
after each new, loaded or resumed session (an agent falls back to its default mode on resume).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from groupx_server.agents.acp_facts import SessionFacts
from groupx_server.agents.acp_turn import Quirks
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.option_values import read_seconds, read_strings, refuse_unknown
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from groupx_shared.text import safe_line

_SHOWN_CHOICES: Final = 12
SETTLE_S: Final = 0.05
"""Late updates were seen up to 20 ms after the answer to a prompt."""
LOAD_QUIET_S: Final = 0.5
"""Gemini replays for 0.3 s after its answer to `session/load`, with no end mark."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request after the session is open; `params` lacks the session id."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AcpOptions:
    """The profile's data for this driver; every key may be absent."""

    mode_id: tuple[str, ...] = ()
    """Modes that work without asking, best first; the first one offered is set."""
    config_options: tuple[tuple[str, str], ...] = ()
    """Settings to set: (id, value)."""
    handshake_s: float | None = None
    """For agents that need longer than the general bound to start."""
    close_grace_s: float | None = None
    """Instead of `close_s`: 0 for programs that ignore the end of stdin and need a TERM."""
    settle_s: float = SETTLE_S
    """How long late updates are waited for after the answer to a prompt."""
    load_quiet_s: float = LOAD_QUIET_S
    """Silence that ends a replay which goes on after the answer to `session/load`."""
    assume_http_mcp: bool = False
    """The agent takes HTTP MCP servers although it does not say so."""
    session_id_path: tuple[str, ...] = ()
    """Where a resume answer tells the id of the session it really opened."""
    quirks: Quirks = field(default_factory=Quirks)

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> AcpOptions:
        """Read `AgentSpec.options`. Raises: ConfigError naming the wrong key."""
        refuse_unknown(options, _OPTION_KEYS, "acp")
        mode = options.get("mode_id", ())
        return cls(
            mode_id=read_strings("mode_id", [mode] if isinstance(mode, str) else mode),
            config_options=tuple(_pair(item) for item in as_list(options.get("config_options"))),
            handshake_s=read_seconds(options, "handshake_s", None),
            close_grace_s=read_seconds(options, "close_grace_s", None),
            settle_s=read_seconds(options, "settle_s", SETTLE_S) or 0.0,
            load_quiet_s=read_seconds(options, "load_quiet_s", LOAD_QUIET_S) or 0.0,
            assume_http_mcp=options.get("assume_http_mcp") is True,
            session_id_path=read_strings("session_id_path", options.get("session_id_path", ())),
            quirks=Quirks(
                _patterns(options, "lost_patterns"),
                _patterns(options, "aside_patterns"),
                options.get("lost_on_cancel_error") is not False,
                safe_line(as_text(options.get("sign_in")), 300),
                as_text(options.get("tools_ready")),
            ),
        )


_OPTION_KEYS: Final = frozenset(
    {
        "mode_id",
        "config_options",
        "handshake_s",
        "close_grace_s",
        "settle_s",
        "load_quiet_s",
        "assume_http_mcp",
        "session_id_path",
        "lost_patterns",
        "aside_patterns",
        "lost_on_cancel_error",
        "sign_in",
        "tools_ready",
    }
)


def plan_steps(options: AcpOptions, facts: SessionFacts, agent: str) -> list[Step]:
    """The requests that make the session unrestricted, in order.

    An agent that lists its modes is asked only for one it lists: some accept an unknown mode and
    silently go on asking. Raises: AgentError (NATIVE_POLICY_BLOCKED) when it offers none of them.
    """
    steps = [_mode_step(options.mode_id, facts, agent)] if options.mode_id else []
    for config_id, value in options.config_options:
        values = facts.choices.get(config_id)
        if values and value not in values:
            raise _not_offered(agent, f"the setting {config_id}", [value], values)
        steps.append(_config_step(config_id, value))
    return steps


def _mode_step(wanted: tuple[str, ...], facts: SessionFacts, agent: str) -> Step:
    for mode in wanted:
        if mode in facts.modes:
            return Step("session/set_mode", {"modeId": mode})
        if facts.mode_choice and mode in facts.choices[facts.mode_choice]:
            return _config_step(facts.mode_choice, mode)
    offered = facts.modes or facts.choices.get(facts.mode_choice or "", ())
    if offered:
        raise _not_offered(agent, "the mode", list(wanted), offered)
    return Step("session/set_mode", {"modeId": wanted[0]})


def _config_step(config_id: str, value: str) -> Step:
    return Step("session/set_config_option", {"configId": config_id, "value": value})


def _not_offered(agent: str, what: str, wanted: list[str], offered: tuple[str, ...]) -> AgentError:
    shown = ", ".join(safe_line(choice, 60) for choice in offered[:_SHOWN_CHOICES])
    return AgentError(
        f"{agent} does not offer {what} {' or '.join(wanted)}; it offers {shown}. Change the "
        "agent's options, or allow this mode in the agent's own settings.",
        code=ErrorCode.NATIVE_POLICY_BLOCKED,
        details={"wanted": wanted, "offered": list(offered[:_SHOWN_CHOICES])},
    )


def _pair(item: Any) -> tuple[str, str]:
    config_id, value = as_text(as_dict(item).get("id")), as_text(as_dict(item).get("value"))
    if not config_id or not value:
        raise ConfigError(
            f"A config_options entry must be {{'id': …, 'value': …}} with texts, not {item!r}."
        )
    return config_id, value


def _patterns(options: Mapping[str, Any], key: str) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(
            re.compile(text, re.DOTALL) for text in read_strings(key, options.get(key, ()))
        )
    except re.error as error:
        raise ConfigError(f"The option {key} holds no regular expression: {error}.") from error
