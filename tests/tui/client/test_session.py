"""The session as the app uses it: a real socket, no drawing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

import pytest

from groupx_shared.errors import RefusedError
from groupx_shared.workspace import Workspace
from groupx_tui.client import session as session_module
from groupx_tui.client import windows
from groupx_tui.client.session import ClientSession
from groupx_tui.state.model import ClientView, MessageBlock, TurnBlock
from support.fake_server import FakeServer, refuse
from support.loopback_http import HttpRequest, Responder
from support.room_events import MAIN, agent_actor, event
from support.server_place import Place

OTHER = "room:other"


class Window:
    """What a Textual app would be: it is told each change, and can wait for one."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.told: list[ClientView] = []
        self._changed = asyncio.Event()

    def on_change(self, view: ClientView) -> None:
        self.told.append(view)
        self._changed.set()

    async def until(self, test: Callable[[ClientView], bool]) -> ClientView:
        async with asyncio.timeout(5):
            while not test(self.session.view):
                self._changed.clear()
                await self._changed.wait()
        return self.session.view


async def no_pause(pause: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
async def window(server: FakeServer, place: Place, tmp_path: Path) -> AsyncIterator[Window]:
    workspace = Workspace(tmp_path / "groupx.json", tmp_path, is_default=False)
    for number in range(30):
        server.script.say(f"message {number + 1}")
    server.script.say("there", room=OTHER)
    session = ClientSession(workspace, find_server=place.find, sleep=no_pause)
    opened = Window(session)
    with (
        patch.object(session_module, "FIRST_EVENTS", 10),
        patch.object(windows, "PAGE_EVENTS", 10),
        patch.object(windows, "JUMP_EVENTS", 10),
        patch("groupx_tui.client.following.FIRST_EVENTS", 10),
    ):
        async with asyncio.TaskGroup() as group:
            running = group.create_task(session.run(opened.on_change))
            await server.stream_is_open()
            await opened.until(lambda view: view.connection == "live")
            yield opened
            running.cancel()
        await session.aclose()


def texts(view: ClientView) -> list[str]:
    return [str(block.text) for block in view.timeline.blocks]


async def test_the_first_change_is_told_before_anything_is_loaded(window: Window) -> None:
    assert window.told[0].connection == "connecting"
    assert texts(window.session.view) == [f"message {number}" for number in range(21, 31)]


async def test_sending_shows_the_message_once(server: FakeServer, window: Window) -> None:
    accepted = await window.session.send("hello", ["agent:codex"])
    server.push(server.script.durable[-1])
    view = await window.until(lambda view: view.cursor == accepted.seq)
    assert texts(view)[-1] == "hello"
    assert texts(view).count("hello") == 1


async def test_sending_from_far_back_shows_the_end(server: FakeServer, window: Window) -> None:
    await window.session.jump("first")
    assert window.session.view.timeline.has_more_after
    await window.session.send("hello")
    assert texts(window.session.view)[-1] == "hello"
    assert not window.session.view.timeline.has_more_after


async def test_a_refused_message_can_be_dismissed(server: FakeServer, window: Window) -> None:
    server.fail_next("/api/messages", refuse(409, "ROOM_ARCHIVED", "The room is archived."))
    with pytest.raises(RefusedError):
        await window.session.send("hello")
    block = window.session.view.timeline.blocks[-1]
    assert isinstance(block, MessageBlock)
    assert block.refusal == "The room is archived."
    window.session.dismiss(block.block_id)
    assert texts(window.session.view)[-1] == "message 30"


async def test_paging_both_ways(window: Window) -> None:
    session = window.session
    assert await session.load_before()
    assert texts(session.view)[0] == "message 11"
    assert await session.load_before()
    assert not await session.load_before()
    assert not await session.load_after()
    assert (await session.jump("first") or "").endswith("_1")


async def test_a_known_event_is_found_wherever_it_is(server: FakeServer, window: Window) -> None:
    session, script = window.session, server.script
    loaded, old, elsewhere = script.durable[25], script.durable[2], script.durable[30]
    assert await session.jump_to_event(loaded.event_id) == f"msg:{loaded.event_id}"
    assert len(server.paths()) == 3
    assert await session.jump_to_event(old.event_id) == f"msg:{old.event_id}"
    assert session.view.room_id == MAIN
    assert await session.jump_to_event(elsewhere.event_id) == f"msg:{elsewhere.event_id}"
    assert session.view.room_id == OTHER


async def test_switching_rooms_clears_what_was_unread(server: FakeServer, window: Window) -> None:
    server.push(server.script.say("news", room=OTHER, actor=agent_actor("codex")))
    await window.until(lambda view: any(room.unread for room in view.rooms))
    await window.session.switch_room(OTHER)
    view = window.session.view
    assert (view.room_id, texts(view), [room.unread for room in view.rooms]) == (
        OTHER,
        ["there", "news"],
        [0, 0],
    )
    server.push(server.script.say("more", room=OTHER))
    await window.until(lambda view: texts(view)[-1] == "more")


async def test_of_two_switches_the_later_one_counts(server: FakeServer, window: Window) -> None:
    async def switch_first(request: HttpRequest, respond: Responder) -> None:
        await window.session.switch_room(MAIN)
        await server._answer(request, respond)

    server.fail_next("/api/bootstrap", switch_first)
    await window.session.switch_room(OTHER)
    assert window.session.view.room_id == MAIN


async def test_a_room_read_too_early_is_read_again(server: FakeServer, window: Window) -> None:
    stale = server.script.bootstrap(OTHER, limit=10)

    async def answer_late(request: HttpRequest, respond: Responder) -> None:
        server.push(server.script.say("newer", room=OTHER))
        await window.until(lambda view: view.cursor == 32)
        await respond.whole(200, stale.to_wire())

    server.fail_next("/api/bootstrap", answer_late)
    await window.session.switch_room(OTHER)
    assert texts(window.session.view) == ["there", "newer"]


async def test_rooms_are_made_and_changed(server: FakeServer, window: Window) -> None:
    info = await window.session.create_room("Plans")
    assert info.room_id == "room:plans"
    assert "Plans".lower() in [room.title for room in window.session.view.rooms]
    await window.session.change_room("room:plans", title="Plans")
    assert server.paths()[-1] == "PATCH /api/rooms/room:plans"
    assert window.session.view.room_id == MAIN


async def test_an_agent_at_work_is_told_something(server: FakeServer, window: Window) -> None:
    reply = await window.session.advise("turn_1", "Not that.")
    assert (reply.delivery, reply.next_turn_id) == ("queued", "turn_2")
    assert server.paths()[-1] == "POST /api/turns/turn_1/advise"
    assert server.asked[-1].json["content"] == "Not that."


async def test_turns_are_cancelled_and_agents_restarted(server: FakeServer, window: Window) -> None:
    assert (await window.session.cancel("turn_1")).accepted
    assert (await window.session.restart_agent("agent:codex")).accepted
    assert server.paths()[-2:] == [
        "POST /api/turns/turn_1/cancel",
        "POST /api/agents/agent:codex/restart",
    ]


async def test_a_moment_is_found_by_few_requests(server: FakeServer, window: Window) -> None:
    asked = len(server.asked)
    at = datetime.fromisoformat("2026-01-01T00:00:07.500+00:00")
    block_id = await window.session.jump_to_time(at)
    blocks = {block.block_id: block for block in window.session.view.timeline.blocks}
    assert str(blocks[block_id or ""].text) == "message 8"
    assert len(server.asked) - asked < 9
    late = datetime.fromisoformat("2027-01-01T00:00:00+00:00")
    last = await window.session.jump_to_time(late)
    assert last == window.session.view.timeline.blocks[-1].block_id


async def test_a_search_is_of_the_shown_room_or_of_all(server: FakeServer, window: Window) -> None:
    assert len((await window.session.search("+message")).hits) == 30
    assert server.asked[-1].query["roomId"] == "room:main"
    await window.session.search("there", everywhere=True, limit=5)
    assert "roomId" not in server.asked[-1].query
    assert server.asked[-1].query["limit"] == "5"


async def test_turns_are_taken_up_again(server: FakeServer, window: Window) -> None:
    await window.session.retry("turn_1")
    await window.session.go_on("turn_2")
    assert server.paths()[-2:] == [
        "POST /api/turns/turn_1/retry",
        "POST /api/turns/turn_2/continue",
    ]


async def test_a_message_is_read_whole_wherever_it_is(server: FakeServer, window: Window) -> None:
    script = server.script
    first = script.durable[0]
    assert (await window.session.whole_message(first.event_id)).text == "message 1"
    long = script.write(
        "message.created",
        {"content": "a long…", "cut": True},
        actor=script.person,
        to=("agent:codex",),
    )
    server.texts[long.event_id] = "a long \x1b[2Jstory"
    message = await window.session.whole_message(long.event_id)
    assert (message.text, message.is_cut) == ("a long ␛[2Jstory", False)
    assert message.to == ("Codex",)


async def test_a_cut_text_is_fetched_whole(server: FakeServer, window: Window) -> None:
    script = server.script
    script.queue("t", "codex")
    *_, answer, end = script.end("t", "codex", answer="the ans…")
    cut = event(
        "message.created",
        {"turnId": "t", "content": "the ans…", "cut": True},
        seq=answer.seq,
        actor=agent_actor("codex"),
        event_id=answer.event_id,
    )
    server.push(script.durable[-3], cut, end)
    view = await window.until(lambda view: view.timeline.blocks[-1].block_id == "turn:t")
    block = view.timeline.blocks[-1]
    assert isinstance(block, TurnBlock)
    assert block.is_cut
    server.texts[answer.event_id] = "the answer\x1b, whole"
    assert await window.session.load_full_text("turn:t") == "the answer␛, whole"
    block = window.session.view.timeline.blocks[-1]
    assert isinstance(block, TurnBlock)
    assert (str(block.text), block.is_cut) == ("the answer␛, whole", False)
    assert await window.session.load_full_text("turn:unknown") == ""


async def test_the_readers_side_is_noted_without_a_change(window: Window) -> None:
    told = len(window.told)
    window.session.set_reader_side("start")
    assert window.session.view.timeline.reader_side == "start"
    assert len(window.told) == told


async def test_closing_is_shown(window: Window) -> None:
    await window.session.aclose()
    assert window.session.view.connection == "closed"
