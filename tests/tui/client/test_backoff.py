"""Pauses double, stay bounded, and differ by chance."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.client.backoff import FIRST_PAUSE_S, JITTER, LONGEST_PAUSE_S, Backoff, Pause


def test_pauses_double_up_to_a_bound() -> None:
    backoff = Backoff(draw=lambda: 0.5)
    assert [backoff.next_pause() for _ in range(8)] == [0.25, 0.5, 1, 2, 3, 3, 3, 3]


def test_a_reset_begins_again() -> None:
    backoff = Backoff(draw=lambda: 0.5)
    backoff.next_pause()
    backoff.next_pause()
    backoff.reset()
    assert backoff.next_pause() == FIRST_PAUSE_S


@given(st.floats(0, 1), st.integers(1, 100))
def test_chance_moves_a_pause_by_a_fifth_at_most(drawn: float, failures: int) -> None:
    backoff, exact = Backoff(draw=lambda: drawn), Backoff(draw=lambda: 0.5)
    for _ in range(failures):
        pause, wanted = backoff.next_pause(), exact.next_pause()
    assert (
        wanted * (1 - JITTER) - 1e-9 <= pause <= min(wanted * (1 + JITTER), LONGEST_PAUSE_S) + 1e-9
    )


def test_ever_so_many_failures_stay_bounded() -> None:
    backoff = Backoff(draw=lambda: 1.0)
    assert max(backoff.next_pause() for _ in range(5_000)) == LONGEST_PAUSE_S


async def test_a_pause_ends_by_itself_or_when_there_is_a_reason() -> None:
    pause = Pause()
    await asyncio.wait_for(pause(0.001), 5)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        waiting = group.create_task(pause(1_000))
        await asyncio.sleep(0)
        pause.cut()
    assert waiting.done()
    await asyncio.wait_for(pause(0.001), 5)


async def test_a_reason_that_comes_before_the_pause_is_not_lost() -> None:
    pause = Pause()
    pause.cut()
    await asyncio.wait_for(pause(1_000), 5)
