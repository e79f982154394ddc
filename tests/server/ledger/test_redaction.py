"""What a person had removed is nowhere: not in the ledger, search, summaries, days or receipts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupx_server.context.gather import PacketRequest, gather_packet
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.commands import once
from groupx_server.ledger.copies import foresee
from groupx_server.ledger.memory import NewMemory, remember, supersede
from groupx_server.ledger.records import Author
from groupx_server.ledger.redaction import Kind, Removed, Target, Told, redact
from groupx_server.ledger.resets import reset_context
from groupx_server.ledger.revocations import missing
from groupx_server.ledger.search import Filters, search
from groupx_server.ledger.searchindex import index_some
from groupx_server.ledger.sidetalk import (
    NewRequest,
    RequestEnd,
    end_request,
    list_side,
    take_request,
)
from groupx_server.ledger.summaries import NewSummary, active_summary, save_summary
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.memory import MemoryReply, MemoryScope
from support.transactions import LIMITS, NOW, bodies, finish, open_book, send, start

YOU = Author("user:web", "web")
ROOM = MemoryScope(type="room", id="room:main")
SECRET = "the xylophone is under the mat"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _redact(
    book: sqlite3.Connection, ref_id: str, kind: Kind = "event", *, copies: bool = False
) -> Removed:
    return redact(book, Target(kind, ref_id, "user:web", "web", copies), NOW)


def _indexed(book: sqlite3.Connection) -> None:
    while not index_some(book).is_empty:
        pass


def _found(book: sqlite3.Connection, query: str = "xylophone") -> list[str]:
    return [hit.ref_id for hit in search(book, query, Filters(), NOW).found]


def _dump(book: sqlite3.Connection) -> str:
    """All rows of all tables that hold text."""
    tables = [
        name
        for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if "_fts" not in name
    ]
    return str([book.execute(f"SELECT * FROM {name}").fetchall() for name in tables])


def test_a_message_leaves_a_tombstone_and_an_audit_event(book: sqlite3.Connection) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    send(book, "something else", to=())
    _indexed(book)
    assert event_id in _found(book)
    removed = _redact(book, event_id)
    assert "xylophone" not in _dump(book)
    assert _found(book) == []
    _indexed(book)
    assert _found(book) == []
    assert _found(book, "something")  # the neighbours are found as before
    [audit] = bodies(book, "content.redacted")
    assert (audit["refId"], audit["eventIds"]) == (event_id, [event_id])
    assert removed.texts == [SECRET]
    assert find_violations(book) == []


def test_agents_are_told_the_tombstone(book: sqlite3.Connection) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    _redact(book, event_id)
    request = PacketRequest(
        "room:main", send(book).reply.message_event_id, "agent:a", "A", None, True, 256_000
    )
    text = gather_packet(book, request).text
    assert "[removed]" in text
    assert "xylophone" not in text


def test_summaries_that_cover_it_are_thrown_away_with_their_predecessors(
    book: sqlite3.Connection,
) -> None:
    first = send(book, SECRET, to=()).reply
    last = send(book, "later", to=()).reply
    old = NewSummary("room:main", first.seq, first.seq, "- a xylophone", "agent:a", None)
    kept = save_summary(book, old, NOW)
    new = NewSummary(
        "room:main", first.seq, last.seq, "- the xylophone", "agent:a", kept.summary_id
    )
    save_summary(book, new, NOW)
    assert _redact(book, first.message_event_id).summaries == 2
    assert active_summary(book, "room:main") is None
    assert "xylophone" not in _dump(book)


def test_records_that_came_of_it_go_with_it_in_all_their_versions(
    book: sqlite3.Connection,
) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    made = remember(
        book,
        NewMemory(ROOM, "fact", "xylophone: under the mat", YOU, source_event_id=event_id),
        NOW,
    )
    supersede(book, made.memory_id, "xylophone: in the shed", YOU, NOW)
    same = remember(book, NewMemory(ROOM, "note", SECRET, YOU), NOW)
    _indexed(book)
    removed = _redact(book, event_id)
    assert same.memory_id in removed.record_ids
    assert len(removed.record_ids) == 3
    assert "xylophone" not in _dump(book)
    _indexed(book)
    assert _found(book) == []


def test_a_record_alone_is_removed_with_the_receipt_that_holds_it(
    book: sqlite3.Connection,
) -> None:
    record = remember(book, NewMemory(ROOM, "fact", SECRET, YOU), NOW)
    book.execute(
        "INSERT INTO client_commands VALUES ('cmd_1', 'binding:web', 'c1', 'memory.remember',"
        " 'hash', ?, ?)",
        (f'{{"memory":{record.model_dump_json(by_alias=True)}}}', NOW),
    )
    _redact(book, record.memory_id, "memory")
    assert "xylophone" not in _dump(book)
    assert [e["record"]["content"] for e in bodies(book, "memory.remembered")] == ["[removed]"]


def test_what_agents_repeat_of_a_record_is_cut_when_only_its_source_is_removed(
    book: sqlite3.Connection,
) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    first = NewMemory(ROOM, "fact", "A xylophone lies there", YOU, source_event_id=event_id)
    made = remember(book, first, NOW)
    supersede(book, made.memory_id, "The xylophone was moved", YOU, NOW)
    for text in ("A xylophone lies there", "The xylophone was moved"):
        turn_id = send(book, "go").reply.turns[0].turn_id
        start(book, turn_id)
        finish(book, turn_id, f"I know: {text}.")
    by_chance = send(book, "Look: A xylophone lies there!", to=()).reply.message_event_id
    foreseen = foresee(book, "event", event_id)
    assert len(foreseen.events) == 3  # no long look is left for the removal itself
    removed = redact(book, Target("event", event_id, "user:web", "web"), NOW, foreseen)
    answers = [b["content"] for b in bodies(book, "message.created") if "I know" in b["content"]]
    assert answers == ["I know: [removed].", "I know: [removed]."]
    assert removed.elsewhere == [by_chance]
    _redact(book, by_chance)
    assert "xylophone" not in _dump(book)
    assert find_violations(book) == []


def _kept(book: sqlite3.Connection, content: str, number: str, source: str | None = None) -> str:
    """Keep a record by a command, whose receipt holds it whole; return its id."""
    memory = NewMemory(ROOM, "fact", content, YOU, source_event_id=source)

    def act() -> dict[str, Any]:
        return MemoryReply(memory=remember(book, memory, NOW)).model_dump(by_alias=True)

    reply = once(book, number, "memory.remember", {"content": content}, act, NOW)
    return str(reply["memory"]["memoryId"])


def test_receipts_hold_neither_a_short_text_nor_what_it_could_be_guessed_from(
    book: sqlite3.Connection,
) -> None:
    memory_id = _kept(book, "pin 4711", "c1")
    event_id = send(book, "ok: 4712", to=(), command_id="c2").reply.message_event_id
    of_it = _kept(book, "drawer 4712", "c3", event_id)
    stands = _kept(book, "drawer 9999", "c4")
    _redact(book, memory_id, "memory")
    _redact(book, event_id)
    receipts = book.execute(
        "SELECT client_command_id, canonical_hash = 'redacted', result_json FROM client_commands"
        " WHERE client_command_id LIKE 'c_' ORDER BY 1"
    ).fetchall()
    assert [(number, is_blank) for number, is_blank, _ in receipts] == [
        ("c1", 1), ("c2", 1), ("c3", 1), ("c4", 0),
    ]  # fmt: skip
    told = "".join(result for _, _, result in receipts)
    assert [word for word in ("4711", "4712", "9999") if word in told] == ["9999"]
    assert told.count("[removed]") == 2
    # Each is still the receipt of its command: nothing is kept a second time.
    assert [_kept(book, "anything", "c1"), _kept(book, "anything", "c3")] == [memory_id, of_it]
    assert _kept(book, "drawer 9999", "c4") == stands


def test_the_same_text_sent_again_goes_too_and_what_quotes_it_is_told(
    book: sqlite3.Connection,
) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    again = send(book, SECRET, to=()).reply.message_event_id
    quote = send(book, f"You said: {SECRET}!", to=()).reply.message_event_id
    removed = _redact(book, event_id)
    assert removed.event_ids == [event_id, again]
    assert removed.elsewhere == [quote]
    more = _redact(book, quote, copies=True)
    assert more.elsewhere == []
    assert "xylophone" not in _dump(book)


def test_a_reply_loses_the_quote_and_keeps_the_rest(book: sqlite3.Connection) -> None:
    said = send(book, SECRET, to=()).reply.message_event_id
    reply = send(book, f"> {SECRET}\nI know.", to=(), reply_to_event_id=said).reply
    halves = f"Long: {SECRET} ends", "here."
    for number, part in enumerate((halves[0][:20], halves[0][20:], halves[1]), 1):
        book.execute(
            "INSERT INTO event_texts VALUES (?, 'content', ?, ?)",
            (reply.message_event_id, number, part),
        )
    _indexed(book)
    removed = _redact(book, said)
    assert (removed.quote_event_ids, removed.elsewhere) == ([reply.message_event_id], [])
    kept = [body["content"] for body in bodies(book, "message.created")]
    assert kept == ["[removed]", "> [removed]\nI know."]
    whole = "SELECT group_concat(text, '') FROM event_texts"
    assert book.execute(whole).fetchone() == ("Long: [removed] endshere.",)
    assert "xylophone" not in _dump(book)
    _indexed(book)
    assert _found(book) == []
    [audit] = bodies(book, "content.redacted")
    assert audit["quoteEventIds"] == [reply.message_event_id]


def test_an_agents_answer_loses_what_it_repeats_and_a_short_text_is_left_alone(
    book: sqlite3.Connection,
) -> None:
    said = send(book, SECRET, to=()).reply.message_event_id
    for text in (SECRET, "the plan"):
        turn_id = send(book, "go").reply.turns[0].turn_id
        start(book, turn_id)
        finish(book, turn_id, f"As you said, {text}.")
    assert len(_redact(book, said).quote_event_ids) == 1
    short = send(book, "the plan", to=()).reply.message_event_id
    removed = _redact(book, short)
    assert (removed.quote_event_ids, len(removed.elsewhere)) == ([], 1)
    answers = [b["content"] for b in bodies(book, "message.created") if "As you" in b["content"]]
    assert answers == ["As you said, [removed].", "As you said, the plan."]
    assert find_violations(book) == []


def test_agents_that_were_told_it_are_named_until_their_sessions_are_new(
    book: sqlite3.Connection,
) -> None:
    before = send(book, "go").reply.turns[0].turn_id
    start(book, before)
    said = send(book, SECRET, to=()).reply.message_event_id
    assert _redact(book, said).told == []  # a was told the room before it
    told = send(book, f"{SECRET}!", to=("b",)).reply
    start(book, told.turns[0].turn_id, "b")
    end_turn(book, TurnEnd(told.turns[0].turn_id, TurnStatus.COMPLETED, "ok"), LIMITS, NOW)
    assert _redact(book, told.message_event_id).told == [Told("agent:b", "room:main")]
    reset_context(book, "room:main", True, NOW)
    assert _redact(book, told.message_event_id).told == []


def test_with_copies_all_that_holds_it_goes(book: sqlite3.Connection) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    send(book, f"You said: {SECRET}!", to=())
    remember(book, NewMemory(ROOM, "fact", f"Note: {SECRET}", YOU), NOW)
    removed = _redact(book, event_id, copies=True)
    assert removed.elsewhere == []
    assert "xylophone" not in _dump(book)


def test_a_short_text_takes_nothing_else_with_it(book: sqlite3.Connection) -> None:
    event_id = send(book, "yes", to=()).reply.message_event_id
    send(book, "yes", to=())
    removed = _redact(book, event_id, copies=True)
    assert (removed.event_ids, removed.elsewhere) == ([event_id], [])


def test_an_unfinished_answer_is_removed_from_its_turn(book: sqlite3.Connection) -> None:
    turn_id = send(book, "go").reply.turns[0].turn_id
    start(book, turn_id)
    end = TurnEnd(turn_id, TurnStatus.FAILED, answer=SECRET, error_message="it broke")
    ended = end_turn(book, end, LIMITS, NOW)
    assert ended.terminal_event_id is not None
    _redact(book, ended.terminal_event_id)
    assert "xylophone" not in _dump(book)
    assert find_violations(book) == []


def test_removing_twice_is_harmless_and_what_has_no_text_is_refused(
    book: sqlite3.Connection,
) -> None:
    event_id = send(book, SECRET).reply.message_event_id
    _redact(book, event_id)
    assert _redact(book, event_id).event_ids == [event_id]
    (queued,) = book.execute(
        "SELECT event_id FROM events WHERE event_type = 'turn.queued'"
    ).fetchone()
    for kind, ref_id, code in (
        ("event", queued, ErrorCode.UNKNOWN_EVENT),
        ("event", "evt_none", ErrorCode.UNKNOWN_EVENT),
        ("memory", "mem_none", ErrorCode.UNKNOWN_MEMORY),
    ):
        with pytest.raises(RefusedError) as refused:
            _redact(book, ref_id, kind)  # type: ignore[arg-type]  # literals, in a list
        assert refused.value.code is code


def test_a_whole_text_beside_a_cut_answer_is_removed(book: sqlite3.Connection) -> None:
    turn_id = send(book, "go").reply.turns[0].turn_id
    start(book, turn_id)
    answer = "a" * LIMITS.answer_characters + SECRET
    ended = end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer=answer), LIMITS, NOW)
    assert ended.response_event_id is not None
    removed = _redact(book, ended.response_event_id)
    assert answer in removed.texts
    assert "xylophone" not in _dump(book)


def test_a_message_to_the_assistant_goes_with_its_answer_and_its_acts(
    book: sqlite3.Connection,
) -> None:
    quoted = send(book, f"Sent for you: {SECRET}", to=()).reply.message_event_id
    asked = take_request(book, NewRequest("k1", SECRET, "room:main"), NOW).request.message_id
    with pytest.raises(RefusedError, match="not answered yet"):
        _redact(book, asked, "side")
    end_request(book, RequestEnd(asked, "completed", "The xylophone? Done."), NOW)
    removed = _redact(book, asked, "side")
    assert (removed.side_messages, removed.elsewhere) == (2, [quoted])
    found, _ = list_side(book, None, 9)
    assert [message.content for message in found] == ["[removed]", "[removed]"]
    assert removed.texts == [SECRET, "The xylophone? Done."]
    assert missing(book, [("side", asked)]) == []
    with pytest.raises(RefusedError):
        _redact(book, "side_none", "side")
    _redact(book, quoted)
    assert "xylophone" not in _dump(book)
    assert find_violations(book) == []


def test_a_command_whose_text_was_removed_is_still_done_once(book: sqlite3.Connection) -> None:
    first = send(book, SECRET, to=(), command_id="again").reply
    _redact(book, first.message_event_id)
    second = send(book, SECRET, to=(), command_id="again").reply
    assert second.message_event_id == first.message_event_id
    assert "xylophone" not in _dump(book)


def test_what_was_said_to_the_assistant_goes_too(book: sqlite3.Connection) -> None:
    event_id = send(book, SECRET, to=()).reply.message_event_id
    say = (
        "INSERT INTO assistant_conversation_messages(message_id, role, content, created_at)"
        " VALUES (?, 'user', ?, ?)"
    )
    book.execute(say, ("same", SECRET, NOW))
    book.execute(say, ("more", f"Send this: {SECRET}", NOW))
    removed = _redact(book, event_id)
    assert (removed.side_messages, removed.elsewhere) == (2, [])
    assert "xylophone" not in _dump(book)
    kept = "SELECT content FROM assistant_conversation_messages WHERE message_id = 'more'"
    assert book.execute(kept).fetchone() == ("Send this: [removed]",)
