"""Roots: found by their turns, newest first, read and cancelled as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.accept import Source
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.requests import SendMessage
from support.rooms import House, house

NOBODY = Source()


async def three(rooms: House) -> list[str]:
    """Three ended roots, oldest first."""
    roots = []
    for number in range(3):
        accepted = await rooms.send(f"number {number}")
        await rooms.ended(accepted)
        roots.append(accepted.correlation_id)
    return roots


async def test_roots_come_newest_first_in_pages_each_once(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        roots = await three(rooms)
        first = await rooms.service.roots.list(None, "all", None, 2)
        assert [root.correlation_id for root in first.roots] == [roots[2], roots[1]]
        second = await rooms.service.roots.list(None, "all", first.next_before, 2)
        assert [root.correlation_id for root in second.roots] == [roots[0]]
        assert second.next_before is None


async def test_a_root_tells_who_began_it_and_how_far_it_is(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        accepted = await rooms.send("look at\nthis", ["a", "b"])
        await rooms.all_ended()
        (root,) = (await rooms.service.roots.list("room:main", "all", None, 5)).roots
        assert root.message_event_id == accepted.message_event_id
        assert (root.actor_id, root.excerpt) == ("user:web", "look at this")
        assert (root.status, root.turns, root.open_turns) == ("ended", 2, 0)
        assert root.agents == ("agent:a", "agent:b")


async def test_an_agents_call_belongs_to_the_root_it_was_made_in(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a", "find it")
        rooms.fleet.plan("b", [ContentDelta("here"), TurnCompleted()])
        await rooms.calls.send(caller, rooms.say("where", "b"))
        await rooms.ended_in("b")
        (root,) = (await rooms.service.roots.list(None, "open", None, 5)).roots
        assert (root.turns, root.open_turns, root.excerpt) == (2, 1, "find it")
        shown = await rooms.service.roots.show(root.correlation_id)
        above, below = shown.turns
        assert below.parent_turn_id == above.turn_id
        assert shown.usage.turns == 2


async def test_only_open_roots_are_told_when_asked_for(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await three(rooms)
        await rooms.at_work("b", "still on it")
        (root,) = (await rooms.service.roots.list(None, "open", None, 10)).roots
        assert (root.excerpt, root.status) == ("still on it", "open")


async def test_a_root_is_cancelled_with_all_that_hangs_on_it_once(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a", "find it")
        await rooms.at_work("b", "something else")
        await rooms.calls.send(caller, rooms.say("where", "b"))
        roots = (await rooms.service.roots.list(None, "open", None, 5)).roots
        mine = next(root for root in roots if root.excerpt == "find it")
        done = await rooms.service.roots.cancel(mine.correlation_id, "stop")
        assert {reply.status for reply in done.turns} == {"cancelled", "cancelling"}
        again = await rooms.service.roots.cancel(mine.correlation_id, "stop")
        assert again == done
        await rooms.ended_in("a")
        left = (await rooms.service.roots.list(None, "open", None, 5)).roots
        assert [root.excerpt for root in left] == ["something else"]


async def test_an_unknown_root_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        for work in (rooms.service.roots.show("corr_x"), rooms.service.roots.cancel("corr_x", "1")):
            with pytest.raises(RefusedError) as refused:
                await work
            assert refused.value.code is ErrorCode.UNKNOWN_EVENT


async def test_a_message_is_passed_on_with_its_author(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.plan("a", [ContentDelta("line one\nline two"), TurnCompleted()])
        turn = await rooms.ended(await rooms.send("what is it"))
        request = SendMessage(
            client_command_id="f1",
            to=["b"],
            content="see this",
            forwarded_event_id=turn.response_event_id,
        )
        accepted = await rooms.service.send(request, NOBODY)
        await rooms.turn_in(accepted.turns[0].turn_id)
        (message,) = await rooms.events("message.created", accepted.message_event_id)
        assert message["forwardedEventId"] == turn.response_event_id
        assert message["actor"]["actorId"] == "user:web"
        assert message["body"]["forwarded"]["actorId"] == "agent:a"
        head, _, quoted = message["body"]["content"].partition("\n> ")
        assert head.startswith("see this\n\nForwarded: A (agent:a) wrote at ")
        assert quoted == "line one\n> line two"
        assert "line two" in rooms.fleet.prompts[-1]


async def test_only_messages_are_passed_on_and_only_known_ones(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        turn = await rooms.ended(await rooms.send("hi"))
        for event_id, code in (
            (turn.terminal_event_id, ErrorCode.INVALID_ENVELOPE),
            ("evt_none", ErrorCode.UNKNOWN_EVENT),
        ):
            request = SendMessage(client_command_id="f", content="", forwarded_event_id=event_id)
            with pytest.raises(RefusedError) as refused:
                await rooms.service.send(request, NOBODY)
            assert refused.value.code is code


async def test_costs_are_added_up_by_agent_room_or_root(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        for tokens in (5, 7):
            told = {"inputTokens": tokens, "outputTokens": 1}
            rooms.fleet.plan("a", [ContentDelta("x"), TurnCompleted(usage=dict(told))])
            await rooms.ended(await rooms.send())
        by_agent = await rooms.service.usage(None, None, None)
        assert [(g.key, g.total_tokens) for g in by_agent.groups] == [("agent:a", 14)]
        by_room = await rooms.service.usage(None, None, None, "room")
        assert [(g.key, g.turns) for g in by_room.groups] == [("room:main", 2)]
        by_root = await rooms.service.usage(None, None, None, "root", 1)
        assert [g.total_tokens for g in by_root.groups] == [8]
        assert by_root.totals.total_tokens == 14
