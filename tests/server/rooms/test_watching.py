"""Observers over a real ledger and lanes: nothing missed, nothing stale, nothing told twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from groupx_server.domain.native import (
    ContentDelta,
    ReasoningDelta,
    ToolProgress,
    TurnCompleted,
)
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms.calls import Say
from groupx_server.rooms.watching import Look
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.requests import SendMessage, Supervision
from support.fake_driver import Script
from support.rooms import house
from support.watching import LOOK, NAMES, STEERS, advise, all_steps, call, kinds, refused, scene


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
