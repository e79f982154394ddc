"""What agents may look up: bounded, from where it says, and nothing that is not theirs to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import (
    ContentDelta,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCompleted,
)
from groupx_server.rooms import readpages
from groupx_server.rooms.toldtext import RESULT_CHARS
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.requests import CreateRoom, SendMessage
from support.fake_driver import Script
from support.rooms import House, house


async def other_room(rooms: House, content: str = "a secret") -> str:
    """A message in another room; its event id."""
    await rooms.service.create_room(CreateRoom(client_command_id="r", title="side"))
    request = SendMessage(client_command_id="m", content=content, room_id="room:side")
    return (await rooms.service.send(request, rooms.person)).message_event_id


async def refused(code: ErrorCode, call: object) -> None:
    with pytest.raises(RefusedError) as found:
        await call  # type: ignore[misc]
    assert found.value.code is code


async def test_reading_gives_ones_own_root_in_order_and_its_turns(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a", "the task")
        secret = ToolCall("t", "cat keys", "execute", "completed")
        script: Script = [
            ReasoningDelta("hm"),
            ToolProgress(secret, "ended"),
            ContentDelta("done"),
            TurnCompleted(),
        ]
        rooms.fleet.plan("b", script)
        sent = await rooms.calls.send(caller, rooms.say("look at it"))
        await rooms.turn_in(sent.turns[0].turn_id)
        found = await rooms.reads.read(caller, None, 0, 100)
        assert found.correlation_id == sent.correlation_id
        messages = [e for e in found.events if e.type == "message.created"]
        assert [(m.sender, m.sender_kind, m.content) for m in messages] == [
            ("user:web", "person", "the task"),
            ("agent:a", "agent", "look at it"),
            ("agent:b", "agent", "done"),
        ]
        assert messages[0].provenance == f"{messages[0].event_id} by user:web “You” (a person)"
        assert [(turn.target, turn.status) for turn in found.turns] == [
            ("agent:a", "running"),
            ("agent:b", "completed"),
        ]
        kinds = {event.type for event in found.events}
        assert not kinds & {"turn.reasoning.recorded", "tool.progress.recorded", "session.ready"}
        assert found.next_after_seq is None


async def test_pages_follow_each_other_without_a_gap(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        for number in range(9):
            await rooms.calls.publish(caller, rooms.say(f"note {number} " + "x" * 7_000, to=""))
        whole = await rooms.reads.read(caller, None, 0, 500)
        sizes, seqs, after = [], [], 0
        while True:
            page = await rooms.reads.read(caller, None, after, 4)
            seqs += [event.seq for event in page.events]
            sizes.append(sum(len(event.content or "") for event in page.events))
            if page.next_after_seq is None:
                break
            after = page.next_after_seq
        assert max(sizes) <= RESULT_CHARS
        assert len(seqs) == len(set(seqs)) == 12
        assert whole.next_after_seq is not None
        cut = next(e for e in whole.events if (e.content or "").startswith("note 0"))
        assert cut.next_offset == readpages.EVENT_CHARS
        rest = await rooms.reads.text(caller, cut.event_id, cut.next_offset)
        assert (cut.content or "") + rest.content == "note 0 " + "x" * 7_000


async def test_a_stop_is_read_with_its_sentence(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        rooms.runtime.limits = Limits(hop_count=0)
        with pytest.raises(RefusedError):
            await rooms.calls.send(caller, rooms.say())
        events = (await rooms.reads.read(caller, None, 0, 100)).events
        stop = next(e for e in events if e.type == "routing.loop_stopped")
        assert (stop.status, stop.sender_kind) == ("hop_count", "groupx")
        assert "limits.hopCount" in (stop.content or "")


async def test_what_is_in_another_room_cannot_be_read(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        event_id = await other_room(rooms)
        there = (await rooms.service.turns("room:main", "all", None, None, 1)).turns[0]
        await refused(ErrorCode.UNKNOWN_EVENT, rooms.reads.text(caller, event_id, 0))
        await refused(ErrorCode.UNKNOWN_EVENT, rooms.reads.read(caller, "corr_none", 0, 10))
        await refused(ErrorCode.UNKNOWN_TURN, rooms.reads.turn_status(caller, "turn_none"))
        found = await rooms.reads.search(caller, "secret", None, 10)
        assert found.hits == ()
        assert there.room_id == "room:main"


async def test_reasoning_of_others_cannot_be_read_by_its_id(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        rooms.fleet.plan("b", [ReasoningDelta("private"), ContentDelta("x"), TurnCompleted()])
        sent = await rooms.calls.send(caller, rooms.say())
        await rooms.turn_in(sent.turns[0].turn_id)
        page = await rooms.events("turn.reasoning.recorded")
        await refused(ErrorCode.INVALID_ENVELOPE, rooms.reads.text(caller, page[0]["eventId"], 0))


async def test_every_lookup_needs_a_running_turn(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        own = (await rooms.reads.turn_status(caller, None)).turn_id
        rooms.gates["a"].set()
        await rooms.turn_in(own)
        for call in (
            rooms.reads.read(caller, None, 0, 10),
            rooms.reads.text(caller, "evt_1", 0),
            rooms.reads.turn_status(caller, None),
            rooms.reads.roster(caller),
            rooms.reads.search(caller, "x", None, 10),
        ):
            await refused(ErrorCode.MCP_BINDING_MISMATCH, call)


async def test_a_turns_state_tells_its_queue_and_what_it_called(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a")
        await rooms.at_work("b")
        sent = await rooms.calls.send(caller, rooms.say())
        own = await rooms.reads.turn_status(caller, None)
        assert (own.target, own.status) == ("agent:a", "running")
        assert [turn.turn_id for turn in own.called] == [sent.turns[0].turn_id]
        waiting = await rooms.reads.turn_status(caller, sent.turns[0].turn_id)
        assert (waiting.status, waiting.queue_position) == ("queued", 1)
        assert waiting.active_turn_id == sent.turns[0].active_turn_id
        assert waiting.parent_turn_id == own.turn_id


async def test_the_roster_says_who_works_on_what_in_this_room_only(tmp_path: Path) -> None:
    async with house(tmp_path, ("a", "b", "c")) as rooms:
        caller = await rooms.at_work("a", "first line\nsecond")
        await rooms.service.create_room(CreateRoom(client_command_id="r", title="side"))
        await rooms.at_work("b", "elsewhere", room_id="room:side")
        roster = await rooms.reads.roster(caller)
        a, b, c = roster.agents
        assert (a.is_you, a.status, a.doing) == (True, "working", "first line second")
        assert "user:web" in (a.provenance or "")
        assert (b.is_you, b.status, b.doing, b.active_turn_id) == (False, "working", None, None)
        assert c.status == "stopped"
        assert (roster.room_id, roster.people) == ("room:main", ("user:web",))


async def test_search_asks_the_index_finds_what_was_just_said_and_goes_on_with_a_cursor(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        caller = await rooms.at_work("a", "the login page")
        await rooms.calls.publish(caller, rooms.say("Logins work\nagain", to=""))
        first = await rooms.reads.search(caller, "login", None, 1)
        rest = await rooms.reads.search(caller, "login", first.next_cursor, 10)
        found = [*first.hits, *rest.hits]
        assert {(hit.sender_kind, hit.excerpt) for hit in found} == {
            ("person", "the login page"),
            ("agent", "Logins work again"),
        }
        by_agent = next(hit for hit in found if hit.sender_kind == "agent")
        assert by_agent.provenance == f"{by_agent.event_id} by agent:a “A” (an agent, not a person)"
        assert (first.behind, rest.next_cursor) == (0, None)
        await refused(
            ErrorCode.INVALID_ENVELOPE, rooms.reads.search(caller, "login", "none of ours", 10)
        )
