"""A turn through the whole use-case layer: what is stored, published, sent, and in which order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import (
    ContentDelta,
    PlanUpdated,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCompleted,
    TurnFailed,
    UsageReported,
    Waiting,
)
from groupx_server.ledger.accept import Source
from groupx_server.ledger.terminal import TurnEnd
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms import lane
from groupx_server.rooms.collect import MAX_PLAN_ENTRIES, TurnCollector
from groupx_server.rooms.watchorders import heads_of
from groupx_shared.errors import AgentError, ErrorCode, RefusedError
from support.fake_driver import FakeDriver, FakeFleet
from support.rooms import house


async def test_a_turn_is_stored_in_the_order_of_the_seed(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        call = ToolCall("t1", "ls", "execute", "completed")
        rooms.fleet.scripts.append(
            [
                ReasoningDelta("hm"),
                ToolProgress(call, "ended"),
                ContentDelta("done"),
                TurnCompleted(),
            ]
        )
        turn = await rooms.ended(await rooms.send())
        assert (turn.status, turn.content) == ("completed", "done")
        assert await rooms.types() == [
            "message.created",
            "turn.queued",
            "session.ready",
            "turn.dispatched",
            "turn.started",
            "turn.reasoning.recorded",
            "tool.progress.recorded",
            "message.created",
            "turn.completed",
        ]
        assert await rooms.ledger.read(find_violations) == []


async def test_deltas_are_published_live_with_growing_offsets(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([*map(ContentDelta, ["one ", "two ", "three"]), TurnCompleted()])
        await rooms.ended(await rooms.send())
        bodies = rooms.listener.bodies("turn.content.delta")
        assert "".join(body["text"] for body in bodies) == "one two three"
        assert [body["offset"] for body in bodies] == [
            sum(len(b["text"]) for b in bodies[:n]) for n in range(len(bodies))
        ]


async def test_the_plan_as_it_was_told_last_stays_when_the_turn_has_ended(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        first = {"content": "Read", "priority": "high", "status": "pending"}
        last = {"content": "Read\x1b[2J", "priority": "high", "status": "completed"}
        rooms.fleet.scripts.append(
            [
                PlanUpdated((first,)),
                ContentDelta("done"),
                PlanUpdated((last,) * (MAX_PLAN_ENTRIES + 1)),
                TurnCompleted(),
            ]
        )
        await rooms.ended(await rooms.send())
        (end,) = await rooms.events("turn.completed")
        assert rooms.listener.ended == [end["body"]["turnId"]]
        assert end["body"]["plan"] == [{**last, "content": "Read␛[2J"}] * MAX_PLAN_ENTRIES


async def test_control_sequences_of_an_agent_never_reach_ledger_or_listeners(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        evil = "\x1b]52;c;AAAA\x07\x9b31m\u202e"
        call = ToolCall(
            "t1",
            f"title {evil}",
            evil,
            "completed",
            {evil: evil},
            ({"type": "text", "text": evil},),
        )
        rooms.fleet.scripts.append(
            [ReasoningDelta(evil), ToolProgress(call, "ended"), ContentDelta(evil), TurnCompleted()]
        )
        await rooms.ended(await rooms.send())
        page = await rooms.service.page("room:main", None, None, None, 500, ())
        raw = b"".join(page.events).decode() + str(rooms.listener.events)
        for character in ("\x1b", "\x07", "\x9b", "\u202e", "\\u001b", "\\u0007", "\\x1b"):
            assert character not in raw


async def test_a_crlf_split_between_two_deltas_is_one_newline(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("a\r"), ContentDelta("\nb"), TurnCompleted()])
        assert (await rooms.ended(await rooms.send())).content == "a\nb"


async def test_text_after_a_tool_starts_a_new_paragraph(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        call = ToolCall("t1", "ls", status="completed")
        rooms.fleet.scripts.append(
            [
                ContentDelta("Let me look."),
                ToolProgress(call, "ended"),
                ContentDelta("Found it."),
                TurnCompleted(),
            ]
        )
        assert (await rooms.ended(await rooms.send())).content == "Let me look.\n\nFound it."


async def test_one_agent_answers_in_order_and_two_agents_side_by_side(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("slow"), gate, TurnCompleted()])
        first = await rooms.send(to=["a"])
        await rooms.turn_in(first.turns[0].turn_id, "running")
        second = await rooms.send(to=["a"])
        other = await rooms.send(to=["b"])
        assert (await rooms.ended(other)).status == "completed"
        waiting = await rooms.service.turn(second.turns[0].turn_id)
        assert (waiting.status, waiting.queue_position) == ("queued", 1)
        assert waiting.behind_turn_id == first.turns[0].turn_id
        gate.set()
        assert (await rooms.ended(second)).status == "completed"


async def test_a_running_turn_can_be_cancelled_and_keeps_its_text(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("half"), asyncio.Event(), TurnCompleted()])
        turn_id = (await rooms.send()).turns[0].turn_id
        await rooms.turn_in(turn_id, "running")
        assert (await rooms.service.cancel_turn(turn_id, "k")).status == "cancelling"
        assert rooms.listener.bodies("turn.cancelling") == [{"turnId": turn_id}]
        turn = await rooms.turn_in(turn_id)
        assert (turn.status, turn.partial_text) == ("cancelled", "half")


async def test_an_agents_error_fails_the_turn_with_its_sentence(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([TurnFailed(ErrorCode.AGENT_ERROR, "no credit left")])
        turn = await rooms.ended(await rooms.send())
        assert (turn.status, turn.error_code) == ("failed", "AGENT_ERROR")
        assert turn.error_message == "no credit left"
        assert turn.delivery_certainty == "delivered"


async def test_a_lost_session_is_replaced_and_resumed_for_the_next_turn(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send())
        lost = TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "it died", session_lost=True)
        rooms.fleet.scripts.append([lost])
        failed = await rooms.ended(await rooms.send())
        assert failed.delivery_certainty == "unknown"
        assert (await rooms.ended(await rooms.send())).status == "completed"
        assert rooms.fleet.starts == 2
        assert rooms.fleet.requests[-1].resume_native_id == "native-1-1"
        assert "session.resumed" in await rooms.types()


async def test_an_agent_that_cannot_start_fails_the_turn_and_not_the_server(
    tmp_path: Path,
) -> None:
    fleet = FakeFleet()
    fleet.start_errors.append(AgentError("no such program; install it"))
    async with house(tmp_path, fleet=fleet) as rooms:
        turn = await rooms.ended(await rooms.send())
        assert (turn.status, turn.error_code) == ("failed", "ADAPTER_START_FAILED")
        assert "install it" in (turn.error_message or "")
        again = await rooms.send()
        assert "install it" in (again.turns[0].obstacle or "")
        assert (await rooms.ended(again)).status == "completed"
        rooms.commands -= 1  # the same command once more
        assert await rooms.send() == again
        assert (await rooms.send()).turns[0].obstacle is None


async def test_a_stop_ends_a_running_turn_as_interrupted_with_its_text(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("half"), asyncio.Event(), TurnCompleted()])
        turn_id = (await rooms.send()).turns[0].turn_id
        await rooms.turn_in(turn_id, "running")
    async with house(tmp_path) as again:
        turn = await again.service.turn(turn_id)
        assert (turn.status, turn.partial_text) == ("interrupted", "half")
        assert again.fleet.prompts == []


async def test_queued_turns_survive_a_stop_and_run_at_the_next_start(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("busy"), asyncio.Event()])
        first = await rooms.send()
        await rooms.turn_in(first.turns[0].turn_id, "running")
        second = await rooms.send("later")
    async with house(tmp_path) as again:
        assert (await again.ended(second)).status == "completed"
        assert len(again.fleet.prompts) == 1


async def test_a_turn_for_an_agent_that_left_the_roster_ends_with_a_sentence(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("busy"), asyncio.Event()])
        first = await rooms.send(to=["b"])
        await rooms.turn_in(first.turns[0].turn_id, "running")
        second = await rooms.send(to=["b"])
    async with house(tmp_path, names=("a",)) as again:
        turn = await again.ended(second)
        assert (turn.status, turn.error_code) == ("failed", "ADAPTER_NOT_FOUND")


async def test_a_card_says_working_waiting_and_ready(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        limited, gate = asyncio.Event(), asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("x"), limited, Waiting(12), gate, TurnCompleted()])
        accepted = await rooms.send()
        await rooms.listener.status("agent:a", "working")  # what follows within 20 ms is one word
        limited.set()
        await rooms.listener.status("agent:a", "waiting")
        gate.set()
        await rooms.ended(accepted)
        await rooms.listener.status("agent:a", "ready", after="waiting")
        states = [
            body["status"]
            for body in rooms.listener.bodies("agent.status")
            if body["actorId"] == "agent:a"
        ]
        for state in ("starting", "working", "waiting", "ready"):
            assert state in states
        assert rooms.listener.bodies("agent.status")[-1]["queuedTurns"] == 0


async def test_a_head_that_is_no_head_any_more_is_not_begun_again(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        accepted = await rooms.send()
        await rooms.ended(accepted)
        (told,) = heads_of(accepted).values()
        assert told.turn_id == accepted.turns[0].turn_id
        rooms.agents.queued(["agent:a"], {"agent:a": told})
        assert (await rooms.ended(await rooms.send())).status == "completed"
        assert len(rooms.fleet.prompts) == 2


async def test_news_of_a_turn_that_was_begun_does_not_begin_it_again(tmp_path: Path) -> None:
    """The lane may find a turn before it is told of it; the agent was started for it twice."""
    fleet = FakeFleet()
    fleet.start_errors.append(AgentError("no such program; install it"))
    async with house(tmp_path, fleet=fleet) as rooms:
        accepted = await rooms.send()
        assert (await rooms.ended(accepted)).status == "failed"
        for _ in range(5):
            rooms.agents.queued(["agent:a"], heads_of(accepted))
            await rooms.service.turn(accepted.turns[0].turn_id)  # the lane has its time meanwhile
        assert "install it" in ((await rooms.send()).turns[0].obstacle or "")


async def test_usage_that_the_agent_reports_is_kept(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append(
            [UsageReported({"inputTokens": 11}), ContentDelta("x"), TurnCompleted()]
        )
        assert (await rooms.ended(await rooms.send())).usage == {"inputTokens": 11}


@pytest.mark.parametrize(
    ("content", "code"),
    [("   ", ErrorCode.INVALID_ENVELOPE), ("x" * 2000, ErrorCode.MESSAGE_TOO_LARGE)],
)
async def test_messages_that_cannot_be_sent_are_refused(
    tmp_path: Path, content: str, code: ErrorCode
) -> None:
    async with house(tmp_path, limits=Limits(message_characters=1024)) as rooms:
        with pytest.raises(Exception, match=r".") as refused:
            await rooms.send(content)
        assert getattr(refused.value, "code", None) is code


async def test_an_unknown_agent_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    async with house(tmp_path, names=("reviewer", "b")) as rooms:
        with pytest.raises(Exception, match="Did you mean “reviewer”"):
            await rooms.send(to=["reviwer"])
        assert await rooms.types() == []


def _current(prompt: str) -> str:
    return prompt.rpartition("[current_message")[2]


async def test_the_packet_is_built_at_dispatch_and_says_each_thing_once(tmp_path: Path) -> None:
    async with house(tmp_path, identity="You are careful.") as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("my own first answer"), gate, TurnCompleted()])
        first = await rooms.send("first question")
        await rooms.turn_in(first.turns[0].turn_id, "running")
        await rooms.send("second question")
        await rooms.send("said while it waited", to=[])
        last = await rooms.send("third question")
        gate.set()
        await rooms.ended(last)
        second, third = rooms.fleet.prompts[1:3]
        assert "said while it waited" in second
        assert second.count("second question") == 1
        assert "third question" not in second
        assert "my own first answer" not in second
        assert "first question" not in second
        assert "said while it waited" not in third
        assert _current(third).count("third question") == 1
        assert "You are careful." in third


async def test_a_fresh_session_is_told_what_its_predecessor_knew(tmp_path: Path) -> None:
    fleet = FakeFleet()
    fleet.can_resume = False
    async with house(tmp_path, fleet=fleet) as rooms:
        fleet.scripts.append([ContentDelta("my answer"), TurnCompleted()])
        await rooms.ended(await rooms.send("the question"))
        await rooms.service.restart_agent("a", "restart")
        await rooms.listener.status("agent:a", "ready", after="stopped")
        await rooms.ended(await rooms.send("and now?"))
        assert "the question" in fleet.prompts[1]
        assert "my answer" in fleet.prompts[1]


async def test_what_is_sent_after_a_restart_was_ordered_waits_for_the_new_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_close = asyncio.Event()

    async def close(driver: FakeDriver) -> None:
        await may_close.wait()
        driver.die()

    monkeypatch.setattr(FakeDriver, "close", close)
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send("before"))
        for number in range(3):
            await rooms.service.restart_agent("a", f"restart {number}")
        accepted = await rooms.send("after")
        for _ in range(100):
            await asyncio.sleep(0)
        assert (await rooms.service.turn(accepted.turns[0].turn_id)).status == "queued"
        assert len(rooms.fleet.prompts) == 1
        may_close.set()
        assert (await rooms.ended(accepted)).status == "completed"
        assert rooms.fleet.starts == 2


async def test_a_retry_is_a_new_turn_that_points_to_the_old_one(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([TurnFailed(ErrorCode.AGENT_ERROR, "no credit")])
        old = await rooms.ended(await rooms.send("the question"))
        accepted = await rooms.service.take_up_again(old.turn_id, "again", "retry", Source())
        assert (await rooms.ended(accepted)).status == "completed"
        event = orjson.loads(await rooms.service.event(accepted.message_event_id))
        assert (event["causationId"], event["body"]["content"]) == (old.turn_id, "the question")
        assert (await rooms.service.turn(old.turn_id)).status == "failed"
        again = await rooms.service.take_up_again(old.turn_id, "again", "retry", Source())
        assert again == accepted


async def test_a_turn_that_did_not_complete_can_be_continued_and_a_completed_one_not(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([TurnFailed(ErrorCode.AGENT_ERROR, "no credit")])
        failed = await rooms.ended(await rooms.send("the question"))
        accepted = await rooms.service.take_up_again(failed.turn_id, "c", "continue", Source())
        done = await rooms.ended(accepted)
        assert "go on where you stopped" in rooms.fleet.prompts[-1]
        assert "the question" in rooms.fleet.prompts[-1]
        with pytest.raises(RefusedError, match="complete") as refused:
            await rooms.service.take_up_again(done.turn_id, "d", "continue", Source())
        assert refused.value.code is ErrorCode.STORE_CONFLICT


async def test_an_open_turn_cannot_be_taken_up_again(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("x"), asyncio.Event()])
        turn_id = (await rooms.send()).turns[0].turn_id
        await rooms.turn_in(turn_id, "running")
        with pytest.raises(RefusedError, match="still running"):
            await rooms.service.take_up_again(turn_id, "r", "retry", Source())


async def test_an_answer_that_cannot_be_stored_fails_its_turn_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = TurnCollector.finish

    def broken(collector: TurnCollector, *arguments: Any, **named: Any) -> TurnEnd:
        end = finish(collector, *arguments, **named)
        return replace(end, answer=end.answer.replace("poison", "\ud800"))

    monkeypatch.setattr(TurnCollector, "finish", broken)
    monkeypatch.setattr(lane, "AFTER_FAULT_S", 0.0)
    async with house(tmp_path) as rooms:
        rooms.fleet.scripts.append([ContentDelta("poison"), TurnCompleted()])
        first, second = await rooms.send("first"), await rooms.send("second")
        failed = await rooms.ended(first)
        assert (failed.status, failed.error_code) == ("failed", ErrorCode.INTERNAL_ERROR)
        assert (await rooms.ended(second)).status == "completed"
        assert await rooms.ledger.read(find_violations) == []
