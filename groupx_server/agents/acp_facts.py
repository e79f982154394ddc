"""What an ACP agent says of itself and of a session, read without trust.

Pure: any JSON in, frozen facts out; absent means no. Everything GroupX does with an agent follows
these facts, never its name. Counterpart: `acp_setup.py`, which plans by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from groupx_server.agents.base import MODEL_CHARS
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_shared.text import safe_line

PROTOCOL_VERSION: Final = 1
_MAX_AUTH_METHODS: Final = 12
_VERSION: Final = "agentVersion"
"""In `_meta`, of agents that do not introduce themselves."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the agent said at `initialize`; absent means no."""

    name: str = "the agent"
    version: str = ""
    protocol_version: int = PROTOCOL_VERSION
    can_load: bool = False
    can_resume: bool = False
    can_close: bool = False
    http_mcp: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)
    auth_methods: tuple[str, ...] = ()
    sign_in: str = ""
    """How it says itself that one signs in; a sentence, or empty."""

    @classmethod
    def read(cls, result: Any, fallback_name: str) -> Capabilities:
        """Read the result of `initialize`, whatever it holds."""
        answer = as_dict(result)
        info, agent = as_dict(answer.get("agentInfo")), as_dict(answer.get("agentCapabilities"))
        sessions, version = as_dict(agent.get("sessionCapabilities")), answer.get("protocolVersion")
        methods = answer.get("authMethods")
        told = as_text(info.get("version")) or as_text(as_dict(answer.get("_meta")).get(_VERSION))
        return cls(
            name=safe_line(as_text(info.get("title")) or as_text(info.get("name")), 80)
            or fallback_name,
            version=safe_line(told, 40),
            protocol_version=version if isinstance(version, int) else PROTOCOL_VERSION,
            can_load=agent.get("loadSession") is True,
            can_resume=_offers(sessions, "resume"),
            can_close=_offers(sessions, "close"),
            http_mcp=as_dict(agent.get("mcpCapabilities")).get("http") is True,
            raw=agent,
            auth_methods=tuple(
                safe_line(as_text(as_dict(method).get("name")), 60)
                for method in (methods if isinstance(methods, list) else [])[:_MAX_AUTH_METHODS]
            ),
            sign_in=_sign_in(methods),
        )


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the agent said of a session: its modes and its settings with their values."""

    session_id: str | None = None
    modes: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Setting id → its values."""
    mode_choice: str | None = None
    """The setting of category `mode`, where modes are a setting."""
    model: str = ""
    """The model that works in it; cleaned, empty when it does not tell."""

    @classmethod
    def read(cls, result: Any) -> SessionFacts:
        """Read the result of `session/new`, `session/load` or `session/resume`."""
        answer = as_dict(result)
        session_id = answer.get("sessionId")
        options = [as_dict(option) for option in as_list(answer.get("configOptions"))]
        named = [option for option in options if as_text(option.get("id"))]
        return cls(
            session_id=session_id if isinstance(session_id, str) and session_id else None,
            modes=_ids(as_dict(answer.get("modes")).get("availableModes"), "id"),
            choices={option["id"]: _values(option.get("options")) for option in named},
            mode_choice=next((o["id"] for o in named if o.get("category") == "mode"), None),
            model=_model(answer, named),
        )


def _model(answer: Mapping[str, Any], options: list[dict[str, Any]]) -> str:
    """It stands with the models that one can choose, or is a setting of its own."""
    told = as_text(as_dict(answer.get("models")).get("currentModelId"))
    settings = [option for option in options if option.get("category") == "model"]
    settings.sort(key=lambda option: option["id"] != "model")  # another may be its provider
    set_to = as_text(settings[0].get("currentValue")) if settings else ""
    return safe_line(told or set_to, MODEL_CHARS)


def _sign_in(methods: Any) -> str:
    """The first instruction among the ways to sign in: “Run `copilot login` in the terminal”."""
    told = (as_text(as_dict(method).get("description")) for method in as_list(methods))
    text = safe_line(next((each for each in told if each.startswith("Run ")), ""), 200)
    return f"{text.rstrip('.')}." if text else ""


def _offers(sessions: dict[str, Any], key: str) -> bool:
    """A session capability is announced as an object (mostly empty) or as true."""
    return sessions.get(key) is True or isinstance(sessions.get(key), dict)


def _values(options: Any) -> tuple[str, ...]:
    """Values of a setting, which may stand in groups `{group, options: [...]}`."""
    flat = _ids(options, "value")
    groups = [as_dict(item).get("options") for item in as_list(options)]
    return flat + tuple(value for group in groups for value in _ids(group, "value"))


def _ids(items: Any, key: str) -> tuple[str, ...]:
    return tuple(as_dict(item)[key] for item in as_list(items) if as_text(as_dict(item).get(key)))
