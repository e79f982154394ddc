"""Process groups are ended whole, and zombies do not count."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from groupx_server.agents.process_group import end_groups, group_is_alive, signal_group

pytestmark = pytest.mark.process
WAIT = [sys.executable, "-S", "-c", "import signal; signal.pause()"]


def test_a_group_that_is_gone_already_is_no_error() -> None:
    process = subprocess.Popen(WAIT, start_new_session=True)
    process.kill()
    process.wait()
    end_groups({process.pid})
    assert signal_group(process.pid, 0) is False


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen(WAIT, start_new_session=True)
    assert group_is_alive(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    still_listed = signal_group(process.pid, 0)
    assert (still_listed, group_is_alive(process.pid)) == (True, False)
    process.wait()


def test_the_groups_end_by_term_when_they_let_it() -> None:
    process = subprocess.Popen(WAIT, start_new_session=True)
    end_groups({process.pid})
    assert process.wait(5) == -signal.SIGTERM


@pytest.mark.parametrize("pgid", [0, 1, -5])
def test_our_own_group_and_the_systems_are_never_signalled(pgid: int) -> None:
    assert signal_group(pgid, signal.SIGKILL) is False
