"""Observers over a real ledger and lanes: nothing missed, nothing stale, nothing told twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import (
    ContentDelta,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCompleted,
)
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms.calls import Say
from groupx_server.rooms.watching import Advise, Look
from groupx_server.rooms.watchresults import WatchResult
from groupx_shared.errors import AgentError, ErrorCode, RefusedError
from groupx_shared.wire.replies import MessageAccepted
from groupx_shared.wire.requests import SendMessage, Supervision
from support.fake_driver import Script
from support.rooms import House, house

NAMES = ("a", "eye", "b")
LOOK = Look(timeout_s=0.0)
STEERS = {"steer": True}


@dataclass
class Scene:
    """`a` (and `b`) work on a message, `eye` watches."""

    rooms: House
    accepted: MessageAccepted
    eye: Caller

    @property
    def subject(self) -> str:
        return self.accepted.turns[0].turn_id

    @property
    def observer(self) -> str:
        assert self.accepted.supervision is not None
        return self.accepted.supervision.observers[0].turn_id

    async def look(self, look: Look = LOOK) -> WatchResult:
        return await self.rooms.watches.watch(self.eye, look)


def call(number: str, status: str = "in_progress", **more: Any) -> ToolCall:
    return ToolCall(number, f"secret title {number}", "execute", status, **more)  # type: ignore[arg-type]


async def scene(
    rooms: House, *script: Script, to: tuple[str, ...] = ("a",), brief: str | None = None
) -> Scene:
    """Send a watched message; every agent works until its gate is set."""
    gate = rooms.gates.setdefault("a", asyncio.Event())
    rooms.fleet.plan("a", *(script or ([ContentDelta("…"), gate, TurnCompleted("done")],)))
    eye_gate = rooms.gates.setdefault("eye", asyncio.Event())
    rooms.fleet.plan("eye", [ContentDelta("…"), eye_gate, TurnCompleted("seen")])
    rooms.commands += 1
    request = SendMessage(
        client_command_id=f"c{rooms.commands}",
        content="Tidy up.",
        to=list(to),
        supervision=Supervision(observers=["eye"], brief=brief),
    )
    accepted = await rooms.service.send(request, rooms.person)
    assert accepted.supervision is not None
    await rooms.turn_in(accepted.supervision.observers[0].turn_id, "running")
    await rooms.turn_in(accepted.turns[0].turn_id, "running", "completed")
    return Scene(rooms, accepted, rooms.caller("eye"))


def advise(action: str, number: str = "1", content: str = "Not that file.", **more: Any) -> Advise:
    return Advise(number, action, "Wrong file.", content, **more)  # type: ignore[arg-type]


async def refused(code: ErrorCode, work: Awaitable[object]) -> RefusedError:
    with pytest.raises(RefusedError) as found:
        await work
    assert found.value.code is code
    return found.value


def kinds(result: WatchResult) -> list[str]:
    return [step.kind for step in result.steps]


async def all_steps(scene: Scene) -> WatchResult:
    """Look on until the end; every look adds its steps."""
    steps: list[Any] = []
    async with asyncio.timeout(5):
        while True:
            found = await scene.look(Look(timeout_s=5.0))
            steps += found.steps
            if found.terminal and not found.has_more:
                return found.model_copy(update={"steps": tuple(steps)})


# ── Watching ──────────────────────────────────────────────────────────────────────────────────


async def test_no_step_is_lost_however_late_an_observer_looks(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        script: Script = [
            ContentDelta("x" * 5_000),
            ReasoningDelta("private thought"),
            ToolProgress(call("1", raw_input={"path": "secret"}), "started"),
            ToolProgress(call("1", "completed", content=({"type": "text", "text": "s"},)), "ended"),
            ContentDelta("y" * 5_000),
            TurnCompleted(),
        ]
        here = await scene(rooms, script)
        await rooms.turn_in(here.subject)
        found = await here.look()
        assert kinds(found) == [
            "turn.started",
            "content",
            "tool.started",
            "tool.completed",
            "content",
            "turn.ended",
        ]
        assert [(s.tool, s.status) for s in found.steps if s.tool_call_id] == [
            ("execute", "in_progress"),
            ("execute", "completed"),
        ]
        assert (found.terminal, found.status) == (True, "completed")
        text = found.model_dump_json()
        assert "secret" not in text
        assert "private" not in text
        again = await here.look()
        assert (kinds(again), again.terminal, again.cursor) == ([], True, found.cursor)


async def test_each_step_is_told_once_over_many_looks(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        gates = [asyncio.Event() for _ in range(3)]
        script: list[Any] = [ContentDelta("…")]
        for number, gate in enumerate(gates):
            script += [gate, ToolProgress(call(str(number)), "started")]
            script += [ToolProgress(call(str(number), "completed"), "ended")]
        here = await scene(rooms, [*script, TurnCompleted()])
        assert kinds(await here.look(Look(timeout_s=5.0))) == ["turn.started"]
        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(all_steps(here))
            for gate in gates:
                gate.set()
        told = following.result()
        assert kinds(told) == ["tool.started", "tool.completed"] * 3 + ["turn.ended"]
        assert [s.tool_call_id for s in told.steps][:6] == ["0", "0", "1", "1", "2", "2"]
        looks = [e["body"]["cursor"] for e in await rooms.events("supervision.observed")]
        assert looks == sorted(looks, key=lambda cursor: int(cursor.partition("-")[0]))


async def test_a_wait_ends_with_the_next_step_without_waiting_for_the_disk_to_be_asked(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        gate, end = asyncio.Event(), asyncio.Event()
        here = await scene(
            rooms,
            [ContentDelta("…"), gate, ToolProgress(call("1"), "started"), end, TurnCompleted()],
        )
        await here.look(Look(timeout_s=5.0))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(here.look(Look(timeout_s=5.0)))
            gate.set()
        found = waiting.result()
        assert (kinds(found), found.status, found.timed_out) == (["tool.started"], "running", False)
        end.set()


async def test_the_state_is_that_of_after_the_wait(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        await here.look(Look(timeout_s=5.0))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(here.look(Look(until="terminal", timeout_s=5.0)))
            rooms.gates["a"].set()
        found = waiting.result()
        assert (found.status, found.terminal, kinds(found)) == ("completed", True, ["turn.ended"])
        assert [m.excerpt for m in found.messages] == ["done"]
        assert found.messages[0].provenance.endswith("(an agent, not a person)")


async def test_a_wait_for_the_end_passes_over_steps_and_tells_them_all(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        gate = asyncio.Event()
        steps = [ToolProgress(call(str(n)), "started") for n in range(60)]
        here = await scene(rooms, [ContentDelta("…"), gate, *steps, TurnCompleted("x")])
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(here.look(Look(until="terminal", timeout_s=5.0)))
            gate.set()
        first = waiting.result()
        assert (len(first.steps), first.has_more, first.terminal) == (50, True, True)
        rest = await here.look()
        assert (len(rest.steps), rest.has_more) == (12, False)
        assert kinds(rest)[-1] == "turn.ended"


async def test_a_wait_that_is_over_says_so_and_still_tells_how_it_stands(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        await here.look(Look(timeout_s=5.0))
        found = await here.look()
        assert (found.timed_out, found.terminal, found.status) == (True, False, "running")
        assert found.task is not None
        assert found.task.excerpt == "Tidy up."
        (look, last) = await rooms.events("supervision.observed")
        assert last["actor"]["actorId"] == "agent:eye"
        assert (look["body"]["timedOut"], last["body"]["timedOut"]) == (False, True)


async def test_what_the_agent_said_before_a_step_is_told_by_its_end(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        gate = asyncio.Event()
        long = "w" * 600 + " the end"
        here = await scene(
            rooms, [ContentDelta(long), ToolProgress(call("1"), "started"), gate, TurnCompleted()]
        )
        found = await here.look(Look(timeout_s=5.0))
        if "tool.started" not in kinds(found):
            found = await here.look(Look(timeout_s=5.0))
        assert (found.saying or "").endswith("w the end")
        assert len(found.saying or "") == 501
        gate.set()
        assert (await all_steps(here)).saying is None


async def test_an_older_cursor_tells_again_and_moves_nothing_back(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms, [ContentDelta("x"), TurnCompleted()])
        await rooms.turn_in(here.subject)
        first = await here.look()
        again = await here.look(replace(LOOK, cursor="0-0"))
        assert again.steps == first.steps
        assert kinds(await here.look()) == []
        for cursor in ("1", "-", "a-b", "1-2-3", "1" * 50 + "-1"):
            await refused(ErrorCode.INVALID_ENVELOPE, here.look(replace(LOOK, cursor=cursor)))


async def test_how_far_it_was_seen_survives_a_restart(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        await here.look(Look(timeout_s=5.0))
        observer, subject = here.observer, here.subject
    async with house(tmp_path, NAMES) as rooms:
        rows = await rooms.ledger.read(
            lambda book: book.execute(
                "SELECT watch_turn_id, subject_turn_id, step FROM watch_cursors"
            ).fetchall()
        )
        steps = await rooms.ledger.read(
            lambda book: book.execute(
                "SELECT kind, status FROM watched_steps WHERE turn_id = ? ORDER BY number",
                (subject,),
            ).fetchall()
        )
        assert rows == [(observer, subject, 1)]
        assert steps == [("turn.started", None), ("turn.ended", "interrupted")]
        assert await rooms.ledger.read(find_violations) == []


async def test_the_running_one_of_several_is_meant_and_another_can_be_named(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.plan("b", [ContentDelta("quick"), TurnCompleted()])
        here = await scene(rooms, to=("a", "b"))
        other = here.accepted.turns[1].turn_id
        await rooms.turn_in(other)
        found = await here.look()
        assert (found.subject, found.other_subject_turn_ids) == ("agent:a", (other,))
        assert (await here.look(replace(LOOK, subject_turn_id=other))).status == "completed"
        await refused(
            ErrorCode.SUPERVISION_PAIR_INVALID,
            here.look(replace(LOOK, subject_turn_id=here.observer)),
        )


async def test_a_cancelled_subject_ends_the_watch(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        await here.look(Look(timeout_s=5.0))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(here.look(Look(until="terminal", timeout_s=5.0)))
            await rooms.service.cancel_turn(here.subject, "x")
        found = waiting.result()
        assert (found.terminal, found.subject_cancelled, found.status) == (True, True, "cancelled")
        assert kinds(found) == ["turn.ended"]


async def test_an_observer_that_has_not_begun_is_cancelled_with_the_last_it_would_watch(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, NAMES) as rooms:
        await rooms.at_work("eye")
        await rooms.at_work("a")
        request = SendMessage(
            client_command_id="watched",
            content="Tidy up.",
            to=["a", "b"],
            supervision=Supervision(observers=["eye"]),
        )
        rooms.fleet.plan("b", [ContentDelta("quick"), TurnCompleted()])
        accepted = await rooms.service.send(request, rooms.person)
        assert accepted.supervision is not None
        (observer,) = accepted.supervision.observers
        first, second = accepted.turns
        await rooms.turn_in(second.turn_id)
        await rooms.service.cancel_turn(first.turn_id, "x")
        assert (await rooms.turn_in(observer.turn_id)).status == "cancelled"
        cards = {card.actor_id: card for card in (await rooms.service.agents()).agents}
        assert cards["agent:eye"].queued_turns == 0


async def test_others_of_the_root_read_that_somebody_was_steered_and_why(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        rooms.fleet.capabilities = STEERS
        here = await scene(rooms)
        await rooms.watches.steer(here.eye, advise("nudge"))
        events = (await rooms.reads.read(rooms.caller("a"), None, 0, 100)).events
        (steered,) = [e for e in events if e.type == "supervision.steered"]
        assert (steered.status, steered.content) == ("nudge", "Wrong file.")
        assert (steered.sender, steered.turn_id) == ("agent:eye", here.subject)


async def test_a_watch_ends_with_the_observers_own_turn(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        await here.look(Look(timeout_s=5.0))
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(
                refused(ErrorCode.MCP_BINDING_MISMATCH, here.look(Look(timeout_s=5.0)))
            )
            await rooms.service.cancel_turn(here.observer, "x")
        assert waiting.done()


async def test_who_watches_nobody_can_neither_watch_nor_steer(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        caller = await rooms.at_work("a")
        required = ErrorCode.SUPERVISION_WATCH_REQUIRED
        await refused(required, rooms.watches.watch(caller, LOOK))
        await refused(required, rooms.watches.steer(caller, advise("nudge")))
        await refused(required, rooms.watches.steer(caller, advise("interrupt")))
        assert await rooms.events("supervision.steered") == []


async def test_an_observers_packet_says_what_it_watches_and_what_for(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms, brief="Watch the clock.")
        packet = next(p for p in rooms.fleet.prompts if "Watch the clock." in p.split("note=")[-1])
        assert f"subject={here.subject} agent=agent:a" in packet
        assert "rules=You are an observer" in packet
        (work,) = [p for p in rooms.fleet.prompts if "[current_message" in p and p is not packet]
        assert "supervision_watch" not in work
        assert "Watch the clock." not in work


async def test_an_observer_can_neither_send_to_nor_ask_whom_it_watches(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        here = await scene(rooms)
        code = ErrorCode.SUPERVISION_STEER_REQUIRED
        await refused(code, rooms.calls.send(here.eye, Say("1", "stop", ["a"])))
        say = Say("2", "why?", ["b", "a"])
        await refused(code, rooms.calls.ask(here.eye, say, 1.0, cancel_on_timeout=False))
        sent = await rooms.calls.send(here.eye, Say("3", "help", ["b"]))
        assert [turn.target for turn in sent.turns] == ["agent:b"]


async def test_an_agent_sets_observers_on_whom_it_wakes(tmp_path: Path) -> None:
    async with house(tmp_path, NAMES) as rooms:
        caller = await rooms.at_work("b")
        own = (await rooms.reads.turn_status(caller, None)).turn_id
        say = Say("1", "tidy up", ["a"], observers=["@eye"], brief="the clock")
        result = await rooms.calls.ask(caller, say, 5.0, cancel_on_timeout=False)
        assert [(one.target, one.status) for one in result.results] == [("agent:a", "completed")]
        (observer,) = result.observers
        turn = await rooms.turn_in(observer.turn_id)
        assert (turn.parent_turn_id, turn.hop_count) == (own, 1)
        briefs = [m for m in await rooms.events("message.created") if m["body"].get("kind")]
        assert [b["actor"]["actorId"] for b in briefs] == ["agent:b"]
        itself = Say("2", "tidy up", ["a"], observers=["b"])
        await refused(ErrorCode.SUPERVISION_PAIR_INVALID, rooms.calls.send(caller, itself))
        assert await rooms.ledger.read(find_violations) == []


# ── Steering ──────────────────────────────────────────────────────────────────────────────────


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
