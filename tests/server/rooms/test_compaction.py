"""A room that grows too long is summed up, once, by whoever can; what fails changes nothing."""

from __future__ import annotations

import asyncio
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted, TurnFailed
from groupx_server.ledger.summaries import Summary, active_summary
from groupx_server.rooms import compaction, scribes
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.context import CompactContext
from support.rooms import House, house

SMALL = Limits(context_characters=20_000)
SUMMED = "- The port is 4310."


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "FIRST_PAUSE_S", 0.0)


def _wrote(text: str, stop_reason: str = "end_turn") -> list[Any]:
    return [ContentDelta(text), TurnCompleted(stop_reason=stop_reason)]


def _failed(code: ErrorCode) -> list[Any]:
    return [TurnFailed(code, "no luck")]


async def _talk(rooms: House, count: int = 20) -> None:
    for number in range(count):
        await rooms.send(f"message {number} " + "x" * 1_000, to=[])


async def _summary(rooms: House) -> Summary | None:
    return await rooms.ledger.read(lambda book: active_summary(book, "room:main"))


async def _cursor(rooms: House) -> tuple[Any, ...] | None:
    row = await rooms.ledger.read(
        lambda book: book.execute(
            "SELECT last_delivered_seq, last_summary_seq FROM delivery_cursors"
            " WHERE actor_id = 'agent:a'"
        ).fetchone()
    )
    return None if row is None else tuple(row)


async def test_a_turn_gets_the_summary_and_the_newest_messages(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", _wrote(SUMMED))
        turn = await rooms.ended(await rooms.send("and now?"))
        assert turn.status == "completed"
        asked, told = rooms.fleet.prompts
        assert "message 0 x" in asked
        assert SUMMED in told
        assert "message 0 x" not in told
        assert "message 19 x" in told
        summary = await _summary(rooms)
        assert summary is not None
        cursor = await _cursor(rooms)
        assert cursor is not None
        assert cursor[1] == summary.through_seq < cursor[0]


async def test_the_next_turns_need_no_other_summary(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", _wrote(SUMMED))
        await rooms.ended(await rooms.send("and now?"))
        await rooms.ended(await rooms.send("and then?"))
        assert len(rooms.fleet.prompts) == 3
        assert SUMMED not in rooms.fleet.prompts[-1]  # it was told


async def test_a_summary_counts_as_told_only_when_the_agent_has_begun(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", _wrote(SUMMED))
        rooms.fleet.plan("a", _failed(ErrorCode.SESSION_NOT_AVAILABLE))
        assert (await rooms.ended(await rooms.send("and now?"))).status == "failed"
        assert await _cursor(rooms) is None
        await rooms.ended(await rooms.send("and now?"))
        assert SUMMED in rooms.fleet.prompts[-1]
        summary, cursor = await _summary(rooms), await _cursor(rooms)
        assert summary is not None
        assert cursor is not None
        assert cursor[1] == summary.through_seq
        await rooms.ended(await rooms.send("and then?"))
        assert SUMMED not in rooms.fleet.prompts[-1]


async def test_when_every_agent_fails_the_turn_ends_and_nothing_is_changed(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        for name in ("a", "b"):
            rooms.fleet.plan(name, _failed(ErrorCode.PROTOCOL_INVALID_MESSAGE))
        turn = await rooms.ended(await rooms.send("and now?"))
        assert (turn.status, turn.error_code) == ("failed", "CONTEXT_BUDGET_EXCEEDED")
        assert "no luck" in (turn.error_message or "")
        assert await _summary(rooms) is None
        assert await _cursor(rooms) is None
        phases = [b["phase"] for b in rooms.listener.bodies("context.compaction.failed")]
        assert phases == ["failed"]


@pytest.mark.parametrize(
    "script",
    [
        _wrote("  \n"),
        _wrote("half a", "max_tokens"),
        _wrote("y" * 9_000),
    ],
    ids=["empty", "cut", "too long"],
)
async def test_a_summary_that_is_not_one_is_refused_and_the_next_agent_asked(
    tmp_path: Path, script: list[Any]
) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", script)
        rooms.fleet.plan("b", _wrote(SUMMED))
        turn = await rooms.ended(await rooms.send("and now?"))
        assert turn.status == "completed"
        summary = await _summary(rooms)
        assert summary is not None
        assert (summary.content, summary.generator_actor_id) == (SUMMED, "agent:b")


async def test_an_error_told_as_an_answer_is_no_summary(tmp_path: Path) -> None:
    async with house(tmp_path, names=("a",)) as rooms:
        await _talk(rooms)
        rooms.fleet.ends_texts = False
        rooms.fleet.plan("a", _wrote("Ran into this error: the model says no."))
        await _asked_for(rooms, keep=2)
        await rooms.listener.until(lambda: _phases(rooms)[-1:] == ["failed"])
        assert await _summary(rooms) is None
        usage = await rooms.service.contexts.usage("room:main")
        assert usage.compaction is not None
        why = usage.compaction.error_message or ""
        assert why.startswith("The room could not be summed up: A: ")
        assert "the model says no" in why


async def test_a_summary_longer_than_what_it_stands_for_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.send("hi", to=[])
        for name in ("a", "b"):
            rooms.fleet.plan(name, _wrote("Somebody greeted the room."))
        await _asked_for(rooms, keep=0)
        await rooms.listener.until(lambda: _phases(rooms)[-1:] == ["failed"])
        assert await _summary(rooms) is None


async def test_a_moments_trouble_is_tried_again(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        for name in ("a", "b"):
            rooms.fleet.plan(name, _failed(ErrorCode.TURN_IDLE_TIMEOUT))
        rooms.fleet.plan("a", _wrote(SUMMED))
        turn = await rooms.ended(await rooms.send("and now?"))
        assert turn.status == "completed"
        assert _phases(rooms) == ["started", "retrying", "completed"]


async def test_who_does_not_finish_in_time_is_not_asked_at_once_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scribes, "WITHIN_S", 0.05)
    async with house(tmp_path, names=("a",)) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", [asyncio.Event()])
        await _asked_for(rooms, keep=2)
        await rooms.listener.until(lambda: _phases(rooms) == ["started", "failed"])
        assert len(rooms.fleet.prompts) == 1


async def test_where_nobody_writes_summaries_the_packet_says_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        for name in ("a", "b"):
            rooms.fleet.plan(name, _wrote("There is no model here.", "refusal"))
        turn = await rooms.ended(await rooms.send("and now?"))
        assert turn.status == "completed"
        assert "omitted_older=" in rooms.fleet.prompts[-1]


async def test_a_person_has_all_but_the_last_messages_summed_up(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", _wrote(SUMMED))
        await _asked_for(rooms, keep=12)
        await rooms.listener.until(lambda: _phases(rooms)[-1:] == ["completed"])
        usage = await rooms.service.contexts.usage("room:main")
        assert usage.uncompacted_message_count == 12
        assert usage.compaction is not None
        assert usage.compaction.phase == "completed"
        request = CompactContext(client_command_id="again", keep=12)
        assert not (await rooms.service.contexts.compact("room:main", request)).accepted


async def test_a_writer_has_a_fresh_session_without_tools_in_an_empty_folder(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", _wrote(SUMMED))
        await _asked_for(rooms, keep=2)
        await rooms.listener.until(lambda: _phases(rooms)[-1:] == ["completed"])
        [request] = rooms.fleet.requests
        assert (request.mcp, request.resume_native_id) == (None, None)
        assert not request.cwd.exists()  # it was a folder of its own, and is gone


async def test_a_stop_in_the_middle_changes_nothing_and_the_turn_waits(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", [asyncio.Event()])
        sent = await rooms.send("and now?")
        await rooms.listener.until(lambda: _phases(rooms) == ["started"])
        await rooms.agents_stopped()
        assert (await rooms.service.turn(sent.turns[0].turn_id)).status == "queued"
        assert await _summary(rooms) is None


async def test_two_turns_that_need_it_wait_for_one_summary(tmp_path: Path) -> None:
    async with house(tmp_path, limits=SMALL) as rooms:
        await _talk(rooms)
        gate = asyncio.Event()
        rooms.fleet.scripts.append([gate, *_wrote(SUMMED)])
        sent = await rooms.send("and now?", to=["a", "b"])
        await rooms.listener.until(lambda: _phases(rooms) == ["started"])
        gate.set()
        turns = [await rooms.ended(sent, index) for index in (0, 1)]
        assert [turn.status for turn in turns] == ["completed", "completed"]
        assert _phases(rooms) == ["started", "completed"]
        assert sum("checkpoint summary" in prompt for prompt in rooms.fleet.prompts) == 1


async def test_a_very_long_room_is_summed_up_behind_a_turn_that_says_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "TURN_CHUNKS", 1)
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        await _talk(rooms, 60)
        rooms.fleet.plan("a", *[_wrote(SUMMED)] * 20)
        turn = await rooms.ended(await rooms.send("and now?"))
        assert (turn.status, turn.content) == ("completed", SUMMED)
        told = next(p for p in rooms.fleet.prompts if "[current_message" in p)
        assert "omitted_older=" in told
        assert "message 59 x" in told
        await rooms.listener.until(lambda: _phases(rooms).count("completed") > 1)
        usage = await rooms.service.contexts.usage("room:main")
        assert usage.uncompacted_message_count < 15


async def test_a_turn_does_not_wait_for_what_is_summed_up_behind_it(tmp_path: Path) -> None:
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.service.contexts.compactor._behind.add("room:main")
        assert (await rooms.ended(await rooms.send("and now?"))).status == "completed"
        [told] = rooms.fleet.prompts
        assert "omitted_older=" in told


async def _asked_for(rooms: House, keep: int) -> None:
    request = CompactContext(client_command_id="compact", keep=keep)
    assert (await rooms.service.contexts.compact("room:main", request)).accepted


def _phases(rooms: House) -> list[str]:
    """The phases as they followed each other."""
    kind = "context.compaction."
    told = [e["body"]["phase"] for e in rooms.listener.events if e["type"].startswith(kind)]
    return [phase for phase, _ in groupby(told)]
