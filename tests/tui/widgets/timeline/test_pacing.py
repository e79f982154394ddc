"""Frames: the first at once, then paced, none when nothing changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupx_tui.widgets.timeline.pacing import (
    LOCAL_FPS,
    MAX_LOAD,
    REMOTE_FPS,
    FramePacer,
    frames_per_second,
)


class Stage:
    """A clock, timers and a drawing that takes time."""

    def __init__(self, fps: int = 10) -> None:
        self.now = 0.0
        self.frames: list[float] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        self.cost_s = 0.0
        self.taken_s = 0.0
        """By other programs, in the middle of a frame."""
        self.worked = 0.0
        self.pacer = FramePacer(self._draw, self._later, lambda: self.now, fps, lambda: self.worked)

    def _draw(self) -> None:
        self.frames.append(round(self.now, 3))
        self.now += self.cost_s + self.taken_s
        self.worked += self.cost_s

    def _later(self, delay_s: float, callback: Callable[[], None]) -> None:
        self.timers.append((self.now + delay_s, callback))

    def run_until(self, end: float) -> None:
        while self.timers and min(self.timers, key=lambda timer: timer[0])[0] <= end:
            at, callback = min(self.timers, key=lambda timer: timer[0])
            self.timers.remove((at, callback))
            self.now = max(self.now, at)
            callback()
        self.now = max(self.now, end)


def test_the_first_change_is_drawn_at_once() -> None:
    stage = Stage()
    stage.pacer.request()
    assert stage.frames == [0.0]
    assert stage.timers == []


def test_changes_close_together_share_the_next_frame() -> None:
    stage = Stage(fps=10)
    for at in (0.0, 0.01, 0.02, 0.03):
        stage.run_until(at)
        stage.pacer.request()
    assert len(stage.timers) == 1
    stage.run_until(1)
    assert stage.frames == [0.0, 0.1]


def test_nothing_is_drawn_and_no_timer_runs_while_nothing_changes() -> None:
    stage = Stage()
    stage.pacer.request()
    stage.run_until(60)
    assert (stage.frames, stage.timers) == ([0.0], [])
    stage.pacer.request()
    assert stage.frames == [0.0, 60.0]


def test_slow_frames_are_drawn_more_rarely() -> None:
    stage = Stage(fps=30)
    stage.cost_s = 0.1
    stage.pacer.request()
    stage.pacer.request()
    stage.run_until(2)
    assert stage.frames == [0.0, round(0.1 / MAX_LOAD, 3)]


def test_what_other_programs_take_from_a_frame_does_not_delay_the_next() -> None:
    stage = Stage(fps=30)
    stage.cost_s, stage.taken_s = 0.002, 0.1
    stage.pacer.request()
    stage.pacer.request()
    assert stage.frames == [0.0, 0.102]


@pytest.mark.parametrize("sign", ["SSH_CONNECTION", "SSH_TTY", "TMUX", "STY"])
def test_remote_terminals_get_fewer_frames(sign: str) -> None:
    assert frames_per_second({sign: "x"}) == REMOTE_FPS
    assert frames_per_second({sign: ""}) == LOCAL_FPS
    assert frames_per_second({}) == LOCAL_FPS
