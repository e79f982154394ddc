"""The room assistant, line by line: what was asked here is answered here, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from groupx_shared.errors import RefusedError
from groupx_shared.wire.assistant import AssistantAct, AssistantFrame, AssistantMessages
from groupx_tui.plain.aside import Aside
from support.fake_side import AT, OFF, FakeSide, answered, asked

ACT = AssistantAct(act_id="act_1", tool="send", summary="to codex: look", occurred_at=AT)


class Listener:
    """Somebody who asks, and hears."""

    def __init__(self) -> None:
        self.side = FakeSide()
        self.said: list[str] = []
        self.changed = asyncio.Event()
        session: Any = SimpleNamespace(side=self.side, view=SimpleNamespace(room_id="room:main"))
        self.aside = Aside(cast("Any", session), self.said.append, self.changed)

    async def ended(self) -> None:
        """Wait until nothing is waited for."""
        async with asyncio.timeout(5):
            while self.aside.is_waiting:
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    made = Listener()
    async with asyncio.TaskGroup() as group:
        following = group.create_task(made.aside.follow())
        yield made
        following.cancel()


async def test_nothing_is_followed_before_something_is_asked(listener: Listener) -> None:
    assert listener.side.followers == 0
    assert await listener.aside.ask("what now") == "Asked the assistant."
    assert ("ask", "what now", "room:main") in listener.side.asked
    assert listener.aside.is_waiting


async def test_the_answer_and_each_act_are_said_once(listener: Listener) -> None:
    await listener.aside.ask("review it")
    doing = asked("side_new", "review it", acts=(ACT,))
    answer = answered("side_2", "side_new", "It is \x1b[2Jfine.")
    listener.side.say(doing, doing)
    listener.side.say(answered("side_9", "side_other", "somebody else's"))
    listener.side.say(answer, answer)
    listener.side.say(asked("side_new", "review it", acts=(ACT,), status="completed"))
    await listener.ended()
    assert listener.said == ["Assistant: to codex: look", "Assistant answers:\nIt is ␛[2Jfine."]


async def test_an_end_that_comes_before_its_answer_waits_for_it(listener: Listener) -> None:
    await listener.aside.ask("review it")
    listener.side.say(asked("side_new", "review it", status="completed"))
    listener.side.say(answered("side_2", "side_new", "Fine."))
    await listener.ended()
    assert listener.said == ["Assistant answers:\nFine."]


async def test_a_failure_is_said(listener: Listener) -> None:
    await listener.aside.ask("x")
    listener.side.say(asked("side_new", "x", status="failed", error_message="No model answers."))
    await listener.ended()
    assert listener.said == ["Assistant: failed: No model answers."]


async def test_a_stream_that_is_refused_ends_the_waiting(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: object) -> Any:
        raise RefusedError("It is off.")
        yield []  # type: ignore[unreachable] # it makes this a generator

    monkeypatch.setattr(listener.side, "follow", refused)
    await listener.aside.ask("x")
    await listener.ended()
    assert listener.said == ["The assistant cannot be heard: It is off."]


async def test_its_state_and_last_answer_are_told() -> None:
    listener = Listener()
    last = answered("side_2", "side_1", "Two turns run.")
    listener.side.pages[None] = AssistantMessages(messages=(last,))
    listener.side.now = OFF
    said = await listener.aside.state()
    assert "Room assistant, disabled: It is off. Switch it on so." in said
    assert "It said last:\nTwo turns run." in said
    assert await listener.aside.stop() == "The assistant does nothing that could be stopped."


async def test_frames_of_other_kinds_say_nothing(listener: Listener) -> None:
    await listener.aside.ask("x")
    listener.side.push(AssistantFrame(type="cleared"))
    listener.side.piece("side_new", 0, "piece")
    listener.side.say(answered("side_2", "side_new", "Whole."))
    listener.side.say(asked("side_new", "x", status="completed"))
    await listener.ended()
    assert listener.said == ["Assistant answers:\nWhole."]
