"""Memory and identity records: corrected, taken back, pinned; never changed, never another's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.ledger.identity_records import (
    NewIdentity,
    identity_history,
    list_identity,
    remember_identity,
    retract_identity,
    supersede_identity,
)
from groupx_server.ledger.memory import (
    NewMemory,
    list_memory,
    memory_history,
    pin,
    read_memory,
    remember,
    retract,
    supersede,
)
from groupx_server.ledger.records import Author
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.memory import MemoryRecord, MemoryScope
from support.transactions import NOW, bodies, event_types, open_book, send

YOU = Author("user:web", "web")
A = Author("agent:a", "mcp")
B = Author("agent:b", "mcp")
ROOM = MemoryScope(type="room", id="room:main")
CORE_OF_A = MemoryScope(type="agent", id="agent:a")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _remember(
    book: sqlite3.Connection, content: str = "the port is 4310", **more: object
) -> MemoryRecord:
    fields: dict[str, object] = {"scope": ROOM, "kind": "fact", "author": YOU, **more}
    return remember(book, NewMemory(content=content, **fields), NOW)  # type: ignore[arg-type]


def test_a_record_has_author_source_and_an_event(book: sqlite3.Connection) -> None:
    source = send(book, to=()).reply.message_event_id
    record = _remember(book, source_event_id=source, subject_actor_id="agent:a")
    assert (record.author_actor_id, record.source_event_id) == ("user:web", source)
    assert event_types(book)[-1] == "memory.remembered"
    assert bodies(book, "memory.remembered")[0]["record"]["content"] == "the port is 4310"


def test_a_correction_is_a_new_record_and_the_old_one_is_history(
    book: sqlite3.Connection,
) -> None:
    old = _remember(book, is_pinned=True)
    new = supersede(book, old.memory_id, "the port is 4311", YOU, NOW)
    assert new.supersedes_memory_id == old.memory_id
    assert new.pinned_at is not None
    active = list_memory(book, {}).items
    assert [record.content for record in active] == ["the port is 4311"]
    history = list_memory(book, {}, include_history=True).items
    assert {record.status for record in history} == {"active", "superseded"}
    with pytest.raises(RefusedError, match="superseded already"):
        supersede(book, old.memory_id, "again", YOU, NOW)


def test_a_retracted_record_is_told_to_nobody_and_its_event_says_no_text(
    book: sqlite3.Connection,
) -> None:
    record = _remember(book, content="a secret word")
    retract(book, record.memory_id, YOU, NOW)
    assert list_memory(book, {}).items == ()
    assert read_memory(book, record.memory_id).retracted_at == NOW
    assert "secret" not in str(bodies(book, "memory.retracted"))


def test_the_same_kept_twice_is_one_active_record_with_both_sources(
    book: sqlite3.Connection,
) -> None:
    first, second = (send(book, text, to=()).reply.message_event_id for text in ("one", "two"))
    old = _remember(book, source_event_id=first, is_pinned=True)
    assert _remember(book, source_event_id=first) == old
    assert _remember(book) == old
    new = _remember(book, source_event_id=second)
    assert [record.memory_id for record in list_memory(book, {}).items] == [new.memory_id]
    versions = memory_history(book, new.memory_id).items
    assert [record.source_event_id for record in versions] == [second, first]
    assert new.pinned_at is not None
    assert event_types(book)[-2:] == ["memory.remembered", "memory.superseded"]


def test_what_was_kept_without_a_pin_is_pinned_when_it_is_kept_again_so(
    book: sqlite3.Connection,
) -> None:
    old = _remember(book)
    again = _remember(book, is_pinned=True)
    assert (again.memory_id, again.pinned_at) == (old.memory_id, NOW)
    assert event_types(book)[-2:] == ["memory.remembered", "memory.pinned"]


def test_the_same_words_of_another_author_subject_kind_or_scope_are_another_record(
    book: sqlite3.Connection,
) -> None:
    _remember(book)
    for other in (
        {"author": A},
        {"subject_actor_id": "agent:a"},
        {"kind": "note"},
        {"scope": CORE_OF_A},
    ):
        _remember(book, **other)
    assert len(list_memory(book, {}).items) == 5


def test_memory_of_a_root_needs_one_and_its_events_stand_in_its_room(
    book: sqlite3.Connection,
) -> None:
    with pytest.raises(RefusedError) as refused:
        _remember(book, scope=MemoryScope(type="correlation", id="corr_none"))
    assert refused.value.code is ErrorCode.UNKNOWN_EVENT
    book.execute(
        "INSERT INTO rooms(room_id, title, created_at, updated_at) VALUES ('room:b', 'b', ?1, ?1)",
        (NOW,),
    )
    root = send(book, "begin", to=(), room_id="room:b").reply.correlation_id
    record = _remember(book, scope=MemoryScope(type="correlation", id=root))
    supersede(book, record.memory_id, "the port is 4311", YOU, NOW)
    rooms = book.execute("SELECT room_id FROM events WHERE event_type LIKE 'memory.%'").fetchall()
    assert rooms == [("room:b",), ("room:b",)]


def test_only_agents_have_memory_of_their_own_and_an_identity(book: sqlite3.Connection) -> None:
    said = NewIdentity("user:web", "note", "a person", YOU)
    for act in (
        lambda: _remember(book, scope=MemoryScope(type="agent", id="user:web")),
        lambda: remember_identity(book, said, NOW),
    ):
        with pytest.raises(RefusedError) as refused:
            act()
        assert refused.value.code is ErrorCode.UNKNOWN_ACTOR


def test_what_was_taken_back_can_be_kept_again(book: sqlite3.Connection) -> None:
    old = _remember(book)
    retract(book, old.memory_id, YOU, NOW)
    assert _remember(book).memory_id != old.memory_id


def test_the_same_said_of_an_agent_twice_is_one_record_with_both_sources(
    book: sqlite3.Connection,
) -> None:
    first, second = (send(book, text, to=()).reply.message_event_id for text in ("one", "two"))

    def say(author: Author, source: str | None = None) -> str:
        said = NewIdentity("agent:a", "preference", "likes tests", author, source)
        return remember_identity(book, said, NOW).identity_id

    old = say(B, first)
    assert say(B) == say(B, first) == old
    new = say(B, second)
    say(A)
    say(YOU)
    assert len(list_identity(book, {"subject_actor_id": "agent:a"}).items) == 3
    versions = identity_history(book, new).items
    assert [record.source_event_id for record in versions] == [second, first]


def test_conflicting_records_stand_side_by_side(book: sqlite3.Connection) -> None:
    _remember(book, content="tabs")
    _remember(book, content="spaces", author=A)
    assert {r.content for r in list_memory(book, {"scope_type": "room"}).items} == {
        "tabs",
        "spaces",
    }


def test_no_agent_writes_or_corrects_anothers_core(book: sqlite3.Connection) -> None:
    with pytest.raises(RefusedError) as refused:
        _remember(book, scope=CORE_OF_A, author=B)
    assert refused.value.code is ErrorCode.MCP_BINDING_MISMATCH
    own = _remember(book, scope=CORE_OF_A, author=A)
    assert own.agent_memory_type == "core"
    with pytest.raises(RefusedError):
        supersede(book, own.memory_id, "mine now", B, NOW)
    with pytest.raises(RefusedError):
        retract(book, own.memory_id, B, NOW)
    assert supersede(book, own.memory_id, "a person may", YOU, NOW).scope == CORE_OF_A


def test_dated_memory_is_not_corrected_by_hand_but_can_be_retracted(
    book: sqlite3.Connection,
) -> None:
    dated = _remember(book, scope=CORE_OF_A, agent_memory_type="dated", author=A)
    with pytest.raises(RefusedError, match="retracted, not corrected"):
        supersede(book, dated.memory_id, "x", YOU, NOW)
    assert retract(book, dated.memory_id, YOU, NOW).status == "retracted"


def test_unknown_scopes_sources_and_records_are_named(book: sqlite3.Connection) -> None:
    with pytest.raises(RefusedError, match="Did you mean “main”"):
        _remember(book, scope=MemoryScope(type="room", id="room:mian"))
    with pytest.raises(RefusedError):
        _remember(book, source_event_id="evt_none")
    with pytest.raises(RefusedError):
        _remember(book, subject_actor_id="agent:nobody")
    with pytest.raises(RefusedError) as refused:
        read_memory(book, "mem_none")
    assert refused.value.code is ErrorCode.UNKNOWN_MEMORY


def test_pinning_is_undone(book: sqlite3.Connection) -> None:
    record = _remember(book)
    assert pin(book, record.memory_id, True, YOU, NOW).pinned_at == NOW
    assert pin(book, record.memory_id, False, YOU, NOW).pinned_at is None


def test_a_pin_is_told_once_and_does_not_say_the_text_again(book: sqlite3.Connection) -> None:
    record = _remember(book)
    for is_pinned in (True, True, False, False):
        pin(book, record.memory_id, is_pinned, YOU, NOW)
    (pinned,) = bodies(book, "memory.pinned")
    (unpinned,) = bodies(book, "memory.unpinned")
    assert (pinned["record"]["pinnedAt"], pinned["record"]["content"]) == (NOW, "")
    assert unpinned["record"]["memoryId"] == record.memory_id


def test_pages_by_cursor_show_every_record_once(book: sqlite3.Connection) -> None:
    for number in range(25):
        _remember(book, content=str(number))
    seen: list[str] = []
    cursor = None
    while True:
        page = list_memory(book, {}, cursor=cursor, limit=10)
        seen += [record.content for record in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(seen, key=int) == [str(number) for number in range(25)]
    with pytest.raises(RefusedError, match="cursor"):
        list_memory(book, {}, cursor="nonsense")


def test_an_observation_by_another_agent_is_a_note_and_no_self_word(
    book: sqlite3.Connection,
) -> None:
    identity = NewIdentity("agent:a", "instruction", "A likes protocols", B)
    record = remember_identity(book, identity, NOW)
    assert (record.kind, record.source_kind, record.author_actor_id) == (
        "note",
        "adapter",
        "agent:b",
    )
    own = remember_identity(book, NewIdentity("agent:a", "preference", "I am brief", A), NOW)
    assert own.kind == "preference"


def test_identity_is_corrected_by_its_author_or_a_person(book: sqlite3.Connection) -> None:
    own = remember_identity(book, NewIdentity("agent:a", "preference", "I am brief", A), NOW)
    with pytest.raises(RefusedError):
        retract_identity(book, own.identity_id, B, NOW)
    new = supersede_identity(book, own.identity_id, "I am very brief", YOU, NOW)
    assert new.supersedes_identity_id == own.identity_id
    retract_identity(book, new.identity_id, YOU, NOW)
    assert list_identity(book, {"subject_actor_id": "agent:a"}).items == ()
    of_a = {"subject_actor_id": "agent:a"}
    assert len(list_identity(book, of_a, include_history=True).items) == 2
    assert [r.content for r in list_identity(book, {**of_a, "status": "superseded"}).items] == [
        "I am brief"
    ]
    chain = identity_history(book, own.identity_id).items
    assert [record.content for record in chain] == ["I am very brief", "I am brief"]


def test_the_history_of_a_record_is_the_same_from_each_of_its_versions(
    book: sqlite3.Connection,
) -> None:
    first = _remember(book, content="one")
    _remember(book, content="another matter")
    second = supersede(book, first.memory_id, "two", YOU, NOW)
    third = supersede(book, second.memory_id, "three", YOU, NOW)
    for version in (first, second, third):
        chain = memory_history(book, version.memory_id).items
        assert [record.content for record in chain] == ["three", "two", "one"]


def test_records_are_narrowed_by_state_pin_and_source(book: sqlite3.Connection) -> None:
    source = send(book, to=()).reply.message_event_id
    _remember(book, content="pinned", is_pinned=True)
    _remember(book, content="sourced", source_event_id=source)
    retract(book, _remember(book, content="gone").memory_id, YOU, NOW)

    def found(**filters: str) -> list[str]:
        return [record.content for record in list_memory(book, filters).items]

    assert found(pinned="true") == ["pinned"]
    assert found(pinned="false") == ["sourced"]
    assert found(source_event_id=source) == ["sourced"]
    assert found(status="retracted") == ["gone"]


def test_a_text_of_white_space_is_refused(book: sqlite3.Connection) -> None:
    with pytest.raises(RefusedError, match="empty"):
        _remember(book, content=" \n ")


def _steps_to_remember(book: sqlite3.Connection, number: int) -> int:
    """Instructions of SQLite that one more record of room and of identity take."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    book.set_progress_handler(count, 1)
    _remember(book, content=f"{number} is the newest")
    remember_identity(book, NewIdentity("agent:a", "note", f"{number} is the newest", YOU), NOW)
    book.set_progress_handler(None, 1)
    return steps


def test_writing_down_takes_the_same_work_however_much_is_kept(book: sqlite3.Connection) -> None:
    few = _steps_to_remember(book, 1)
    for length in range(100, 400):  # other texts are of other lengths
        _remember(book, content="m" * length)
        remember_identity(book, NewIdentity("agent:a", "note", "i" * length, YOU), NOW)
    assert _steps_to_remember(book, 2) < 2 * few
