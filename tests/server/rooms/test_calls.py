"""Agents that call each other, over a real ledger and lanes: waiting, collecting, what ends it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted, TurnFailed
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms import calls
from groupx_server.rooms.toolresults import AskResult
from groupx_shared.errors import ErrorCode, RefusedError
from support.rooms import House, house

THREE = ("a", "b", "c")


async def asking(rooms: House, to: str, timeout_s: float = 5.0, **more: bool) -> AskResult:
    """`a` asks and waits."""
    say = rooms.say("what do you think?", to)
    return await rooms.calls.ask(
        rooms.caller("a"),
        say,
        timeout_s,
        cancel_on_timeout=more.get("cancel_on_timeout", False),
    )


async def refused(code: ErrorCode, call: object) -> RefusedError:
    with pytest.raises(RefusedError) as found:
        await call  # type: ignore[misc]
    assert found.value.code is code
    return found.value


async def test_an_agent_asks_two_others_at_once_and_gets_both_answers(tmp_path: Path) -> None:
    async with house(tmp_path, THREE) as rooms:
        await rooms.at_work("a")
        rooms.fleet.plan("b", [ContentDelta("b says yes"), TurnCompleted()])
        rooms.fleet.plan("c", [ContentDelta("c says no"), TurnCompleted()])
        result = await asking(rooms, "b @c agent:b")
        assert result.state == "terminal"
        told = [(one.target, one.status, one.content) for one in result.results]
        assert told == [
            ("agent:b", "completed", "b says yes"),
            ("agent:c", "completed", "c says no"),
        ]
        assert result.results[0].provenance == (
            f"{result.results[0].response_event_id} by agent:b “B” (an agent, not a person)"
        )
        assert await rooms.ledger.read(find_violations) == []


async def test_send_wakes_and_does_not_wait_and_publish_wakes_nobody(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        sent = await rooms.calls.send(caller, rooms.say())
        assert [(turn.target, turn.queue_position) for turn in sent.turns] == [("agent:b", 0)]
        assert (await rooms.turn_in(sent.turns[0].turn_id)).status == "completed"
        published = await rooms.calls.publish(caller, rooms.say("fyi", to=""))
        event = orjson.loads(await rooms.service.event(published.message_event_id))
        assert (event["to"], event["actor"]["actorId"]) == ([], "agent:a")
        assert published.correlation_id == sent.correlation_id


async def test_a_busy_target_is_not_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.at_work("a")
        await rooms.at_work("b")
        result = await asking(rooms, "b", 30.0)
        (one,) = result.results
        assert (result.state, one.status, one.queue_position) == ("pending", "pending", 1)
        assert one.active_turn_id is not None
        assert "works on something else" in (one.note or "")
        assert "collect" in (result.note or "")
        rooms.gates["b"].set()
        later = await rooms.calls.collect(rooms.caller("a"), result.message_event_id, 5.0)
        assert (later.state, later.results[0].content) == ("terminal", "fine")


async def test_an_ask_that_takes_too_long_is_collected_later_and_nothing_is_created(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        gate = asyncio.Event()
        rooms.fleet.plan("b", [ContentDelta("slow"), gate, TurnCompleted()])
        result = await asking(rooms, "b", 0.0)
        assert result.state == "pending"
        still = await rooms.calls.collect(caller, result.message_event_id, 0.0)
        assert (still.state, still.results[0].turn_id) == ("pending", result.results[0].turn_id)
        seq = rooms.ledger.last_seq
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(rooms.calls.collect(caller, result.message_event_id, 5.0))
            await rooms.turn_in(result.results[0].turn_id, "running")
            gate.set()
        collected = waiting.result()
        assert (collected.state, collected.results[0].content) == ("terminal", "slow")
        again = await rooms.calls.collect(caller, result.message_event_id, 5.0)
        assert again == collected
        kinds = [
            orjson.loads(row.data)["type"]
            for row in await rooms.service.durable_after(seq, 100, None)
        ]
        assert "turn.queued" not in kinds


async def test_a_timeout_can_cancel_what_was_asked(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.at_work("a")
        rooms.fleet.plan("b", [ContentDelta("slow"), asyncio.Event()])
        result = await asking(rooms, "b", 0.0, cancel_on_timeout=True)
        turn = await rooms.turn_in(result.results[0].turn_id)
        assert turn.status == "cancelled"
        told = await rooms.calls.collect(rooms.caller("a"), result.message_event_id, 5.0)
        assert told.results[0].status == "cancelled"


async def test_a_target_that_dies_in_the_middle_is_told_as_failed(tmp_path: Path) -> None:
    async with house(tmp_path, THREE) as rooms:
        await rooms.at_work("a")
        died = TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "it died", session_lost=True)
        rooms.fleet.plan("b", [ContentDelta("half"), died])
        result = await asking(rooms, "b c")
        dead, alive = result.results
        assert (dead.status, dead.error_code) == ("failed", "SESSION_NOT_AVAILABLE")
        assert (dead.note, alive.status) == ("it died", "completed")


async def test_the_same_ask_again_waits_for_the_same_turns(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        say = rooms.say()
        first = await rooms.calls.ask(caller, say, 5.0, cancel_on_timeout=False)
        again = await rooms.calls.ask(caller, say, 5.0, cancel_on_timeout=False)
        assert again == first


async def test_a_cancelled_caller_takes_its_asks_along(tmp_path: Path) -> None:
    async with house(tmp_path, THREE) as rooms:
        caller = await rooms.at_work("a")
        await rooms.at_work("c")
        rooms.fleet.plan("b", [ContentDelta("slow"), asyncio.Event()])
        own = (await rooms.reads.turn_status(caller, None)).turn_id
        asked = await asking(rooms, "b c", 0.0)
        running, queued = asked.results
        await rooms.turn_in(running.turn_id, "running")
        await rooms.service.cancel_turn(own, "stop")
        for turn_id in (own, running.turn_id, queued.turn_id):
            assert (await rooms.turn_in(turn_id)).status == "cancelled"
        cards = {card.actor_id: card for card in rooms.agents.board.all()}
        assert cards["agent:c"].queued_turns == 0


async def test_nobody_waits_when_the_callers_turn_ends(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        gate = asyncio.Event()
        rooms.fleet.plan("b", [ContentDelta("slow"), gate, TurnCompleted()])
        own = (await rooms.reads.turn_status(caller, None)).turn_id
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(
                refused(ErrorCode.MCP_BINDING_MISMATCH, asking(rooms, "b", 30.0))
            )
            while not (called := (await rooms.reads.turn_status(caller, None)).called):
                await rooms.ledger.changed(rooms.ledger.last_seq)
            rooms.gates["a"].set()
            await rooms.turn_in(own)
            await waiting
        gate.set()
        assert (await rooms.turn_in(called[0].turn_id)).status == "completed"


async def test_a_later_turn_collects_what_an_earlier_one_asked(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        asked = await asking(rooms, "b")
        rooms.gates.pop("a").set()
        await rooms.turn_in(
            (await rooms.service.turns("room:main", "all", "agent:a", None, 1)).turns[0].turn_id
        )
        await refused(
            ErrorCode.MCP_BINDING_MISMATCH, rooms.calls.collect(caller, asked.message_event_id, 1.0)
        )
        later = await rooms.at_work("a")
        found = await rooms.calls.collect(later, asked.message_event_id, 1.0)
        assert found.results == asked.results
        other = await rooms.at_work("b")
        await refused(
            ErrorCode.UNKNOWN_TARGET, rooms.calls.collect(other, asked.message_event_id, 1.0)
        )


async def test_a_cycle_of_waiting_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.at_work("a")
        error = await refused(ErrorCode.CAUSAL_CYCLE, asking(rooms, "a"))
        assert "send" in error.message


@pytest.mark.parametrize("text", ["ok", "Thanks! 👍", "收到"])
async def test_an_acknowledgement_is_posted_and_wakes_nobody(tmp_path: Path, text: str) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        sent = await rooms.calls.send(caller, rooms.say(text))
        assert sent.turns == ()
        assert "woke nobody" in (sent.note or "")
        asked = await rooms.calls.ask(caller, rooms.say(text), 5.0, cancel_on_timeout=False)
        assert (asked.state, asked.results) == ("terminal", ())
        assert "woke nobody" in (asked.note or "")
        page = await rooms.service.page("room:main", None, None, None, 500, ("message.created",))
        assert [orjson.loads(e)["body"]["content"] for e in page.events][-2:] == [text, text]


async def test_an_empty_or_too_long_message_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path, limits=Limits(message_characters=1024)) as rooms:
        caller = await rooms.at_work("a")
        before = rooms.ledger.last_seq
        await refused(ErrorCode.INVALID_ENVELOPE, rooms.calls.send(caller, rooms.say(" \n")))
        await refused(ErrorCode.MESSAGE_TOO_LARGE, rooms.calls.send(caller, rooms.say("x" * 1025)))
        await refused(ErrorCode.UNKNOWN_TARGET, rooms.calls.send(caller, rooms.say(to="nobody")))
        assert rooms.ledger.last_seq == before


async def test_control_characters_of_an_agent_do_not_get_into_the_room(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        sent = await rooms.calls.send(caller, rooms.say("\x1b]52;c;AAAA\x07 \u202e hi"))
        event = orjson.loads(await rooms.service.event(sent.message_event_id))
        assert not set("\x1b\x07\u202e") & set(event["body"]["content"])


async def test_a_limit_is_told_with_what_one_still_can_do(tmp_path: Path) -> None:
    async with house(tmp_path, limits=Limits(root_turns=1)) as rooms:
        caller = await rooms.at_work("a")
        error = await refused(
            ErrorCode.ROOT_TURN_LIMIT_REACHED, rooms.calls.send(caller, rooms.say("go"))
        )
        assert "publish" in error.message
        assert "held" in error.message
        stop = orjson.loads(await rooms.service.event(error.details["stopEventId"]))
        assert stop["body"]["held"]["content"] == "go"
        again = await refused(
            ErrorCode.ROOT_TURN_LIMIT_REACHED, rooms.calls.send(caller, rooms.say("go"))
        )
        assert again.details["stopEventId"] == error.details["stopEventId"]
        assert "held" not in again.message
        await rooms.calls.publish(caller, rooms.say("I am stopped.", to=""))


async def test_a_long_answer_is_cut_and_says_where_to_read_on(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        whole = "".join(f"line {number}\n" for number in range(9_000))
        rooms.fleet.plan("b", [ContentDelta(whole), TurnCompleted()])
        (one,) = (await asking(rooms, "b")).results
        assert one.content is not None
        text, offset = one.content, one.next_offset
        while offset is not None:
            assert one.response_event_id is not None
            part = await rooms.reads.text(caller, one.response_event_id, offset)
            text, offset = text + part.content, part.next_offset
        assert text == whole


async def test_waiting_is_bounded_whatever_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house(tmp_path, ask_s=600.0) as rooms:
        await rooms.at_work("a")
        monkeypatch.setattr(calls, "MAX_WAIT_S", 0.05)
        for timeout_s in (None, 3600.0):
            rooms.fleet.plan("b", [ContentDelta("slow"), asyncio.Event()])
            say = rooms.say()
            result = await rooms.calls.ask(
                rooms.caller("a"), say, timeout_s, cancel_on_timeout=True
            )
            await rooms.turn_in(result.results[0].turn_id)


async def test_an_ask_ends_when_the_server_stops_its_agents(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.at_work("a")
        rooms.fleet.plan("b", [ContentDelta("slow"), asyncio.Event()])

        async def ask() -> str:
            try:
                return (await asking(rooms, "b", 30.0)).results[0].status
            except RefusedError as error:
                return error.code

        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(ask())
            while len(rooms.fleet.prompts) < 2:
                await rooms.ledger.changed(rooms.ledger.last_seq)
            await rooms.agents_stopped()
        # Both turns end as interrupted; which is written first is not said.
        assert waiting.result() in ("interrupted", ErrorCode.MCP_BINDING_MISMATCH)
