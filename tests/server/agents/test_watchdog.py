"""No agent outlives the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.agents.watchdog import Watchdog
from server.agents.kit import SCRIPT, is_running, until

pytestmark = pytest.mark.process
WAIT = [sys.executable, "-S", "-c", "import signal; signal.pause()"]

SERVER = """
import asyncio, os, sys
from pathlib import Path
from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.base import AgentSpec
from groupx_server.agents.watchdog import Watchdog

async def main():
    watchdog = Watchdog()
    spec = AgentSpec("agent:toy", "acp", sys.argv[2:], Path(sys.argv[1]),
                     {"SCRIPTED_LOG": sys.argv[1] + "/log.jsonl"})
    driver = AcpDriver(spec, watchdog)
    await driver.start()
    print(driver.pid, watchdog.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes in groups of their own, collected at the end."""
    started = [subprocess.Popen(WAIT, start_new_session=True) for _ in range(2)]
    yield started
    for process in started:
        process.kill()
        process.wait()


def _start_server(folder: Path, options: list[str]) -> subprocess.Popen[bytes]:
    agent = [sys.executable, "-S", str(SCRIPT), *options]
    return subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder), *agent],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def _group_of_script(folder: Path) -> int:
    import json

    path = folder / "log.jsonl"
    if not path.exists():
        return 0
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return next((int(entry["pid"]) for entry in entries if entry["what"] == "child"), 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["--start-child"],
        ["--start-child", "--ignore-eof", "--ignore-term"],
        ["--start-stray"],
        ["--start-stray", "--ignore-eof", "--ignore-term"],
    ],
)
async def test_a_killed_server_takes_its_agents_and_their_children_along(
    tmp_path: Path, options: list[str]
) -> None:
    server = _start_server(tmp_path, options)
    assert server.stdout is not None
    with server.stdout:
        agent_pid, watchdog_pid = map(int, server.stdout.readline().split())
    child_pid = _group_of_script(tmp_path)
    assert child_pid > 0
    assert [is_running(pid) for pid in (agent_pid, child_pid, watchdog_pid)] == [True] * 3
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    await until(lambda: not is_running(agent_pid), "the agent is gone")
    await until(lambda: not is_running(child_pid), "the grandchild is gone")
    await until(lambda: not is_running(watchdog_pid), "the watchdog is gone")


async def test_the_closed_pipe_ends_what_is_listed_and_nothing_else(
    sleepers: list[subprocess.Popen[bytes]],
) -> None:
    listed, withdrawn = sleepers
    watchdog = Watchdog()
    watchdog.add(listed.pid)
    watchdog.add(withdrawn.pid)
    watchdog.remove(withdrawn.pid)
    await watchdog.close()
    assert listed.wait(5) == -signal.SIGTERM
    assert withdrawn.poll() is None


async def test_nothing_runs_before_the_first_agent() -> None:
    watchdog = Watchdog()
    watchdog.remove(12345)
    assert watchdog.pid is None
    await watchdog.close()


async def test_signals_to_everybody_do_not_end_the_watchdog(
    sleepers: list[subprocess.Popen[bytes]],
) -> None:
    watchdog = Watchdog()
    watchdog.add(sleepers[0].pid)
    pid = watchdog.pid
    assert pid is not None
    assert os.getsid(pid) == pid
    await until(lambda: "SigIgn" in Path(f"/proc/{pid}/status").read_text(), "it runs")
    await until(lambda: _ignores(pid, signal.SIGTERM), "it ignores TERM")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(pid, number)
    assert is_running(pid)
    await watchdog.close()
    assert sleepers[0].wait(5) == -signal.SIGTERM


async def test_a_killed_watchdog_is_replaced_and_knows_every_group(
    sleepers: list[subprocess.Popen[bytes]],
) -> None:
    first, second = sleepers
    watchdog = Watchdog()
    watchdog.add(first.pid)
    killed = watchdog.pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await until(lambda: not is_running(killed), "it is dead")
    watchdog.add(second.pid)
    assert watchdog.pid != killed
    assert (first.poll(), second.poll()) == (None, None)
    await watchdog.close()
    assert [first.wait(5), second.wait(5)] == [-signal.SIGTERM] * 2


def _ignores(pid: int, number: int) -> bool:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigIgn:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False
