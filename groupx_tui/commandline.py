"""Commands of `groupx` run for the window: doctor, backups, logs; what they print is shown.

Invariants: a command runs in a process group of its own that ends with it, is given no input and
a bounded time, and what it prints is cleaned and bounded. Counterpart: `groupx_tui.cli`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from groupx_shared.errors import GroupXError
from groupx_shared.text import clip_text, safe_text
from groupx_shared.workspace import Workspace

PATIENCE_S: Final = 120.0
"""A doctor that starts every agent as a trial; a backup of a large ledger."""
MAX_CHARS: Final = 200_000


class Commands(Protocol):
    """Runs a command and returns what it printed."""

    @property
    def config_path(self) -> Path | None:
        """The settings file of the workspace; None when that is elsewhere."""
        ...

    async def run(self, words: Sequence[str]) -> str: ...


class CommandLine:
    """The commands of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def config_path(self) -> Path | None:
        """The settings file; it may not exist yet."""
        return self._workspace.config_path

    async def run(self, words: Sequence[str]) -> str:
        """Run `groupx WORDS` and return what it printed, errors too. Raises: GroupXError when it
        does not end in time."""
        process = await asyncio.create_subprocess_exec(
            *self._command(words),
            cwd=self._workspace.root if self._workspace.root.is_dir() else None,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1"},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(PATIENCE_S):
                printed, _ = await process.communicate()
        except TimeoutError as error:
            raise GroupXError(
                f"“groupx {' '.join(words)}” did not end within {PATIENCE_S:.0f} s; it was stopped."
            ) from error
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return clip_text(safe_text(printed.decode("utf-8", "replace")), MAX_CHARS)

    def _command(self, words: Sequence[str]) -> list[str]:
        where = [] if self._workspace.is_default else ["--config", str(self._workspace.config_path)]
        return [sys.executable, "-m", "groupx_tui.cli", *where, *words]


class NoCommands:
    """Where there is no workspace: nothing can be run."""

    config_path: Path | None = None

    async def run(self, words: Sequence[str]) -> str:
        """Raises: GroupXError."""
        raise GroupXError("The server is elsewhere: run this command on its machine.")
