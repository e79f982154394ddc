"""Fail points: nothing without the variable, SIGKILL with it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from groupx_server.ledger import failpoints
from groupx_server.ledger.failpoints import VARIABLE, failpoint

PASSES = """
from groupx_server.ledger.failpoints import failpoint
for number in range(3):
    failpoint("other")
    failpoint("here")
    print(number, flush=True)
"""


def run(setting: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    if setting is not None:
        environment[VARIABLE] = setting
    return subprocess.run(
        [sys.executable, "-c", PASSES],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.process
@pytest.mark.parametrize(
    ("setting", "printed", "code"),
    [
        (None, "0\n1\n2\n", 0),
        ("elsewhere", "0\n1\n2\n", 0),
        ("here", "", -9),
        ("here:1", "", -9),
        ("here:3", "0\n1\n", -9),
        ("here:4", "0\n1\n2\n", 0),
    ],
)
def test_process_is_killed_at_the_named_pass(setting: str | None, printed: str, code: int) -> None:
    done = run(setting)
    assert (done.stdout, done.returncode) == (printed, code)


@pytest.mark.process
@pytest.mark.parametrize("setting", ["here:0", "here:x", "here:-1"])
def test_setting_that_means_nothing_is_refused(setting: str) -> None:
    done = run(setting)
    assert done.returncode == 1
    assert "expected NAME or NAME:N" in done.stderr


def test_no_point_is_armed_in_this_process() -> None:
    assert failpoints._armed is None
    failpoint("writer.before_commit")
