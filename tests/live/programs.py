"""The agent programs of the live tests: which version, from which registry, where it lies.

Pure data and paths. Each program has a folder of its own below the cache, named with its version,
so that a new version never mixes with an old one; a program counts as installed when its folder
holds the mark that `install.py` writes last. Tests only look, they never install.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Source = Literal["npm", "pypi"]

_MARK: Final = "installed"
_PLATFORM: Final = f"{'darwin' if sys.platform == 'darwin' else 'linux'}-" + (
    "arm64" if os.uname().machine in ("arm64", "aarch64") else "x64"
)


def cache_folder() -> Path:
    """`GROUPX_LIVE_CACHE`, else `groupx-live` in the user's cache folder."""
    if chosen := os.environ.get("GROUPX_LIVE_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "groupx-live"


CACHE: Final = cache_folder()
"""Read once: tests remove our variables from their environment."""


@dataclass(frozen=True, slots=True)
class Program:
    """One pinned program."""

    name: str
    """As in the tests: the name of its driver or preset."""
    package: str
    version: str
    source: Source
    binary: str
    """The file to start, below its folder."""
    needs_node: bool = False
    """Its script runs with the Node of `NODE`, not with the machine's."""
    python: tuple[int, int] = (3, 11)
    """The oldest Python that it runs with."""
    unpacker: str = ""
    """A script of its package that unpacks the program at its first start, below its folder."""
    unpacks_into: str = ""
    """The variable that tells the unpacker the folder."""

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name}-{self.version}"

    @property
    def mark(self) -> Path:
        """Exists when the installation was completed."""
        return self.folder / _MARK

    @property
    def is_installed(self) -> bool:
        runtime = not self.needs_node or NODE.is_installed
        return runtime and self.mark.is_file() and self.path.exists()

    @property
    def path(self) -> Path:
        """The file to start."""
        return self.folder / self.binary

    @property
    def search_path(self) -> str:
        """A PATH on which the program, and the runtime that it needs, come first."""
        folders = [self.path.parent, *([NODE.path.parent] if self.needs_node else [])]
        return os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)])


NODE: Final = Program(
    "node",
    f"node-{_PLATFORM}",
    "24.21.0",
    "npm",
    f"node_modules/node-{_PLATFORM}/bin/node",
)
"""Several programs need a newer Node than machines have."""


def _npm(
    name: str, package: str, version: str, binary: str = "", needs_node: bool = False
) -> Program:
    script = binary or f"node_modules/.bin/{name}"
    return Program(name, package, version, "npm", script, needs_node)


PROGRAMS: Final = {
    program.name: program
    for program in (
        _npm("codex", "@openai/codex", "0.171.0", needs_node=True),
        _npm("claude", "@anthropic-ai/claude-code", "2.1.332"),
        _npm("codex-acp", "@zed-industries/codex-acp", "0.16.0", needs_node=True),
        _npm(
            "claude-agent-acp",
            "@agentclientprotocol/claude-agent-acp",
            "0.101.0",
            needs_node=True,
        ),
        _npm("gemini", "@google/gemini-cli", "0.61.0", needs_node=True),
        _npm("kimi", "@moonshot-ai/kimi-code", "2.1.0", needs_node=True),
        _npm(
            "opencode",
            "opencode-ai",
            "1.18.33",
            f"node_modules/opencode-{_PLATFORM}/bin/opencode",
        ),
        _npm("copilot", "@github/copilot", "1.0.102", needs_node=True),
        _npm("qwen", "@qwen-code/qwen-code", "0.24.4", needs_node=True),
        _npm(
            "goose",
            "@aaif/goose-acp",
            "1.50.0",
            f"node_modules/@aaif/goose-binary-{_PLATFORM}/bin/goose",
        ),
        _npm("cline", "cline", "3.0.65", f"node_modules/@cline/cli-{_PLATFORM}/bin/cline"),
        Program(
            "grok",
            "@xai-official/grok",
            "1.0.41",
            "npm",
            "bin/grok",
            unpacker="node_modules/.bin/grok",
            unpacks_into="GROK_HOME",
        ),
        Program("hermes", "hermes-agent[acp,mcp]", "0.19.0", "pypi", "bin/hermes"),
        Program("vibe", "mistral-vibe", "3.0.2", "pypi", "bin/vibe-acp", python=(3, 12)),
    )
}
"""In the order of the capability table."""

LIGHT: Final = ("goose", "grok")
"""Native programs, up within a second: quick enough to be run at each change."""
