"""Sending: never twice, never silently lost."""

from __future__ import annotations

import pytest

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_tui.client.http import ServerClient
from groupx_tui.client.outbox import MAX_TRIES, UNKNOWN_FATE, Outbox, utc_now
from groupx_tui.client.refusals import never_arrived
from groupx_tui.client.viewstore import ViewStore
from groupx_tui.state.model import ClientView, MessageBlock
from groupx_tui.state.reduce import apply_bootstrap
from support.fake_server import FakeServer, hang_up, refuse, runtime_at
from support.loopback_http import HttpRequest, Responder
from support.server_place import Place


class Sending:
    """An outbox with its store, and the pauses it made."""

    def __init__(self, server: FakeServer, client: ServerClient) -> None:
        self.pauses: list[float] = []
        self.seen: list[ClientView] = []
        self.store = ViewStore(apply_bootstrap(ClientView(), server.script.bootstrap()))
        self.store.on_change = self.seen.append
        self.outbox = Outbox(self.store, client, self._sleep, lambda: "2026-01-01T00:00:00.000Z")

    async def _sleep(self, pause: float) -> None:
        self.pauses.append(pause)

    def block(self) -> MessageBlock:
        (block,) = self.store.view.timeline.blocks
        assert isinstance(block, MessageBlock)
        return block


@pytest.fixture
def sending(server: FakeServer, client: ServerClient) -> Sending:
    return Sending(server, client)


async def test_a_message_shows_at_once_and_then_has_its_place(sending: Sending) -> None:
    accepted = await sending.outbox.send("hi", ["agent:codex"], None)
    first = sending.seen[0].timeline.blocks[0]
    assert isinstance(first, MessageBlock)
    assert (first.is_pending, first.at) == (True, "2026-01-01T00:00:00.000Z")
    block = sending.block()
    assert (block.is_pending, block.order_seq, block.event_id) == (
        False,
        1,
        accepted.message_event_id,
    )


async def test_a_broken_connection_is_tried_again_with_the_same_id(
    server: FakeServer, sending: Sending
) -> None:
    async def take_and_hang_up(request: HttpRequest, respond: Responder) -> None:
        server._accept(request.json)

    for _ in range(3):
        server.fail_next("/api/messages", take_and_hang_up)
    await sending.outbox.send("hi", [], None)
    assert len({request.json["clientCommandId"] for request in server.asked}) == 1
    assert len(server.asked) == 4
    assert len(server.script.durable) == 1
    assert sending.block().order_seq == 1


async def test_a_message_whose_fate_is_unknown_says_so(
    server: FakeServer, sending: Sending
) -> None:
    for _ in range(MAX_TRIES * 2):
        server.fail_next("/api/messages", hang_up)
    with pytest.raises(ServerUnreachableError):
        await sending.outbox.send("hi", [], None)
    assert sending.block().refusal == UNKNOWN_FATE
    assert len(sending.pauses) == MAX_TRIES - 1


async def test_a_message_that_met_no_server_at_all_is_known_not_to_have_arrived(
    place: Place, sending: Sending
) -> None:
    place.runtime = runtime_at("http://127.0.0.1:1")
    with pytest.raises(ServerUnreachableError) as caught:
        await sending.outbox.send("hi", [], None)
    assert never_arrived(caught.value)
    assert "does not answer" in str(sending.block().refusal)


async def test_one_try_that_may_have_arrived_leaves_its_fate_unknown(
    server: FakeServer, place: Place, client: ServerClient, sending: Sending
) -> None:
    async def gone_by_then(pause: float) -> None:
        place.runtime = None
        client.endpoint.refresh()

    sending.outbox._sleep = gone_by_then
    for _ in range(2):
        server.fail_next("/api/messages", hang_up)
    with pytest.raises(ServerUnreachableError) as caught:
        await sending.outbox.send("hi", [], None)
    assert not never_arrived(caught.value)
    assert sending.block().refusal == UNKNOWN_FATE


async def test_a_refusal_is_shown_at_the_message_and_raised(
    server: FakeServer, sending: Sending
) -> None:
    server.fail_next("/api/messages", refuse(429, "QUEUE_CAPACITY_REACHED", "The queue is full."))
    with pytest.raises(RefusedError, match="The queue is full"):
        await sending.outbox.send("hi", [], None)
    assert sending.block().refusal == "The queue is full."
    assert sending.pauses == []


async def test_a_server_that_is_restarting_is_waited_for(
    server: FakeServer, sending: Sending
) -> None:
    server.fail_next("/api/messages", refuse(503, "SHUTTING_DOWN", "It is closing."))
    await sending.outbox.send("hi", [], None)
    assert len(sending.pauses) == 1
    assert sending.block().order_seq == 1


async def test_what_is_too_long_is_not_even_shown(server: FakeServer, sending: Sending) -> None:
    with pytest.raises(RefusedError, match=r"1,001 characters; at most 1,000") as caught:
        await sending.outbox.send("x" * 1_001, [], None)
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert (server.asked, sending.seen) == ([], [])


async def test_half_characters_of_a_paste_do_not_break_the_request(
    server: FakeServer, sending: Sending
) -> None:
    await sending.outbox.send("a\udc80b", [], None)
    assert server.script.durable[0].body == {"content": "a\ufffdb"}


def test_the_time_is_written_as_the_server_writes_it() -> None:
    assert utc_now()[10] == "T"
    assert utc_now().endswith("Z")
    assert len(utc_now()) == 24
