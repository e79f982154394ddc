"""The server is killed at each named point of a turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.crash_day import IN_A_TURN, kill_and_repeat


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("point", IN_A_TURN)
def test_a_kill_in_a_turn_sends_it_at_most_once_and_ends_it(tmp_path: Path, point: str) -> None:
    kill_and_repeat(tmp_path, point)
