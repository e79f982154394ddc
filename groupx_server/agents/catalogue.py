"""The agent programs GroupX knows, as data: how to find, install and sign in to each.

What is started stands in `presets` (and in the drivers of Claude Code and Codex); this is what a
person needs before that. Install lines and sign-in are the vendors' own; `seen` is the version that
was seen working here, not a lower bound. The counterpart is `programs`, which looks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_NODE: Final = "Node 22 or newer"
"""On an older Node, npm silently installs an old version of several of these."""


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """One agent program."""

    driver: str
    """Its driver or preset; also the usual id in a config."""
    name: str
    program: str
    """What is looked for on PATH and in the usual places; started only as its driver says, or with
    `--version`."""
    install: str
    """The command line; empty: as its makers say."""
    login: str
    """What a person does when it says that nobody is signed in; a sentence."""
    packages: tuple[str, ...] = ()
    """npm and PyPI packages that bring the program: their metadata tells the version."""
    seen: str = ""
    """Version seen working; empty: none was (see `is_verified`)."""
    minimum: tuple[int, ...] = ()
    """The oldest that was seen working, where an older one was seen failing; empty: none was."""
    runtime: str = ""
    places: tuple[str, ...] = ()
    """Folders of its own installer, below the home folder."""
    native: str = ""
    """Where npm puts the native program, below `node_modules`; `{target}` is like `linux-x64`. It
    is started instead of the package's script, which fails where npm ran no install scripts."""
    retired: Mapping[str, str] | None = None
    """Packages that bring a program of the same name which must not be started, and why."""

    @property
    def is_verified(self) -> bool:
        """Whether it was seen working; otherwise all of this is from its documentation."""
        return bool(self.seen)


KNOWN_AGENTS: Final = (
    KnownAgent(
        "codex",
        "Codex",
        "codex",
        "npm install -g @openai/codex",
        "Run “codex login”, or give it a key as its own documentation says.",
        packages=("@openai/codex",),
        seen="0.171.0",
        minimum=(0, 143, 0),
    ),
    KnownAgent(
        "claude",
        "Claude Code",
        "claude",
        "npm install -g @anthropic-ai/claude-code",
        "Run “claude” once and sign in, or put ANTHROPIC_API_KEY into the agent's `env`.",
        packages=("@anthropic-ai/claude-code",),
        seen="2.1.332",
        minimum=(2, 1, 197),
        places=(".claude/local",),
    ),
    KnownAgent(
        "kimi",
        "Kimi Code",
        "kimi",
        "npm install -g @moonshot-ai/kimi-code",
        "Run “kimi login”.",
        packages=("@moonshot-ai/kimi-code",),
        seen="2.1.0",
        runtime="Node 22.19 or newer",
        retired={
            "kimi-cli": "kimi-cli is retired by its makers (without arguments it runs an installer)"
        },
    ),
    KnownAgent(
        "hermes",
        "Hermes",
        "hermes",
        "uv tool install 'hermes-agent[acp,mcp]'",
        "Run “hermes setup” (the first time) or “hermes model”.",
        packages=("hermes-agent",),
        seen="0.19.0",
    ),
    KnownAgent(
        "gemini",
        "Gemini CLI",
        "gemini",
        "npm install -g @google/gemini-cli",
        "Run “gemini” once and choose a sign-in, or put GEMINI_API_KEY into the agent's `env`.",
        packages=("@google/gemini-cli",),
        seen="0.61.0",
        minimum=(0, 37, 2),
    ),
    KnownAgent(
        "opencode",
        "OpenCode",
        "opencode",
        "npm install -g opencode-ai",
        "Run “opencode auth login”.",
        packages=("opencode-ai",),
        seen="1.18.33",
        native="opencode-{target}/bin/opencode",
        places=(".opencode/bin",),
    ),
    KnownAgent(
        "copilot",
        "GitHub Copilot CLI",
        "copilot",
        "npm install -g @github/copilot",
        "Run “copilot login”.",
        packages=("@github/copilot",),
        seen="1.0.102",
    ),
    KnownAgent(
        "qwen",
        "Qwen Code",
        "qwen",
        "npm install -g @qwen-code/qwen-code",
        "Run “qwen” once and use /auth, or put OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL "
        "into the agent's `env`.",
        packages=("@qwen-code/qwen-code",),
        seen="0.24.4",
        runtime=_NODE,
    ),
    KnownAgent(
        "vibe",
        "Mistral Vibe",
        "vibe-acp",
        "uv tool install mistral-vibe",
        "Run “vibe” once and follow it, or put MISTRAL_API_KEY into the agent's `env`.",
        packages=("mistral-vibe",),
        seen="3.0.2",
        runtime="Python 3.12 or newer",
    ),
    KnownAgent(
        "claude-agent-acp",
        "Claude Code over ACP",
        "claude-agent-acp",
        "npm install -g @agentclientprotocol/claude-agent-acp",
        "Run “claude” once and sign in, or put ANTHROPIC_API_KEY into the agent's `env`.",
        packages=("@agentclientprotocol/claude-agent-acp",),
        seen="0.101.0",
        runtime=_NODE,
    ),
    KnownAgent(
        "codex-acp",
        "Codex over ACP",
        "codex-acp",
        "npm install -g @zed-industries/codex-acp",
        "Run “codex login”, or put CODEX_API_KEY or OPENAI_API_KEY into the agent's `env`.",
        packages=("@zed-industries/codex-acp",),
        seen="0.16.0",
    ),
    KnownAgent(
        "goose",
        "Goose",
        "goose",
        "npm install -g @aaif/goose-acp",
        "Run “goose configure”, or put GOOSE_PROVIDER, GOOSE_MODEL and the provider's key into the "
        "agent's `env`.",
        packages=("@aaif/goose-acp",),
        seen="1.50.0",
        native="@aaif/goose-binary-{target}/bin/goose",
        retired={"goose-cli": "goose-cli migrates databases"},
    ),
    KnownAgent(
        "cline",
        "Cline",
        "cline",
        "npm install -g cline",
        "Run “cline auth” and sign in with Cline or ChatGPT; for another provider, put "
        "CLINE_API_KEY and CLINE_PROVIDER into the agent's `env` as well.",
        packages=("cline",),
        seen="3.0.65",
        native="@cline/cli-{target}/bin/cline",
    ),
    KnownAgent(
        "grok",
        "Grok",
        "grok",
        "npm install -g @xai-official/grok",
        "Run “grok login”, or put XAI_API_KEY into the agent's `env`.",
        packages=("@xai-official/grok",),
        seen="1.0.41",
        places=(".grok/bin",),
        retired={"@vibe-kit/grok-cli": "@vibe-kit/grok-cli is not its makers' and knows no ACP"},
    ),
)
"""In the order in which they are listed."""

_BY_DRIVER: Final = {known.driver: known for known in KNOWN_AGENTS}


def known_agent(driver: str) -> KnownAgent | None:
    """What is known of a driver's program; None for `acp`, `builtin` and unknown names."""
    return _BY_DRIVER.get(driver)
