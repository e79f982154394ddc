"""A workspace with a running server and scripted agents, for measuring; gone at the end.

Every process is a real one: the server, its agents, the windows. Counterpart: `support`'s
`ServerProcess`, which starts and ends the server.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ledgerfile import ledger_folder
from bench.rows import Size
from bench.wire import Address, Connection, Stream, following
from groupx_shared.runtime import RuntimeFile
from support.server_process import SCRIPTED_AGENT, ServerProcess

SHELF = Path(os.environ.get("GROUPX_BENCH_SHELF", "build/bench"))
"""Where large ledgers are kept from run to run."""
REFUSED = rb"{\"code\""
WARM_TURNS = 20


def bench_config(*agents: str, settle: bool = True, **more: Any) -> dict[str, Any]:
    """Scripted agents, no backups meanwhile, no limits in the way."""

    def agent(name: str) -> dict[str, Any]:
        return {
            "driver": "acp",
            "name": name.title(),
            "command": {"executable": sys.executable, "args": [str(SCRIPTED_AGENT), "--http-mcp"]},
            "options": {} if settle else {"settle_s": 0},
        }

    return {
        "agents": {name: agent(name) for name in agents or ("bot",)},
        "storage": {"backups": {"enabled": False}},
        "limits": {"queuePerAgent": 10_000, **more.pop("limits", {})},
        **more,
    }


@dataclass
class Site:
    """One running server."""

    server: ServerProcess
    runtime: RuntimeFile

    @property
    def pid(self) -> int:
        """Of the server."""
        return self.runtime.pid

    @property
    def address(self) -> Address:
        """Where it listens."""
        return Address.of(self.runtime.url, self.runtime.token)

    async def turn(
        self, stream: Stream, connection: Connection, script: str = "[[say ok]]", to: str = "bot"
    ) -> TurnTimes:
        """Have one turn done; the stream must follow already."""
        begun = time.perf_counter()
        await connection.send(script, (to,))
        claimed = await stream.until("turn.dispatched")
        first = await stream.until("turn.content.delta")
        ended = await stream.until("turn.completed")
        if REFUSED in first.data:
            raise RuntimeError(f"a tool refused: {first.data[-300:]!r}")
        return TurnTimes(*(1000 * (at - begun) for at in (claimed.at, first.at, ended.at)))


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """Milliseconds from sending to each step, as a client sees it."""

    claimed: float
    first_delta: float
    ended: float


@contextmanager
def running(folder: Path, config: dict[str, Any] | None = None) -> Iterator[Site]:
    """Start a server on a folder (which may hold a ledger), and stop it at the end."""
    server = ServerProcess(folder, config or bench_config())
    try:
        yield Site(server, server.start())
    finally:
        if server.process is not None and server.process.poll() is None:
            server.stop()


@contextmanager
def fresh_site(config: dict[str, Any] | None = None) -> Iterator[Site]:
    """A server on an empty ledger in a folder of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="groupx-bench-") as name,
        running(Path(name), config) as site,
    ):
        yield site


@contextmanager
def filled_folder(size: Size, which: int) -> Iterator[Path]:
    """A folder with a ledger of `size.sizes[which]` events."""
    if size.is_quick:
        with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
            yield ledger_folder(size.sizes[which], Path(name))
    else:
        yield ledger_folder(size.sizes[which], SHELF.resolve(), tell)


def tell(text: str) -> None:
    """Progress, for whoever waits."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@asynccontextmanager
async def talking(site: Site, query: str = "") -> AsyncIterator[tuple[Stream, Connection]]:
    """A stream and a connection to a server."""
    async with following(site.address, query) as stream, Connection(site.address) as connection:
        yield stream, connection


async def warm(size: Size, site: Site, stream: Stream, connection: Connection) -> None:
    """Have some turns done, so that what is loaded with the first of them is loaded."""
    for _ in range(size.of(WARM_TURNS, 1)):
        await site.turn(stream, connection)
    if not size.is_quick:
        await asyncio.sleep(1)
