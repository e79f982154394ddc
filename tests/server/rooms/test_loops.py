"""Agents that were stopped: what a person's “go on” does, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import ErrorCode, RefusedError
from support.rooms import House, house


async def stopped(rooms: House, content: str = "go on with it") -> str:
    """`a` was stopped when it called `b`; the root's id."""
    caller = await rooms.at_work("a")
    with pytest.raises(RefusedError):
        await rooms.calls.send(caller, rooms.say(content))
    root = (await rooms.reads.turn_status(caller, None)).correlation_id
    rooms.gates.pop("a").set()
    await rooms.all_ended()
    return root


async def test_what_was_held_is_sent_by_its_author_once(tmp_path: Path) -> None:
    async with house(tmp_path, limits=Limits(root_turns=1)) as rooms:
        root = await stopped(rooms)
        reply = await rooms.service.continue_root(root, "k", rooms.person)
        assert (reply.correlation_id, reply.continues) == (root, 1)
        (sent,) = reply.messages
        assert (await rooms.turn_in(sent.turns[0].turn_id)).status == "completed"
        event = (await rooms.events("message.created", sent.message_event_id))[0]
        assert event["actor"]["actorId"] == "agent:a"
        assert event["body"]["content"] == "go on with it"
        assert event["correlationId"] == root
        (told,) = await rooms.events("routing.loop_continued")
        assert told["body"] == {"continues": 1, "releasedEventIds": [sent.message_event_id]}
        again = await rooms.service.continue_root(root, "k", rooms.person)
        assert again == reply
        assert len(await rooms.events("routing.loop_continued")) == 1
        assert await rooms.ledger.read(find_violations) == []


async def test_the_limits_count_once_more_and_then_stop_again(tmp_path: Path) -> None:
    async with house(tmp_path, limits=Limits(root_turns=1)) as rooms:
        root = await stopped(rooms)
        reply = await rooms.service.continue_root(root, "k1", rooms.person)
        await rooms.turn_in(reply.messages[0].turns[0].turn_id)
        with pytest.raises(RefusedError) as refused:
            await rooms.service.continue_root(root, "k2", rooms.person)
        assert refused.value.code is ErrorCode.STORE_CONFLICT
        assert [e["body"]["continues"] for e in await rooms.events("routing.loop_stopped")] == [0]


async def test_ping_pong_is_stopped_shown_and_goes_on_when_a_person_wants(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, limits=Limits(ping_pong_calls=2)) as rooms:

        async def pass_on(by: str, to: str) -> None:
            await rooms.calls.send(rooms.caller(by), rooms.say(f"{by} to {to}", to))

        def player(by: str, to: str) -> list[object]:
            return [ContentDelta("."), lambda: pass_on(by, to), TurnCompleted()]

        rooms.fleet.plan("a", *(player("a", "b") for _ in range(4)))  # type: ignore[arg-type]
        rooms.fleet.plan("b", *(player("b", "a") for _ in range(4)))  # type: ignore[arg-type]
        root = (await rooms.send("begin", ["a"])).correlation_id
        (stop,) = await rooms.events_once("routing.loop_stopped")
        assert stop["body"]["kind"] == "ping_pong"
        assert stop["body"]["held"]["content"] == "a to b"
        await rooms.all_ended()
        calls = [e["body"]["content"] for e in await rooms.events("message.created") if e["to"]]
        assert calls == ["begin", "a to b", "b to a"]
        await rooms.service.continue_root(root, "k", rooms.person)
        await rooms.events_once("routing.loop_stopped", 2)
        await rooms.all_ended()
        calls = [e["body"]["content"] for e in await rooms.events("message.created") if e["to"]]
        assert calls == ["begin", "a to b", "b to a", "a to b", "b to a"]


async def test_a_spent_budget_ends_the_next_turn_clearly_and_can_be_raised(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, limits=Limits(tokens_per_root=100)) as rooms:
        caller = await rooms.at_work("a")
        await rooms.at_work("b")
        spend = TurnCompleted("spent", usage={"totalTokens": 150})
        rooms.fleet.plan("b", [ContentDelta("x"), spend])
        sent = [await rooms.calls.send(caller, rooms.say(f"n{n}")) for n in range(2)]
        rooms.gates["b"].set()
        first, second = [await rooms.turn_in(one.turns[0].turn_id) for one in sent]
        assert first.status == "completed"
        assert (second.status, second.error_code) == ("failed", "BUDGET_EXCEEDED")
        assert "not sent to the agent" in (second.error_message or "")
        assert second.delivery_certainty is None
        (stop,) = await rooms.events("routing.loop_stopped")
        assert stop["body"]["kind"] == "tokens_per_root"
        with pytest.raises(RefusedError) as refused:
            await rooms.calls.send(caller, rooms.say())
        assert refused.value.code is ErrorCode.BUDGET_EXCEEDED
        root = first.correlation_id
        reply = await rooms.service.continue_root(root, "k", rooms.person)
        turn = await rooms.turn_in(reply.messages[0].turns[0].turn_id)
        assert (turn.status, turn.correlation_id) == ("completed", root)
        assert (await rooms.service.usage(None, root, None)).totals.total_tokens == 150
        assert await rooms.ledger.read(find_violations) == []


async def test_nothing_is_done_when_a_held_message_is_refused_again(tmp_path: Path) -> None:
    async with house(tmp_path, limits=Limits(queue_per_agent=1)) as rooms:
        caller = await rooms.at_work("a")
        await rooms.at_work("b")
        with pytest.raises(RefusedError):
            await rooms.calls.send(caller, rooms.say())
        root = (await rooms.reads.turn_status(caller, None)).correlation_id
        seq = rooms.ledger.last_seq
        with pytest.raises(RefusedError) as refused:
            await rooms.service.continue_root(root, "k", rooms.person)
        assert refused.value.code is ErrorCode.QUEUE_CAPACITY_REACHED
        assert rooms.ledger.last_seq == seq
        rooms.gates["b"].set()
        await rooms.ended_in("b")
        reply = await rooms.service.continue_root(root, "k", rooms.person)
        assert (await rooms.turn_in(reply.messages[0].turns[0].turn_id)).status == "completed"


@pytest.mark.parametrize(
    ("root", "code"),
    [("corr_none", ErrorCode.UNKNOWN_EVENT), ("", ErrorCode.STORE_CONFLICT)],
)
async def test_what_is_unknown_or_not_stopped_is_refused(
    tmp_path: Path, root: str, code: ErrorCode
) -> None:
    async with house(tmp_path) as rooms:
        mine = (await rooms.send()).correlation_id
        with pytest.raises(RefusedError) as refused:
            await rooms.service.continue_root(root or mine, "k", rooms.person)
        assert refused.value.code is code
