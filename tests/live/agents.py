"""How each agent program is pointed at the fake model: environment and files of a private home.

Pure data and text. Nothing here makes an agent work unasked or tolerant: that is the business of
the presets and drivers under test, which run with their own argv. The counterpart is `rooms.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from live.programs import PROGRAMS, Program

_OPENCODE_MODEL: Final = {
    "name": "Fake",
    "reasoning": True,
    "tool_call": True,
    "limit": {"context": 200_000, "output": 8_192},
}


@dataclass(frozen=True, slots=True)
class Pointing:
    """What makes one agent use the fake model."""

    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Path below the agent's home, and text."""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveAgent:
    """One agent of the live tests."""

    name: str
    point: Callable[[str, Path], Pointing]
    """Takes the URL of the fake model and the agent's home."""
    resumes_in_same_minute: bool = True
    """False: it overwrites a session that it loads in the minute in which it opened it."""
    takes_tools: bool = True
    """False: it has no use for tools that a client brings."""

    @property
    def program(self) -> Program:
        return PROGRAMS[self.name]

    def settings(self, url: str, home: Path, mark: str) -> dict[str, Any]:
        """The agent's entry in a workspace's config; writes the files of its home. `mark` goes
        into the environment of all its processes."""
        pointing = self.point(url, home)
        for name, text in pointing.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return {
            "driver": self.name,
            "env": {
                **_own_folders(home),
                "PATH": self.program.search_path,
                MARK: mark,
                **pointing.env,
            },
            "options": dict(pointing.options),
        }


MARK: Final = "LIVE_TEST_MARK"
"""Variable by which processes of a test are found, wherever they went."""
_XDG: Final = ("CONFIG", "DATA", "STATE", "CACHE")


def _own_folders(home: Path) -> dict[str, str]:
    """A home, and no way to the person's own files."""
    folders = {f"XDG_{kind}_HOME": str(home / f"xdg-{kind.lower()}") for kind in _XDG}
    return {"HOME": str(home), "TMPDIR": str(home / "tmp"), **folders}


def _codex_config(url: str) -> str:
    return f"""
model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
[model_providers.fake]
name = "Fake"
base_url = "{url}/v1"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
[analytics]
enabled = false
"""


def _codex(url: str, home: Path) -> Pointing:
    folder = home / ".codex"
    files = {".codex/config.toml": _codex_config(url)}
    return Pointing(env={"CODEX_HOME": str(folder)}, files=files)


def _claude(url: str, home: Path) -> Pointing:
    env = {
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_MAX_RETRIES": "1",
    }
    return Pointing(env=env)


def _claude_agent_acp(url: str, home: Path) -> Pointing:
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return Pointing(env={**_claude(url, home).env, **quiet})


def _gemini(url: str, home: Path) -> Pointing:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }
    env = {
        "GEMINI_API_KEY": "none",
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GOOGLE_GEMINI_BASE_URL": url,
    }
    return Pointing(env=env, files={".gemini/settings.json": json.dumps(settings)})


def _kimi(url: str, home: Path) -> Pointing:
    env = {
        "KIMI_MODEL_NAME": "fake-model",
        "KIMI_MODEL_API_KEY": "none",
        "KIMI_MODEL_BASE_URL": f"{url}/v1",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_CAPABILITIES": "thinking,tool_use",
        "KIMI_DISABLE_TELEMETRY": "1",
        "KIMI_LOOP_MAX_RETRIES_PER_STEP": "1",
    }
    return Pointing(env=env)


def _opencode(url: str, home: Path) -> Pointing:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"fake-model": _OPENCODE_MODEL},
    }
    config = {
        "provider": {"fake": provider},
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "autoupdate": False,
    }
    env = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
    env["OPENCODE_DISABLE_DEFAULT_PLUGINS"] = "1"
    return Pointing(env=env, files={"xdg-config/opencode/opencode.json": json.dumps(config)})


def _copilot(url: str, home: Path) -> Pointing:
    env = {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "fake-model",
        "COPILOT_OFFLINE": "true",
    }
    return Pointing(env=env)


def _qwen(url: str, home: Path) -> Pointing:
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    env = {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": "fake-model",
    }
    return Pointing(env=env, files={".qwen/settings.json": json.dumps(settings)})


def _hermes(url: str, home: Path) -> Pointing:
    config = f"""
model:
  default: fake-model
  provider: custom
  base_url: {url}/v1
  api_key: none
  context_length: 200000
"""
    return Pointing(
        env={"HERMES_HOME": str(home / ".hermes")}, files={".hermes/config.yaml": config}
    )


def _vibe(url: str, home: Path) -> Pointing:
    config = f"""
active_model = "fake"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
[[providers]]
name = "fake"
api_base = "{url}/v1"
api_key_env_var = "FAKE_API_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "fake-model"
provider = "fake"
alias = "fake"
"""
    env = {"VIBE_HOME": str(home / ".vibe"), "FAKE_API_KEY": "none"}
    return Pointing(env=env, files={".vibe/config.toml": config})


def _goose(url: str, home: Path) -> Pointing:
    env = {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "fake-model",
        "OPENAI_HOST": url,
        "OPENAI_API_KEY": "none",
        "GOOSE_DISABLE_KEYRING": "1",
    }
    return Pointing(env=env)


def _cline(url: str, home: Path) -> Pointing:
    settings = {
        "provider": "openai-compatible",
        "apiKey": "none",
        "model": "fake-model",
        "baseUrl": f"{url}/v1",
    }
    provider = {
        "settings": settings,
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "tokenSource": "manual",
    }
    providers = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
    }
    file = ".cline/data/settings/providers.json"
    env = {"CLINE_API_KEY": "none", "CLINE_PROVIDER": "openai-compatible"}
    return Pointing(env=env, files={file: json.dumps(providers)})


def _grok(url: str, home: Path) -> Pointing:
    config = f"""
[models]
default = "fake"
[model.fake]
model = "fake-model"
base_url = "{url}/v1"
api_key = "none"
context_window = 200000
"""
    folder = home / ".grok"
    return Pointing(env={"GROK_HOME": str(folder)}, files={".grok/config.toml": config})


AGENTS: Final = {
    agent.name: agent
    for agent in (
        LiveAgent("codex", _codex),
        LiveAgent("claude", _claude),
        LiveAgent("codex-acp", _codex),
        LiveAgent("claude-agent-acp", _claude_agent_acp),
        LiveAgent("gemini", _gemini, resumes_in_same_minute=False),
        LiveAgent("kimi", _kimi),
        LiveAgent("opencode", _opencode),
        LiveAgent("copilot", _copilot),
        LiveAgent("qwen", _qwen),
        LiveAgent("goose", _goose),
        LiveAgent("cline", _cline, takes_tools=False),
        LiveAgent("grok", _grok),
        LiveAgent("hermes", _hermes),
        LiveAgent("vibe", _vibe),
    )
}
