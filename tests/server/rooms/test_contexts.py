"""One sees exactly what an agent would get; a reset really begins anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import Source
from groupx_server.ledger.search import Filters
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.context import ResetContext
from groupx_shared.wire.memory import RememberMemory, ScopeRequest
from support.rooms import House, house


async def _remember(rooms: House, content: str, *, pinned: bool = False) -> str:
    rooms.commands += 1
    request = RememberMemory(
        client_command_id=f"m{rooms.commands}",
        scope=ScopeRequest(type="room", id="room:main"),
        kind="fact",
        content=content,
        pinned=pinned,
    )
    return (await rooms.service.memories.remember(request, Source())).memory.memory_id


async def test_the_preview_is_what_the_agent_then_gets(tmp_path: Path) -> None:
    async with house(tmp_path, identity="You are careful.") as rooms:
        await _remember(rooms, "the port is 4310", pinned=True)
        await _remember(rooms, "tea is at four")
        await rooms.send("something said", to=[])
        shown = await rooms.service.contexts.preview("room:main", "a", None, "what is the port?")
        await rooms.ended(await rooms.send("what is the port?"))
        [prompt] = rooms.fleet.prompts
        assert (shown.session, shown.needs_compaction) == ("new", False)
        names = [section.name for section in shown.sections]
        assert names == [
            "groupx_protocol",
            "configured_agent_identity",
            "pinned_group_memory",
            "relevant_memory",
            "room_delta_since_cursor",
            "current_message",
        ]
        assert [f"[{name} " in prompt for name in names] == [True] * len(names)
        assert sum(s.characters + 2 for s in shown.sections) - 2 == shown.characters
        assert shown.characters == len(shown.text)


async def test_the_preview_names_what_is_left_out(tmp_path: Path) -> None:
    async with house(tmp_path, limits=Limits(context_characters=8_000)) as rooms:
        large = await _remember(rooms, "x" * 7_000)
        await _remember(rooms, "small")
        await rooms.send("y" * 5_900, to=[])
        shown = await rooms.service.contexts.preview("room:main", "agent:a", "new", "")
        sections = {section.name: section for section in shown.sections}
        memory = sections["relevant_memory"]
        assert (memory.included, memory.omitted) == (1, 1)  # one too large lets the next in
        assert memory.left_out[0].id == large
        assert sections["room_delta_since_cursor"].omitted == 1
        assert shown.needs_compaction


async def test_what_search_finds_for_the_message_comes_before_what_is_newer(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, limits=Limits(context_characters=6_000)) as rooms:
        await _remember(rooms, "the port is 4310 " + "w" * 1_200)
        for number in range(4):
            await _remember(rooms, f"note {number} " + "v" * 1_200)
        await rooms.service.searching.find("port", Filters(), None, 1)  # the index is up to date
        shown = await rooms.service.contexts.preview("room:main", "a", None, "-which +port is it?")
        assert "the port is 4310" in shown.text


async def test_the_preview_changes_nothing_and_knows_a_continued_session(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send("first"))
        seen = rooms.ledger.last_seq
        shown = await rooms.service.contexts.preview("room:main", "a", None, "")
        assert shown.session == "continued"
        assert "first" not in shown.text
        again = await rooms.service.contexts.preview("room:main", "a", "new", "")
        assert "first" in again.text
        assert rooms.ledger.last_seq == seen


async def test_an_unknown_agent_or_room_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        for room, agent, code in (
            ("room:main", "nobody", ErrorCode.UNKNOWN_TARGET),
            ("room:none", "a", ErrorCode.UNKNOWN_ROOM),
        ):
            with pytest.raises(RefusedError) as refused:
                await rooms.service.contexts.preview(room, agent, None, "")
            assert refused.value.code is code


async def test_after_a_reset_an_agent_gets_a_new_native_session(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send("a secret"))
        request = ResetContext(client_command_id="r1")
        assert (await rooms.service.contexts.reset("room:main", request)).reset
        assert (await rooms.service.contexts.reset("room:main", request)).reset  # said again
        await rooms.ended(await rooms.send("hello again"))
        assert len(rooms.fleet.requests) == 2
        assert rooms.fleet.requests[1].resume_native_id is None
        assert "a secret" not in rooms.fleet.prompts[-1]
        assert "session=new" in rooms.fleet.prompts[-1]


async def test_a_reset_may_leave_native_sessions_alone(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send("first"))
        request = ResetContext(client_command_id="r1", native_sessions=False)
        await rooms.service.contexts.reset("room:main", request)
        await rooms.ended(await rooms.send("second"))
        assert len(rooms.fleet.requests) == 1


async def test_native_sessions_that_a_reset_left_alone_can_still_be_begun_anew(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send("first"))
        kept = ResetContext(client_command_id="r1", native_sessions=False)
        await rooms.service.contexts.reset("room:main", kept)
        anew = [ResetContext(client_command_id=f"r{number}") for number in (2, 3)]
        assert (await rooms.service.contexts.reset("room:main", anew[0])).reset
        assert not (await rooms.service.contexts.reset("room:main", anew[1])).reset
        await rooms.ended(await rooms.send("second"))
        assert [r.resume_native_id for r in rooms.fleet.requests] == [None, None]
        assert "session=new" in rooms.fleet.prompts[-1]
        assert "first" not in rooms.fleet.prompts[-1]
