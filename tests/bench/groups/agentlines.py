"""What an agent program prints: goal 21. The floor reads lines and looks at none of them.

Both sides read the same pipe of a real child. Ours splits, parses and routes each line to the
turn that it belongs to.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.rows import Figure, Put, Row, Size, most, times
from bench.sampling import in_turns_async, p50
from groupx_server.agents.acp import AcpClient
from groupx_server.agents.framing import LineSplitter, OverlongLine
from groupx_server.agents.jsonrpc import JsonRpcPeer

LINES = 100_000
FLOOR = "asyncio readline, unparsed"
SESSION = "session-1"
PATIENCE_S = 60.0

ROWS = (
    Row("lines", "agent line, split and parsed, CPU", "µs", times(1.5), times(1.2), FLOOR),
    Row("lines-acp", "agent line, up to the turn's event, CPU", "µs", times(3), times(2), FLOOR),
    Row("line-taken", "a line of 16 MB, from the pipe to JSON", "ms", most(2_000), most(500)),
    Row("line-refused", "a line above the limit, bytes kept", "B", most(0), None),
)

PROGRAM = """
import sys
line = {line!r}
for _ in range({count} // 1000):
    sys.stdout.buffer.write(line * 1000)
"""


def _line(text: str) -> bytes:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": SESSION, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(message).encode() + b"\n"


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    count = max(1_000, size.of(LINES) // 1000 * 1000)
    program = PROGRAM.format(line=_line("x" * 50), count=count)
    found = await in_turns_async(
        size.rounds,
        {
            "floor": lambda: _read_lines(program, count),
            "ours": lambda: _feed(program, count, _parser()),
            "acp": lambda: _feed(program, count, _client()),
        },
    )
    put("lines", Figure(p50(found["ours"]), p50(found["floor"])))
    put("lines-acp", Figure(p50(found["acp"]), p50(found["floor"])))
    await _long_lines(size, put)


async def _child(program: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )


async def _read_lines(program: str, count: int) -> float:
    """CPU of this process a line, in µs."""
    process = await _child(program)
    assert process.stdout is not None
    begun = time.process_time()
    async with asyncio.timeout(PATIENCE_S):
        for _ in range(count):
            await process.stdout.readline()
    used = time.process_time() - begun
    await process.wait()
    return used / count * 1e6


class _Output(asyncio.SubprocessProtocol):
    """Gives what comes to a splitter, and its lines to whoever takes them, as a driver does."""

    def __init__(self, count: int, take: Callable[[bytes], object]) -> None:
        self._take = take
        self._splitter = LineSplitter()
        self._left = count
        self.has_all = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        for line in self._splitter.feed(data):
            self._left -= 1
            if isinstance(line, bytes):
                self._take(line)
        if self._left <= 0:
            self.has_all.set()


def _parser() -> Callable[[bytes], Any]:
    return JsonRpcPeer().receive


def _client() -> Callable[[bytes], Any]:
    client = AcpClient("bench")
    client.adopt(SESSION)
    client.prompt(SESSION, "go on")
    return client.receive


async def _feed(program: str, count: int, take: Callable[[bytes], Any]) -> float:
    loop = asyncio.get_running_loop()
    begun = time.process_time()
    transport, output = await loop.subprocess_exec(
        lambda: _Output(count, take), sys.executable, "-c", program, stdin=None, stderr=None
    )
    async with asyncio.timeout(PATIENCE_S):
        await output.has_all.wait()
    used = time.process_time() - begun
    transport.close()
    return used / count * 1e6


async def _long_lines(size: Size, put: Put) -> None:
    length = size.of(16_000_000, 100_000)
    program = f"import sys; sys.stdout.buffer.write(b'[\"' + b'x' * {length} + b'\"]\\n')"
    took = []
    for _ in range(size.rounds):
        begun = time.perf_counter()
        await _feed(program, 1, json.loads)
        took.append((time.perf_counter() - begun) * 1000)
    put("line-taken", Figure(p50(took), None, f"{length:,} bytes, start of the child included"))
    splitter, refused = LineSplitter(max_line_bytes=length), False
    for _ in range(20):
        refused |= any(isinstance(x, OverlongLine) for x in splitter.feed(b"x" * (length // 10)))
    if not refused or not splitter.feed(b'\n{"a":1}\n'):
        raise RuntimeError("a line above the limit was not refused, or the next one was lost")
    put(
        "line-refused", Figure(splitter.held_bytes, None, "refused with an error; the next is read")
    )
