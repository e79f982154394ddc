"""Running a program for a moment: arguments in, what it printed out; bounded in time and size.

For questions like `--version`. The child is an agent's process like any other: own group, built
environment, covered by the guard; it is gone when this returns. The counterpart is `programs`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from groupx_server.agents.process import AgentProcess, ProcessEnd
from groupx_server.agents.watchdog import Guard

MAX_OUTPUT_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Printed:
    """How it ended. `status` None: not in time. `text` is stdout, then stderr."""

    status: int | None
    text: str


class _Taker:
    """Keeps the beginning of what a program prints."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.status: int | None = None
        self.data = bytearray()

    def on_output(self, data: bytes) -> None:
        """Bytes of stdout."""
        self.data += data[: MAX_OUTPUT_BYTES - len(self.data)]

    def on_ended(self, end: ProcessEnd) -> None:
        """The program has ended."""
        self.status = end.status
        self.ended.set()


async def ask(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], guard: Guard, limit_s: float
) -> Printed:
    """Run `argv` (at least one argument behind the program) for at most `limit_s`.

    Raises: AgentError when it cannot be started.
    """
    if len(argv) < 2:
        raise ValueError("a program is never started without arguments")
    taker = _Taker()
    process = await AgentProcess.spawn(
        argv, cwd=cwd, env=env, label=argv[0], sink=taker, guard=guard
    )
    try:
        async with asyncio.timeout(limit_s):
            await taker.ended.wait()
        status = taker.status
    except TimeoutError:
        status = None
    finally:
        await process.stop(0)
    printed = bytes(taker.data).decode("utf-8", "replace")
    return Printed(status, f"{printed}\n{process.stderr_tail()}".strip())
