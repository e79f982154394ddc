"""Text that an agent took back, and what it says it waits for, through the whole use-case layer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_server.domain.native import (
    ContentDelta,
    TerminalEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    Waiting,
)
from groupx_shared.errors import ErrorCode
from support.rooms import house


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (TurnCompleted("The answer."), "completed"),
        (TurnCancelled("The answer."), "cancelled"),
        (TurnFailed(ErrorCode.AGENT_ERROR, "no", content="The answer."), "failed"),
    ],
)
async def test_the_text_at_the_end_replaces_what_was_streamed(
    tmp_path: Path, end: TerminalEvent, status: str
) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("The ans", "a"), ContentDelta("The an", "b"), end])
        turn = await rooms.ended(await rooms.send())
        assert turn.status == status
        assert (turn.content or turn.partial_text) == "The answer."


async def test_what_an_agent_waits_for_is_told_in_its_own_words(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        gate = asyncio.Event()
        reason = "Reconnecting… 1/5\x1b[2J"
        rooms.fleet.scripts.append([ContentDelta("x"), Waiting(0.0, reason), gate, TurnCompleted()])
        sent = await rooms.send()
        gate.set()
        await rooms.ended(sent)
        told = rooms.listener.bodies("turn.progress")
        assert [body["kind"] for body in told] == ["waiting"]
        assert told[0]["reason"].startswith("Reconnecting… 1/5")
        assert "\x1b" not in told[0]["reason"]
