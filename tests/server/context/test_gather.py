"""What goes into a packet is read from the ledger in one snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.context.gather import PacketRequest, context_usage, gather_packet
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.identity_records import NewIdentity, remember_identity
from groupx_server.ledger.memory import NewMemory, remember, retract
from groupx_server.ledger.records import Author
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_shared.wire.memory import MemoryScope
from support.transactions import LIMITS, NOW, open_book, send, start


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _packet(book: sqlite3.Connection, event_id: str, *, fresh: bool = False) -> str:
    request = PacketRequest("room:main", event_id, "agent:a", "A", None, fresh, 256_000)
    return gather_packet(book, request).text


def test_a_delivered_message_is_not_told_again(book: sqlite3.Connection) -> None:
    send(book, "old news", to=())
    turn_id = send(book, "first").reply.turns[0].turn_id
    start(book, turn_id)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="my answer"), LIMITS, NOW)
    send(book, "fresh news", to=())
    text = _packet(book, send(book, "second").reply.message_event_id)
    assert "fresh news" in text
    assert "old news" not in text
    assert "my answer" not in text


def test_a_fresh_session_is_told_everything_again(book: sqlite3.Connection) -> None:
    turn_id = send(book, "first").reply.turns[0].turn_id
    start(book, turn_id)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="my answer"), LIMITS, NOW)
    text = _packet(book, send(book, "second").reply.message_event_id, fresh=True)
    assert "first" in text
    assert "my answer" in text


def test_what_is_kept_for_a_root_is_told_with_its_turns_alone(book: sqlite3.Connection) -> None:
    here, there = (send(book, text).reply for text in ("about the gate", "about the roof"))
    assert here.correlation_id is not None
    scope = MemoryScope(type="correlation", id=here.correlation_id)
    for content, is_pinned in (("It is blue.", False), ("It must stay blue.", True)):
        memory = NewMemory(scope, "fact", content, Author("user:web", "web"), is_pinned=is_pinned)
        remember(book, memory, NOW)
    told = _packet(book, here.message_event_id)
    assert told.index("It must stay blue.") < told.index("It is blue.")
    for event_id in (there.message_event_id, send(book, "new").reply.message_event_id):
        assert "blue" not in _packet(book, event_id)


def test_a_reply_carries_the_chain_it_answers_from_the_root_on(book: sqlite3.Connection) -> None:
    root = send(book, "root", to=()).reply.message_event_id
    middle = send(book, "middle", to=(), reply_to_event_id=root).reply.message_event_id
    leaf = send(book, "leaf", reply_to_event_id=middle).reply.message_event_id
    text = _packet(book, leaf)
    chain = text[text.index("[reply_chain") : text.index("[current_message")]
    assert chain.index("root") < chain.index("middle")
    assert text.count("\nmiddle\n") == 1


def test_a_ring_of_replies_ends(book: sqlite3.Connection) -> None:
    one = send(book, "one", to=()).reply.message_event_id
    two = send(book, "two", reply_to_event_id=one).reply.message_event_id
    book.execute("UPDATE events SET reply_to_event_id = ? WHERE event_id = ?", (two, one))
    assert _packet(book, two).count("\none\n") == 1


def test_usage_grows_with_what_was_said(book: sqlite3.Connection) -> None:
    empty = context_usage(book, "room:main", 1_000)
    send(book, "x" * 500, to=())
    used = context_usage(book, "room:main", 1_000)
    assert (empty.utilization_percent, empty.uncompacted_message_count) == (0.0, 0)
    assert used.estimated_characters > 500
    assert used.uncompacted_message_count == 1
    full = context_usage(book, "room:main", 100)
    assert full.utilization_percent == round(100 * full.estimated_characters / 100, 1) > 500


def _keep(book: sqlite3.Connection, content: str, **fields: object) -> None:
    author = fields.pop("author", Author("user:web", "web"))
    memory = NewMemory(content=content, kind="fact", author=author, **fields)  # type: ignore[arg-type]
    remember(book, memory, NOW)


def test_an_agent_is_told_its_own_core_and_the_rooms_memory_and_nobody_elses_core(
    book: sqlite3.Connection,
) -> None:
    _keep(book, "own core memory", scope=MemoryScope(type="agent", id="agent:a"))
    _keep(book, "core of another", scope=MemoryScope(type="agent", id="agent:b"))
    _keep(book, "known in the room", scope=MemoryScope(type="room", id="room:main"))
    pinned = MemoryScope(type="room", id="room:main")
    _keep(book, "always said", scope=pinned, is_pinned=True)
    you = Author("user:web", "web")
    remember_identity(book, NewIdentity("agent:a", "preference", "be brief", you), NOW)
    observer = Author("agent:b", "mcp")
    remember_identity(book, NewIdentity("agent:a", "note", "seems careful", observer), NOW)
    text = _packet(book, send(book).reply.message_event_id)
    assert "core of another" not in text
    order = [
        "[user_authored_identity",
        "be brief",
        "[observed_identity",
        "source=agent:b-about-agent:a",
        "seems careful",
        "[agent_core_memory",
        "own core memory",
        "[pinned_group_memory",
        "always said",
        "[relevant_memory",
        "known in the room",
        "[current_message",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_a_retracted_record_is_not_told(book: sqlite3.Connection) -> None:
    memory = NewMemory(
        scope=MemoryScope(type="room", id="room:main"),
        kind="fact",
        content="a mistake",
        author=Author("user:web", "web"),
    )
    record = remember(book, memory, NOW)
    retract(book, record.memory_id, Author("user:web", "web"), NOW)
    assert "a mistake" not in _packet(book, send(book).reply.message_event_id)
