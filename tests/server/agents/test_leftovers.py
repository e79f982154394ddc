"""What a killed server and a killed watchdog left is ended at the next start, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from groupx_server.agents.leftovers import MARK, sweep
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow]

WAIT = [sys.executable, "-c", "import signal; signal.pause()"]


def _start(mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(WAIT, env={**os.environ, MARK: mark}, start_new_session=True)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")  # noqa: PTH112
def test_only_processes_with_this_ledgers_mark_are_ended() -> None:
    ours, other = _start("ledger-a"), _start("ledger-b")
    try:
        eventually(lambda: sweep("ledger-a") != [] or ours.poll() is not None)
        assert ours.wait(5) == -9
        assert other.poll() is None
        assert sweep("ledger-a") == []
    finally:
        for process in (ours, other):
            process.kill()
            process.wait(5)
