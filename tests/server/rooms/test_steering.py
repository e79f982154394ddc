"""Steering of a running turn: what was done with advice, and how often it counts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import (
    ContentDelta,
    TurnCompleted,
)
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms.calls import Say
from groupx_shared.errors import AgentError, ErrorCode
from support.rooms import house
from support.watching import LOOK, NAMES, STEERS, advise, kinds, refused, scene


async def test_a_nudge_is_the_agents_next_turn_where_its_program_takes_no_further_message(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        done = await rooms.watches.steer(here.eye, advise("nudge"))
        assert (done.delivery, done.steer_count, done.steers_left) == ("queued", 1, 2)
        assert rooms.fleet.steers == []
        rooms.gates["a"].set()
        turn = await rooms.turn_in(done.next_turn_id or "")
        assert (turn.status, turn.parent_turn_id) == ("completed", here.observer)
        assert "Not that file." in rooms.fleet.prompts[-1]
        assert (await rooms.turn_in(here.subject)).status == "completed"
        (event,) = await rooms.events("supervision.steered")
        assert (event["actor"]["actorId"], event["body"]["reason"]) == ("agent:eye", "Wrong file.")
        found = await here.look(replace(LOOK, subject_turn_id=done.next_turn_id))
        assert kinds(found)[-1] == "turn.ended"
        assert await rooms.ledger.read(find_violations) == []


async def test_a_nudge_goes_into_the_running_turn_where_its_program_takes_it(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        done = await rooms.watches.steer(here.eye, advise("nudge"))
        assert (done.delivery, done.next_turn_id) == ("taken", None)
        (text,) = rooms.fleet.steers
        assert "Not that file." in text
        assert "author=agent:eye" in text
        assert (await here.look()).last_steer_reason == "Wrong file."
        (steered,) = await rooms.events("supervision.steered")
        (nudged,) = await rooms.events("supervision.nudged")
        assert (steered["body"]["delivery"], nudged["body"]["outcome"]) == ("live", "taken")
        advice = await rooms.events("message.created", done.message_event_id)
        assert (advice[0]["to"], advice[0]["body"]["kind"]) == ([], "supervision.advice")
        rooms.gates["a"].set()
        await rooms.turn_in(here.subject)
        assert len((await rooms.service.turns(None, "all", "agent:a", None, 10)).turns) == 1
        assert await rooms.ledger.read(find_violations) == []


async def test_a_nudge_that_was_not_taken_is_queued_and_one_that_may_have_been_is_not(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.fleet.steer_answer = False
        first = await rooms.watches.steer(here.eye, advise("nudge"))
        assert first.delivery == "queued"
        rooms.fleet.steer_answer = AgentError("no answer")
        second = await rooms.watches.steer(here.eye, advise("nudge", "2"))
        assert (second.delivery, second.next_turn_id) == ("unknown", None)
        outcomes = [e["body"]["outcome"] for e in await rooms.events("supervision.nudged")]
        assert outcomes == ["queued", "unknown"]
        rooms.gates["a"].set()
        assert (await rooms.turn_in(first.next_turn_id or "")).status == "completed"
        turns = (await rooms.service.turns(None, "all", "agent:a", None, 10)).turns
        assert len(turns) == 2
        assert await rooms.ledger.read(find_violations) == []


async def test_an_interrupt_stops_the_turn_and_gives_the_agent_something_else(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.fleet.plan("a", [ContentDelta("the other file"), TurnCompleted()])
        done = await rooms.watches.steer(here.eye, advise("interrupt", content="Take the other."))
        assert (await rooms.turn_in(here.subject)).status == "cancelled"
        turn = await rooms.turn_in(done.next_turn_id or "")
        assert (turn.status, turn.content) == ("completed", "the other file")
        assert "Take the other." in rooms.fleet.prompts[-1]
        assert rooms.fleet.steers == []
        found = await here.look(replace(LOOK, subject_turn_id=here.subject))
        assert (found.terminal, found.subject_cancelled, found.steer_count) == (True, True, 1)
        (event,) = await rooms.events("supervision.steered")
        assert event["body"]["action"] == "interrupt"
        assert event["body"]["nextTurnId"] == done.next_turn_id
        again = advise("interrupt", "2")
        await refused(
            ErrorCode.SUPERVISION_PAIR_INVALID,
            rooms.watches.steer(here.eye, replace(again, subject_turn_id=here.subject)),
        )
        assert await rooms.ledger.read(find_violations) == []


async def test_an_interrupt_also_stops_what_the_turn_asked_for(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        gate = rooms.gates.setdefault("b", asyncio.Event())
        rooms.fleet.plan("b", [ContentDelta("…"), gate, TurnCompleted()])
        here = await scene(rooms)
        await rooms.calls.ask(
            rooms.caller("a"), Say("1", "help", ["b"]), 0.0, cancel_on_timeout=False
        )
        await rooms.events_once("turn.started", 3)
        await rooms.watches.steer(here.eye, advise("interrupt"))
        turns = (await rooms.service.turns(None, "all", "agent:b", None, 10)).turns
        assert [(await rooms.turn_in(turn.turn_id)).status for turn in turns] == ["cancelled"]


async def test_a_repeated_steer_counts_once_and_gives_the_first_result(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        first = await rooms.watches.steer(here.eye, advise("nudge"))
        assert await rooms.watches.steer(here.eye, advise("nudge")) == first
        assert len(rooms.fleet.steers) == 1
        await refused(
            ErrorCode.CLIENT_COMMAND_CONFLICT,
            rooms.watches.steer(here.eye, advise("nudge", content="else")),
        )
        assert (await here.look()).steer_count == 1


async def test_a_steer_that_is_repeated_while_it_is_on_its_way_waits_for_what_becomes_of_it(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.fleet.steer_gate.clear()
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(rooms.watches.steer(here.eye, advise("nudge")))
            await rooms.events_once("supervision.steered")
            again = tasks.create_task(rooms.watches.steer(here.eye, advise("nudge")))
            rooms.fleet.steer_gate.set()
        assert first.result() == again.result()
        assert (first.result().delivery, len(rooms.fleet.steers)) == ("taken", 1)


async def test_what_became_of_advice_is_written_when_the_observer_has_gone(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.fleet.steer_gate.clear()
        async with asyncio.TaskGroup() as tasks:
            steering = tasks.create_task(rooms.watches.steer(here.eye, advise("nudge")))
            await rooms.events_once("supervision.steered")
            steering.cancel()
        rooms.fleet.steer_gate.set()
        (nudged,) = await rooms.events_once("supervision.nudged")
        assert nudged["body"]["outcome"] == "taken"


async def test_a_long_root_hides_neither_what_was_said_last_nor_why_it_was_steered(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        for number in range(210):
            say = Say(f"p{number}", f"progress {number}")
            await rooms.calls.publish(rooms.caller("a"), say)
        await rooms.watches.steer(here.eye, advise("nudge"))
        found, heard = await here.look(), list[str]()
        assert found.last_steer_reason == "Wrong file."
        while True:
            heard += [message.excerpt for message in found.messages]
            if not found.has_more:
                break
            found = await here.look()
        assert heard == [*(f"progress {n}" for n in range(210)), "Not that file."]


async def test_a_turn_is_steered_only_so_often_and_a_refusal_leaves_nothing(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        rooms.runtime.limits = Limits(steers_per_subject_turn=1)
        await rooms.watches.steer(here.eye, advise("nudge"))
        seq = rooms.ledger.last_seq
        for action in ("nudge", "interrupt"):
            error = await refused(
                ErrorCode.STEER_LIMIT_REACHED, rooms.watches.steer(here.eye, advise(action, "2"))
            )
            assert error.details == {"limit": 1, "steerCount": 1}
        assert rooms.ledger.last_seq == seq
        assert (await rooms.turn_in(here.subject, "running")).status == "running"


async def test_a_steer_that_a_limit_stops_is_seen_and_stops_no_turn(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        rooms.runtime.limits = Limits(root_turns=2)
        await refused(
            ErrorCode.ROOT_TURN_LIMIT_REACHED, rooms.watches.steer(here.eye, advise("interrupt"))
        )
        (stop,) = await rooms.events("routing.loop_stopped")
        assert stop["body"]["held"]["content"] == "Not that file."
        assert (await rooms.turn_in(here.subject, "running")).status == "running"
        assert (await here.look()).steer_count == 0


async def test_blank_advice_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        await refused(
            ErrorCode.INVALID_ENVELOPE, rooms.watches.steer(here.eye, advise("nudge", content=" "))
        )


async def test_advice_under_way_when_the_server_died_is_unknown_and_not_sent_again(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        done = await rooms.watches.steer(here.eye, advise("nudge"))
        await rooms.ledger.write(
            lambda book: book.execute("UPDATE supervision_nudges SET state = 'sending'").rowcount
        )
    async with house(tmp_path, NAMES) as rooms:
        *_, last = await rooms.events("supervision.nudged")
        assert last["body"]["outcome"] == "unknown"
        assert last["body"]["messageEventId"] == done.message_event_id
        assert (await rooms.service.turns(None, "open", None, None, 10)).turns == ()
