"""Finding Claude Code on this machine, and asking it for its version and its sign-in.

Owns nothing. The native program is preferred to the scripts that a package manager puts on the
PATH: it needs no runtime, and signals reach it and not a wrapper. Looked at, in this order: the
agent's own `command`, the PATH, the places where its installers put it. The counterpart is
`claude_driver.py`.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from groupx_server.agents.base import AgentSpec
from groupx_server.agents.clock import Clock
from groupx_server.agents.jsonrpc import parse_json
from groupx_server.agents.loose import as_dict
from groupx_server.agents.process import AgentProcess, ProcessEnd
from groupx_server.agents.watchdog import Guard
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

PROGRAM: Final = "claude"
MINIMUM_VERSION: Final = (2, 1, 197)
"""The oldest version that was seen working with this driver."""
_USUAL_PLACES: Final = (
    ".local/bin/claude",
    ".claude/local/claude",
    ".npm-global/bin/claude",
    ".bun/bin/claude",
)
_SHARED_PLACES: Final = ("/usr/local/bin/claude", "/opt/homebrew/bin/claude")
_PACKAGE: Final = "claude-code"
_VERSION: Final = re.compile(r"\b(\d{1,4})\.(\d{1,4})\.(\d{1,6})\b[^\n]*Claude Code")
_MAX_OUTPUT_BYTES: Final = 64 * 1024
_INSTALL: Final = (
    "Install it with “npm install -g @anthropic-ai/claude-code”, or name the program in the "
    "agent's `command`."
)


def find_program(name: str, cwd: Path, env: Mapping[str, str]) -> str:
    """The program to start for the first word of an agent's command.

    Raises: AgentError (ADAPTER_START_FAILED) saying where it was looked for.
    """
    if "/" in name:
        found = cwd / name
        if not _is_program(found):
            raise AgentError(f"Claude Code was not found at {found}. {_INSTALL}")
        return _native(found)
    on_path = shutil.which(name, path=env.get("PATH", os.defpath))
    if on_path is not None:
        return _native(Path(on_path))
    home = Path(env.get("HOME") or "/")
    places = [*(home / place for place in _USUAL_PLACES), *map(Path, _SHARED_PLACES)]
    for place in places if name == PROGRAM else []:
        if _is_program(place):
            return _native(place)
    raise AgentError(
        f"Claude Code was not found: there is no program {safe_line(name)} on the PATH, nor in "
        f"{home / '.local/bin'} and the other usual places. {_INSTALL}",
        details={"program": safe_line(name)},
    )


def _native(found: Path) -> str:
    """The native program that belongs to a package manager's script, else what was found."""
    package = next((p for p in found.resolve().parents if p.name == _PACKAGE), None)
    if package is None:
        return str(found)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    target = f"{_PACKAGE}-{'darwin' if sys.platform == 'darwin' else 'linux'}-{machine}"
    beside = (package.parent, package / "node_modules" / package.parent.name)
    candidates = [
        folder / f"{target}{libc}" / PROGRAM for folder in beside for libc in ("", "-musl")
    ]
    return str(next((path for path in candidates if _is_program(path)), found))


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


class _Output:
    """Takes what a short-lived program prints."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.end: ProcessEnd | None = None
        self._pieces: list[bytes] = []
        self._size = 0

    def on_output(self, data: bytes) -> None:
        """Bytes of stdout; only the beginning is kept."""
        if self._size < _MAX_OUTPUT_BYTES:
            self._pieces.append(data[: _MAX_OUTPUT_BYTES - self._size])
            self._size += len(data)

    def on_ended(self, end: ProcessEnd) -> None:
        """The program has ended."""
        self.end = end
        self.ended.set()

    @property
    def text(self) -> str:
        """What was printed."""
        return b"".join(self._pieces).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Inquirer:
    """Asks the program of `spec.argv` short questions, each in a process of its own."""

    spec: AgentSpec
    env: Mapping[str, str]
    guard: Guard
    clock: Clock
    limit_s: float

    async def version(self) -> str:
        """Its version: `2.1.332`. Raises: AgentError (ADAPTER_START_FAILED;
        PROTOCOL_HANDSHAKE_TIMEOUT after `limit_s`)."""
        program = self.spec.argv[0]
        printed, told = await self._ask("--version")
        if printed is None:
            raise AgentError(
                f"{program} did not tell its version within {self.limit_s:g} s. Try “{PROGRAM} "
                "--version” in a terminal; if it is only slow, set `handshake_s` in the agent's "
                "options.",
                code=ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT,
            )
        found = _VERSION.search(printed)
        if found is None:
            said = safe_line(printed) or safe_line(told)
            raise AgentError(
                f"{program} is not Claude Code: asked for its version it said “{said}”. {_INSTALL}"
            )
        _require(program, found)
        return ".".join(found.groups())

    async def needs_sign_in(self) -> bool:
        """True when it says itself that nobody is signed in; its credentials are not looked at."""
        printed, _ = await self._ask("auth", "status")
        try:
            status = parse_json((printed or "").encode())
        except ValueError:
            return False  # it does not know the question
        return as_dict(status).get("loggedIn") is False

    async def _ask(self, *question: str) -> tuple[str | None, str]:
        """What it printed, None when it did not end in time; and why it ended otherwise."""
        output = _Output()
        process = await AgentProcess.spawn(
            [*self.spec.argv, *question],
            cwd=self.spec.cwd,
            env=self.env,
            label=PROGRAM,
            sink=output,
            guard=self.guard,
        )
        try:
            has_ended = await self.clock.wait(output.ended, self.clock.now() + self.limit_s)
        finally:
            await process.stop(0)
        sentence = output.end.sentence if output.end is not None else ""
        return (output.text if has_ended else None), process.stderr_tail() or sentence


def _require(program: str, found: re.Match[str]) -> None:
    """Raises: AgentError when the version is older than this driver can work with."""
    if tuple(int(number) for number in found.groups()) >= MINIMUM_VERSION:
        return
    version = ".".join(found.groups())
    wanted = ".".join(str(number) for number in MINIMUM_VERSION)
    raise AgentError(
        f"Claude Code {version} at {program} is too old; GroupX needs {wanted} or newer. Run "
        f"“{PROGRAM} update”.",
        details={"version": version, "minimum": wanted},
    )
