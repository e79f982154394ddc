"""Known agent programs as data: what to start, with which environment, and how it works unasked.

A preset is a name for the `acp` driver with these values; what the settings of an agent say goes
over it. Only argv, environment and protocol: the programs' own configuration files are never
touched. `docs/ADAPTERS.md` says which of them were seen running, and where each differs.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from groupx_server.agents.base import AgentSpec

_SLOW_START: Final = {"handshake_s": 60.0}
"""Runtimes that need 2-5 s of processor time to start, on a busy machine many times that."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One agent program."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    root_env: Mapping[str, str] = field(default_factory=dict)
    """For root only: whoever runs GroupX as root says that this machine is a sandbox."""
    random_env: tuple[str, ...] = ()
    """Variables that get a fresh secret at each start (passwords of ports it opens itself)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """See `acp_setup.AcpOptions`."""


PRESETS: Final[Mapping[str, Preset]] = {
    "kimi": Preset(
        argv=("kimi", "acp"),
        env={"KIMI_CODE_NO_AUTO_UPDATE": "1"},
        options={"mode_id": ["yolo", "auto"], **_SLOW_START},
    ),
    "hermes": Preset(
        argv=("hermes", "--yolo", "acp"),
        options={
            "mode_id": "dont_ask",
            "assume_http_mcp": True,
            "session_id_path": ["_meta", "hermes", "sessionProvenance", "acpSessionId"],
            "lost_patterns": [r"Queued for the next turn\. \(\d+ queued\)\s*"],
            **_SLOW_START,
        },
    ),
    "gemini": Preset(
        argv=("gemini", "--acp"),
        env={"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        options={"mode_id": "yolo", **_SLOW_START},
    ),
    "opencode": Preset(
        argv=("opencode", "acp"),
        env={
            "OPENCODE_CONFIG_CONTENT": '{"permission":"allow","share":"disabled"}',
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        },
        random_env=("OPENCODE_SERVER_PASSWORD",),
        options=_SLOW_START,
    ),
    "qwen": Preset(argv=("qwen", "--acp"), options={"mode_id": "yolo", **_SLOW_START}),
    "claude-agent-acp": Preset(
        argv=("claude-agent-acp",),
        env={"ENABLE_TOOL_SEARCH": "false", "DISABLE_AUTOUPDATER": "1"},
        root_env={"IS_SANDBOX": "1"},
        options={"mode_id": "bypassPermissions"},
    ),
    "codex-acp": Preset(
        argv=("codex-acp",),
        options={
            "mode_id": "full-access",
            "close_grace_s": 0,
            "aside_patterns": [r"Model metadata for `[^`]*` not found\."],
        },
    ),
    "copilot": Preset(
        argv=("copilot", "--acp", "--no-auto-update"),
        options={
            "config_options": [{"id": "allow_all", "value": "on"}],
            "aside_patterns": [r"Info: "],
            **_SLOW_START,
        },
    ),
    "vibe": Preset(
        argv=("vibe-acp",),
        options={"mode_id": "auto-approve", "assume_http_mcp": True, **_SLOW_START},
    ),
    "goose": Preset(
        argv=("goose", "acp"),
        env={"GOOSE_MODE": "auto"},
        options={"mode_id": "auto", **_SLOW_START},
    ),
    "cline": Preset(
        argv=("cline", "--acp"),
        # Else its sessions live in a process of its own that outlives it and listens on a port.
        env={"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_NO_AUTO_UPDATE": "1"},
        options={
            "mode_id": "act",
            "config_options": [{"id": "auto_approve", "value": "true"}],
            **_SLOW_START,
        },
    ),
    "grok": Preset(
        argv=(
            "grok",
            "--no-auto-update",
            "--permission-mode",
            "bypassPermissions",
            "--sandbox",
            "off",
            "--no-plan",
            "agent",
            "--no-leader",  # else its own setting may join a process that others share
            "stdio",
        ),
        options={"tools_ready": "_x.ai/mcp_initialized", **_SLOW_START},
    ),
}


def apply_preset(preset: Preset, spec: AgentSpec) -> AgentSpec:
    """The spec with the preset beneath what its settings say."""
    fresh = {name: secrets.token_urlsafe(24) for name in preset.random_env}
    for_root = preset.root_env if os.geteuid() == 0 else {}
    return replace(
        spec,
        argv=list(spec.argv) or list(preset.argv),
        env={**preset.env, **for_root, **fresh, **spec.env},
        options={**preset.options, **spec.options},
    )
