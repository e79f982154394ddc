"""Removing over HTTP: the right path, patience, and the parts of a turn however long it is."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_shared.errors import RefusedError
from groupx_tui.client import removals
from groupx_tui.client.http import ServerClient
from groupx_tui.client.removals import PURGE_S, Removals
from support.fake_server import FakeServer
from support.loopback_http import HttpRequest, Responder
from support.room_events import MAIN


@pytest.mark.parametrize(
    ("ref_id", "path"),
    [
        ("evt_1", "/api/events/evt_1/redact"),
        ("mem_1", "/api/memory/mem_1/redact"),
        ("identity_1", "/api/identity/identity_1/redact"),
        ("side_1", "/api/assistant/messages/side_1/redact"),
    ],
)
async def test_each_kind_has_its_path(
    server: FakeServer, client: ServerClient, ref_id: str, path: str
) -> None:
    async def answer(request: HttpRequest, respond: Responder) -> None:
        await respond.whole(200, b'{"auditEventId": "evt_9", "purged": true}')

    server.fail_next(path, answer)
    reply = await Removals(client).redact(ref_id, purge=True, copies=False)
    assert reply.purged
    sent = server.asked_json(path)
    assert (sent["purge"], sent["copies"]) == (True, False)


async def test_a_purge_is_waited_for_longer_than_anything_else(client: ServerClient) -> None:
    waited: list[Any] = []

    async def ask(method: str, path: str, **more: Any) -> bytes:
        waited.append(more["silence_s"])
        return b'{"auditEventId": "evt_9"}'

    client.transport.ask = ask  # type: ignore[method-assign,assignment]
    await Removals(client).redact("evt_1", purge=True, copies=True)
    assert waited == [PURGE_S]


async def test_an_event_is_found_by_its_number(server: FakeServer, client: ServerClient) -> None:
    said = [server.script.say(f"message {number}") for number in range(3)]
    found = await Removals(client).event_at(MAIN, 2)
    assert found.event_id == said[1].event_id
    with pytest.raises(RefusedError, match="no event 9"):
        await Removals(client).event_at(MAIN, 9)


async def test_the_parts_of_a_turn_are_read_back_to_its_beginning(
    server: FakeServer, client: ServerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removals, "MAX_PAGE", 2)
    script = server.script
    script.say("a question")
    script.queue("t1", "codex")
    script.start("t1", "codex")
    script.say("something between")
    end = script.end("t1", "codex", answer="so", reasoning="let me think", tools=("c",))[-1]
    parts = await Removals(client).parts_of(MAIN, "t1", end.seq or 0)
    assert [part.type for part in parts][-4:] == [
        "turn.reasoning.recorded",
        "tool.progress.recorded",
        "message.created",
        "turn.completed",
    ]
    assert {part.body["turnId"] for part in parts} == {"t1"}
