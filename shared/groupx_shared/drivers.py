"""Names of the drivers, for completion and for who must guess one. Standard library only.

The server's registry is the truth; a test holds the two together.
"""

from __future__ import annotations

from typing import Final

VENDOR_DRIVERS: Final = (
    "codex",
    "claude",
    "kimi",
    "hermes",
    "gemini",
    "opencode",
    "copilot",
    "qwen",
    "vibe",
    "claude-agent-acp",
    "codex-acp",
    "goose",
    "cline",
    "grok",
)
"""Each starts one vendor's program; also the usual id of such an agent."""
DRIVERS: Final = (*VENDOR_DRIVERS, "acp", "builtin")
