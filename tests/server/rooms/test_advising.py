"""What a person says to an agent at work: where it goes, and what is said of that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import AgentError, ErrorCode, RefusedError
from groupx_shared.wire.replies import AdviceReply
from support.rooms import House, house
from support.watching import NAMES, STEERS, refused, scene

WORDS = "Not that file."


async def said(rooms: House, turn_id: str, number: str = "1", words: str = WORDS) -> AdviceReply:
    return await rooms.service.advise_turn(turn_id, f"advice {number}", words, rooms.person)


async def test_it_goes_into_the_running_turn_where_its_program_takes_it(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        done = await said(rooms, here.subject)
        assert (done.delivery, done.next_turn_id) == ("taken", None)
        (text,) = rooms.fleet.steers
        assert WORDS in text
        assert "author=user:web" in text
        assert "a person in this room says" in text
        assert "[reason" not in text
        (event,) = await rooms.events("message.created", done.message_event_id)
        assert (event["to"], event["body"]["kind"]) == ([], "supervision.advice")
        assert event["actor"]["actorId"] == "user:web"
        assert event["correlationId"] == here.accepted.correlation_id
        (nudged,) = await rooms.events("supervision.nudged")
        assert nudged["body"]["outcome"] == "taken"
        rooms.gates["a"].set()
        await rooms.turn_in(here.subject)
        assert len((await rooms.service.turns(None, "all", "agent:a", None, 10)).turns) == 1
        assert await rooms.ledger.read(find_violations) == []


async def test_it_is_the_next_turn_where_its_program_takes_no_further_message(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        done = await said(rooms, here.subject)
        assert done.delivery == "queued"
        rooms.gates["a"].set()
        turn = await rooms.turn_in(done.next_turn_id or "")
        assert (turn.status, turn.hop_count, turn.parent_turn_id) == ("completed", 0, None)
        assert WORDS in rooms.fleet.prompts[-1]
        assert (await rooms.turn_in(here.subject)).status == "completed"
        assert await rooms.ledger.read(find_violations) == []


async def test_for_a_turn_that_has_ended_it_is_a_message(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.gates["a"].set()
        await rooms.turn_in(here.subject)
        done = await said(rooms, here.subject)
        assert done.delivery == "queued"
        assert (await rooms.turn_in(done.next_turn_id or "")).status == "completed"
        (event,) = await rooms.events("message.created", done.message_event_id)
        assert (event["to"], "kind" in event["body"]) == (["agent:a"], False)


async def test_what_was_not_taken_is_queued_and_what_may_have_been_is_not(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.fleet.steer_answer = False
        first = await said(rooms, here.subject)
        assert first.delivery == "queued"
        rooms.fleet.steer_answer = AgentError("no answer")
        second = await said(rooms, here.subject, "2")
        assert (second.delivery, second.next_turn_id) == ("unknown", None)
        rooms.gates["a"].set()
        assert (await rooms.turn_in(first.next_turn_id or "")).status == "completed"
        assert len((await rooms.service.turns(None, "all", "agent:a", None, 10)).turns) == 2
        assert await rooms.ledger.read(find_violations) == []


async def test_repeated_it_is_said_once(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.fleet.steer_gate.clear()
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            first = tasks.create_task(said(rooms, here.subject))
            await rooms.events_once("message.created", 3)
            again = tasks.create_task(said(rooms, here.subject))
            rooms.fleet.steer_gate.set()
        assert first.result() == again.result()
        assert len(rooms.fleet.steers) == 1
        await refused(ErrorCode.CLIENT_COMMAND_CONFLICT, said(rooms, here.subject, words="else"))


async def test_what_cannot_be_said_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES, limits=Limits(message_characters=20)) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        await refused(ErrorCode.UNKNOWN_TURN, said(rooms, "turn_nobody"))
        await refused(ErrorCode.MESSAGE_TOO_LARGE, said(rooms, here.subject, words="x" * 21))
        with pytest.raises(RefusedError, match="empty"):
            await said(rooms, here.subject, words=" ")
        assert rooms.fleet.steers == []
        assert await rooms.events("supervision.nudged") == []


async def test_under_way_when_the_server_died_it_is_unknown_and_not_sent_again(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        done = await said(rooms, here.subject)
        await rooms.ledger.write(
            lambda book: book.execute("UPDATE turn_advice SET state = 'sending'").rowcount
        )
    async with house(tmp_path, NAMES) as rooms:
        *_, last = await rooms.events("supervision.nudged")
        assert last["body"]["outcome"] == "unknown"
        assert last["body"]["messageEventId"] == done.message_event_id
        assert (await rooms.service.turns(None, "open", None, None, 10)).turns == ()


async def test_an_observer_does_not_lose_its_steers_by_what_a_person_says(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        rooms.fleet.plan("b", [ContentDelta("…"), TurnCompleted()])
        here = await scene(rooms)
        for number in range(5):
            assert (await said(rooms, here.subject, str(number))).delivery == "taken"
        assert (await here.look()).steer_count == 0
