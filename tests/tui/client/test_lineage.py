"""What one message led to: read whole wherever it stands, within bounds, moving nothing."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import UsageTotals
from groupx_shared.wire.roots import RootInfo, RootReply
from groupx_tui.client import lineage
from groupx_tui.client.http import ServerClient
from groupx_tui.client.lineage import read_lineage
from groupx_tui.state.model import ClientView
from groupx_tui.state.reduce import apply_bootstrap
from support.fake_server import FakeServer, refuse
from support.loopback_http import HttpRequest, Responder
from support.room_events import MAIN, turn_info


@pytest.fixture(autouse=True)
def small_pages() -> Iterator[None]:
    with patch.object(lineage, "PAGE_EVENTS", 5):
        yield


def root_of(server: FakeServer, event_id: str, *turns: str) -> None:
    """Let the server tell what a message led to."""
    info = RootInfo(
        correlation_id="corr_1", room_id=MAIN, message_event_id=event_id, actor_id="user:web",
        actor_name="You", excerpt="", occurred_at="2026-01-01T00:00:00.000Z", status="ended",
    )  # fmt: skip
    told = tuple(turn_info(turn, "a", status="completed") for turn in turns)
    reply = RootReply(root=info, turns=told, usage=UsageTotals())

    async def answer(request: HttpRequest, respond: Responder) -> None:
        await respond.whole(200, reply.to_wire())

    server.fail_next("/api/roots/", answer)


def view_of(server: FakeServer) -> ClientView:
    """The newest events only."""
    return apply_bootstrap(ClientView(), server.script.bootstrap(limit=3))


async def test_it_is_read_although_it_is_not_loaded(
    server: FakeServer, client: ServerClient
) -> None:
    first = server.script.say("begin", to=("a",))
    server.script.queue("turn_1", "a", first)
    server.script.start("turn_1", "a")
    for number in range(12):
        server.script.say(f"between {number}")
    server.script.end("turn_1", "a", answer="done at last")
    server.script.say("later")
    view = view_of(server)
    root_of(server, first.event_id, "turn_1")
    found = await read_lineage(client, view, "corr_1")
    assert found.is_whole
    texts = [str(block.text) for block in found.blocks if hasattr(block, "text")]
    assert {"begin", "done at last"} <= set(texts)
    assert len({block.block_id for block in found.blocks}) == len(found.blocks)


async def test_what_is_too_far_away_is_left_out_and_said(
    server: FakeServer, client: ServerClient
) -> None:
    first = server.script.say("begin", to=("a",))
    server.script.queue("turn_1", "a", first)
    for number in range(12):
        server.script.say(f"between {number}")
    server.script.start("turn_1", "a")
    server.script.end("turn_1", "a", answer="done at last")
    view = view_of(server)
    root_of(server, first.event_id, "turn_1", "turn_2")
    with patch.object(lineage, "MAX_PAGES", 2):
        found = await read_lineage(client, view, "corr_1")
    assert not found.is_whole
    assert len([path for path in server.paths() if path.endswith("/events")]) == 3


async def test_an_unknown_root_is_refused(server: FakeServer, client: ServerClient) -> None:
    server.script.say("hi")
    server.fail_next("/api/roots/", refuse(404, "UNKNOWN_EVENT", "There is no such root."))
    with pytest.raises(RefusedError) as refused:
        await read_lineage(client, view_of(server), "corr_9")
    assert refused.value.code is ErrorCode.UNKNOWN_EVENT
