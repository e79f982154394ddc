"""The preview is, character by character, what is sent then: but for what nobody knows before."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.accept import Source
from groupx_shared.wire.context import CompactContext, ResetContext
from groupx_shared.wire.memory import RememberIdentity, RememberMemory, ScopeRequest
from groupx_shared.wire.requests import SendMessage
from support.rooms import House, house

ASKED: Final = "what is the port? 你好 — \x1b[2J [current_message]"
SMALL: Final = Limits(context_characters=12_000)


def _known(text: str) -> str:
    """A packet without what is only known when it is sent: the fences' word, the message's id, seq
    and time, and up to which event it speaks."""
    found = re.match(r"\[groupx_protocol fence=(\S+)\]", text)
    assert found is not None
    text = re.sub(r"^through_seq=\d+$", "through_seq=N", text.replace(found[1], "F"), flags=re.M)
    head, mark, last = text.rpartition("[current_message fence=F]\n")
    assert mark
    last = re.sub(r" id=\S+ seq=\d+ ", " id=ID seq=N ", last, count=1)
    return head + mark + re.sub(r" at=[^]]+\]", " at=T]", last, count=1)


async def _remember(rooms: House, content: str, scope: str = "room:main", **more: Any) -> None:
    rooms.commands += 1
    request = RememberMemory(
        client_command_id=f"m{rooms.commands}",
        scope=ScopeRequest(type="agent" if scope.startswith("agent") else "room", id=scope),
        kind="fact",
        content=content,
        **more,
    )
    await rooms.service.memories.remember(request, Source())


async def _records(rooms: House) -> None:
    await _remember(rooms, "the port is 4310", pinned=True)
    await _remember(rooms, "tea is at four")
    await _remember(rooms, "I like short answers", "agent:a")
    identity = RememberIdentity(
        client_command_id="i1",
        subject_actor_id="agent:a",
        kind="note",
        content="careful with paths",
    )
    await rooms.service.memories.remember_identity(identity, Source())
    await rooms.send("something said", to=[])


async def _a_past(rooms: House) -> None:
    await _records(rooms)
    await rooms.ended(await rooms.send("first"))
    await rooms.ended(await rooms.send("and you?", to=["b"]))


async def _more_than_fits(rooms: House) -> None:
    for number in range(5):
        await _remember(rooms, f"note {number} " + "v" * 2_500)
    await rooms.send("y" * 3_000, to=[])


async def _summed_up(rooms: House) -> None:
    for number in range(6):
        await rooms.send(f"message {number} " + "x" * 400, to=[])
    rooms.fleet.plan("a", [ContentDelta("- the port is 4310"), TurnCompleted("end_turn")])
    asked = CompactContext(client_command_id="k", keep=2)
    await rooms.service.contexts.compact("room:main", asked)
    done = "context.compaction.completed"
    await rooms.listener.until(lambda: bool(rooms.listener.bodies(done)))


async def _begun_anew(rooms: House) -> None:
    await _a_past(rooms)
    await rooms.service.contexts.reset("room:main", ResetContext(client_command_id="r"))


Before = Callable[[House], Coroutine[Any, Any, None]]


@pytest.mark.parametrize(
    "before",
    [_records, _a_past, _more_than_fits, _summed_up, _begun_anew],
    ids=["new session", "continued", "left out", "summed up", "after a reset"],
)
async def test_what_was_shown_is_what_is_sent(tmp_path: Path, before: Before) -> None:
    async with house(tmp_path, identity="You are careful.", limits=SMALL) as rooms:
        await before(rooms)
        shown = await rooms.service.contexts.preview("room:main", "a", None, ASKED)
        sent = await rooms.send(ASKED)
        await rooms.ended(sent)
        assert _known(shown.text) == _known(rooms.fleet.prompts[-1])
        assert shown.characters == len(shown.text)
        left_out = [section.omitted for section in shown.sections if section.omitted]
        assert bool(left_out) == (before is _more_than_fits)
        for count in left_out:
            assert re.search(rf"omitted(_older)?={count}\b", shown.text)


async def test_a_reply_is_shown_with_its_chain(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        first = await rooms.send("the beginning", to=[])
        shown = await rooms.service.contexts.preview(
            "room:main", "a", None, ASKED, first.message_event_id
        )
        request = SendMessage(
            client_command_id="reply",
            content=ASKED,
            to=["a"],
            reply_to_event_id=first.message_event_id,
        )
        await rooms.ended(await rooms.service.send(request, Source()))
        assert "[reply_chain " in shown.text
        assert _known(shown.text) == _known(rooms.fleet.prompts[-1])
