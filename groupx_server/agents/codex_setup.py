"""How Codex is started and its threads are opened so that they work unasked, as data.

Pure. `CodexOptions` reads the agent's options strictly (they are ours); `thread_params` makes the
parameters of `thread/start` and `thread/resume`; `require_free` and `require_unrestricted` raise
only on explicit proof that a policy forbids this way of working. Argv and parameters are all there
is: Codex's own configuration files are never touched. Counterpart: `codex_driver.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from groupx_server.agents.base import McpEndpoint, SessionRequest
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.option_values import read_seconds, refuse_unknown
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from groupx_shared.text import safe_line

PROGRAM: Final = "codex"
ARGUMENTS: Final = (
    "--dangerously-bypass-hook-trust",
    # no catalogue of plugins and apps from the network, no remote control, no update check
    *("-c", "features.plugins=false"),
    *("-c", "features.apps=false"),
    *("-c", "features.remote_control=false"),
    *("-c", "check_for_update_on_startup=false"),
    "app-server",
)
APPROVALS: Final = "never"
SANDBOX: Final = "danger-full-access"
_SANDBOX_TYPE: Final = "dangerFullAccess"
"""The same sandbox has another spelling in answers."""
SETTLE_S: Final = 0.05
"""A cleaned command's end was seen up to 10 ms after the answer to the cleaning."""
MCP_WAIT_S: Final = 10.0
"""MCP servers of the person's own configuration are waited for so long before the first turn."""
TOOL_TIMEOUT_S: Final = 120
"""Codex's bound on one call of a room tool; tools that wait for other agents wait less."""


@dataclass(frozen=True, slots=True)
class CodexOptions:
    """The agent's options for this driver; every key may be absent."""

    model: str | None = None
    effort: str | None = None
    """Reasoning effort, for Codex's `model_reasoning_effort`."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Configuration of each thread, in the keys of Codex's own configuration."""
    handshake_s: float | None = None
    """Time to start, instead of the general limit."""
    settle_s: float = SETTLE_S
    mcp_wait_s: float = MCP_WAIT_S

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> CodexOptions:
        """Read `AgentSpec.options`. Raises: ConfigError naming the wrong key."""
        refuse_unknown(options, _OPTION_KEYS, "codex")
        config = options.get("config", {})
        if not isinstance(config, Mapping):
            raise ConfigError(f"The option config must be an object, not {config!r}.")
        return cls(
            model=_read_text(options, "model"),
            effort=_read_text(options, "effort"),
            config=config,
            handshake_s=read_seconds(options, "handshake_s", None),
            settle_s=read_seconds(options, "settle_s", SETTLE_S) or 0.0,
            mcp_wait_s=read_seconds(options, "mcp_wait_s", MCP_WAIT_S) or 0.0,
        )


_OPTION_KEYS: Final = frozenset(
    {"model", "effort", "config", "handshake_s", "settle_s", "mcp_wait_s"}
)


def command_line(configured: Sequence[str]) -> list[str]:
    """The whole command: a configured program alone gets our arguments, a longer command is taken
    as it is."""
    if len(configured) > 1:
        return list(configured)
    return [*(configured or [PROGRAM]), *ARGUMENTS]


def thread_params(
    options: CodexOptions, request: SessionRequest, mcp: McpEndpoint | None, thread_id: str = ""
) -> dict[str, Any]:
    """Parameters of `thread/start`, or of `thread/resume` when `thread_id` is given (a resumed
    thread forgets what it was started with). The room's bearer goes in here and never on a
    command line."""
    config = dict(options.config)
    if options.effort is not None:
        config["model_reasoning_effort"] = options.effort
    if mcp is not None:
        config["mcp_servers"] = {**as_dict(config.get("mcp_servers")), mcp.name: _server(mcp)}
    params: dict[str, Any] = {
        "cwd": str(request.cwd.absolute()),
        "approvalPolicy": APPROVALS,
        "sandbox": SANDBOX,
    }
    if config:
        params["config"] = config
    if options.model is not None:
        params["model"] = options.model
    return {"threadId": thread_id, "excludeTurns": True, **params} if thread_id else params


def require_free(agent: str, answer: Any) -> None:
    """Check the answer to `configRequirements/read`; null, or anything not understood, is free.

    Raises: AgentError (NATIVE_POLICY_BLOCKED) when a list of what is allowed lacks ours.
    """
    allowed = as_dict(as_dict(answer).get("requirements"))
    for key, wanted in (("allowedApprovalPolicies", APPROVALS), ("allowedSandboxModes", SANDBOX)):
        offered = allowed.get(key)
        if isinstance(offered, list) and wanted not in offered:
            raise _blocked(agent, key, wanted, offered)


def require_unrestricted(agent: str, answer: Any) -> None:
    """Check that an opened thread works as asked. Raises: AgentError (NATIVE_POLICY_BLOCKED) when
    it says otherwise."""
    approvals = as_dict(answer).get("approvalPolicy")
    sandbox = as_text(as_dict(as_dict(answer).get("sandbox")).get("type"))
    if approvals is not None and approvals != APPROVALS:
        raise _blocked(agent, "approvalPolicy", APPROVALS, [approvals])
    if sandbox and sandbox != _SANDBOX_TYPE:
        raise _blocked(agent, "sandbox", SANDBOX, [sandbox])


def _server(mcp: McpEndpoint) -> dict[str, Any]:
    return {
        "url": mcp.url,
        "http_headers": {"Authorization": f"Bearer {mcp.token}"},
        "required": True,  # the first turn has the tools, or the thread is not opened
        "tool_timeout_sec": TOOL_TIMEOUT_S,
    }


def _blocked(agent: str, what: str, wanted: str, found: list[Any]) -> AgentError:
    shown = ", ".join(safe_line(str(item), 60) for item in as_list(found)[:12]) or "nothing"
    return AgentError(
        f"A policy of {agent} forbids working without asking: {what} allows {shown}, GroupX needs "
        f"“{wanted}”. Ask who manages Codex on this machine.",
        code=ErrorCode.NATIVE_POLICY_BLOCKED,
        details={"setting": what, "wanted": wanted},
    )


def _read_text(options: Mapping[str, Any], key: str) -> str | None:
    value = options.get(key)
    if value is not None and (not isinstance(value, str) or not value):
        raise ConfigError(f"The option {key} must be a text, not {value!r}.")
    return value
