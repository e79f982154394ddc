"""R7, recall does not feed itself: what agents were told of memory is kept nowhere a second time,
neither as a record nor in what they are asked to write down of their days and of the room. What
they think and what their tools do is told to nobody as conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.native import (
    ContentDelta,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCompleted,
)
from groupx_server.ledger.accept import Source
from groupx_server.ledger.memory import list_memory
from groupx_server.ledger.search import Filters
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms.clock import Clock
from groupx_shared.wire.context import CompactContext
from groupx_shared.wire.memory import RememberIdentity, RememberMemory, ScopeRequest
from support.goal_size import bound_s, rare_words, sized
from support.rooms import House, house

pytestmark = [pytest.mark.slow, pytest.mark.timeout(bound_s(60))]

TURNS = sized(12, 1_000)
TOMORROW = "2100-01-01T00:00:00.000Z"
NAMES = ("a", "b")
THOUGHT, TOOL = "ponderingly", "hammerdrill"
DAY, ROOM = "- The day was busy.", "- The room was busy."


def _wrote(text: str) -> list[Any]:
    return [ContentDelta(text), TurnCompleted()]


def _answer(number: int) -> list[Any]:
    """Thoughts and tools belong to the turn; only what is said is conversation."""
    call = ToolCall("t", f"Read {TOOL}", status="completed", raw_input={"path": TOOL})
    return [
        ReasoningDelta(f"hm, {THOUGHT}"),
        ToolProgress(call, "started"),
        ToolProgress(call, "ended"),
        ContentDelta(f"Answer {number}: " + "done. " * 60),
        TurnCompleted(),
    ]


async def _remembered(rooms: House, words: list[str]) -> None:
    """What is recalled with every turn: of the room, of each agent, of who they are."""
    memories, source = rooms.service.memories, Source()
    scopes = [("room", "room:main"), ("agent", "agent:a"), ("agent", "agent:b")]
    for number, word in enumerate(words):
        scope_type, scope_id = scopes[number % len(scopes)]
        request = RememberMemory(
            client_command_id=f"m{number}",
            scope=ScopeRequest(type=scope_type, id=scope_id),  # type: ignore[arg-type]  # of the list
            kind="fact",
            content=f"Busy people know {word}.",
            pinned=scope_type == "room",
        )
        await memories.remember(request, source)
    said = RememberIdentity(
        client_command_id="i",
        subject_actor_id="agent:a",
        kind="note",
        content=f"Known as {words[0][::-1]}.",
    )
    await memories.remember_identity(said, source)


async def _of_hand(rooms: House) -> list[str]:
    """All records but those of days."""
    found = await rooms.ledger.read(
        lambda book: list_memory(book, {}, include_history=True, limit=500)
    )
    return [each.memory_id for each in found.items if each.agent_memory_type != "dated"]


async def test_nothing_is_kept_whose_only_source_is_what_was_recalled(tmp_path: Path) -> None:
    words = rare_words(7, 9)
    async with house(tmp_path, NAMES) as rooms:
        await _remembered(rooms, words)
        kept = await _of_hand(rooms)
        for number in range(TURNS):
            name = NAMES[number % len(NAMES)]
            rooms.fleet.plan(name, _answer(number))
            assert (
                await rooms.ended(await rooms.send(f"busy with {number}", [name]))
            ).status == "completed"
        told = rooms.fleet.prompts[0]
        assert words[0] in told  # recall is on
        assert words[0][::-1] in told

        before = len(rooms.fleet.prompts)
        for name in NAMES:
            rooms.fleet.plan(name, *[_wrote(DAY)] * 40)
        rooms.runtime.clock = Clock(now=lambda: TOMORROW)
        await rooms.service.diaries.write_due()
        for name in NAMES:
            rooms.fleet.plan(name, *[_wrote(ROOM)] * 40)
        await rooms.service.contexts.compact(
            "room:main", CompactContext(client_command_id="c", keep=0)
        )
        done = "context.compaction.completed"
        await rooms.listener.until(lambda: bool(rooms.listener.bodies(done)))
        asked = rooms.fleet.prompts[before:]
        assert len(asked) >= len(NAMES) + 1
        every = [*words, words[0][::-1]]
        assert [word for text in asked for word in every if word in text] == []

        kinds = await rooms.types()
        assert {"turn.reasoning.recorded", "tool.progress.recorded"} <= set(kinds)
        assert [text for text in rooms.fleet.prompts if THOUGHT in text or TOOL in text] == []

        assert await _of_hand(rooms) == kept
        days = await rooms.ledger.read(
            lambda book: list_memory(book, {"agent_memory_type": "dated"})
        )
        assert {each.content for each in days.items} == {DAY}
        for word in every:
            found = await rooms.service.searching.find(word, Filters(), None, 20)
            assert [hit.kind for hit in found.hits] in (["memory"], ["identity"])
        assert await rooms.ledger.read(find_violations) == []
