"""The server is killed at each named point of starts, files, commands and commits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.crash_day import IN_A_TURN, POINTS, kill_and_repeat

SOURCE = Path(__file__).parents[2] / "groupx_server"
ELSEWHERE = [point for point in POINTS if point not in IN_A_TURN]


def test_every_point_of_the_program_is_in_the_table() -> None:
    named = {
        name
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r'failpoint\("([a-z_.]+)"\)', path.read_text("utf-8"))
    }
    assert named == {point.partition(":")[0] for point in POINTS}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("point", ELSEWHERE)
def test_a_kill_loses_doubles_and_disorders_nothing(tmp_path: Path, point: str) -> None:
    kill_and_repeat(tmp_path, point)
