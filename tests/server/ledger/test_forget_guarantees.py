"""What people are promised about forgetting, tried on many texts at once, in every way in which a
ledger can come to hold one (F1 to F7). `make goals` tries a thousand; the bench measures it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.context.gather import PacketRequest, gather_packet
from groupx_server.ledger.actors import upsert_agent
from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.memory import NewMemory, list_memory, remember, retract, supersede
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.purge import clean, is_overwritten, merge_some
from groupx_server.ledger.rawfile import RawFile
from groupx_server.ledger.recordsearch import Asked, search_memory
from groupx_server.ledger.redaction import Removed, Target, redact
from groupx_server.ledger.revocations import note_removals, read_removals, remove_again, unlisted
from groupx_server.ledger.search import Filters, search
from groupx_server.ledger.searchindex import index_some, reset
from groupx_server.ledger.times import utc_now
from groupx_server.ledger.verify import find_violations
from groupx_shared.wire.memory import MemoryScope
from support.goal_size import bound_s, sized
from support.secrets_planted import NOW, ROOM, WAYS, YOU, Planted, Planter, words_left

pytestmark = [pytest.mark.slow, pytest.mark.timeout(bound_s(60))]

MANY = sized(3 * len(WAYS), 1_000)
SCOPE = MemoryScope(type="room", id=ROOM)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    prepare(tmp_path / "groupx.db", now=utc_now)
    with closing(open_writer(tmp_path / "groupx.db")) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        upsert_agent(connection, "agent:a", "A", True, NOW)
        yield connection


def _done(book: sqlite3.Connection, step: Callable[[], object]) -> None:
    book.execute("BEGIN IMMEDIATE")
    step()
    book.execute("COMMIT")


def _indexed(book: sqlite3.Connection) -> None:
    while not index_some(book).is_empty:
        pass


def _planted(book: sqlite3.Connection, seed: int) -> tuple[Planter, list[Planted]]:
    planter = Planter(book, seed)
    made: list[Planted] = []
    for _ in range(MANY):
        _done(book, lambda: made.append(planter.plant()))
    _indexed(book)
    return planter, made


def _removed(book: sqlite3.Connection, made: list[Planted]) -> list[Removed]:
    out: list[Removed] = []
    for each in made:
        target = Target(each.kind, each.ref_id, "user:web", "web")
        _done(book, lambda t=target: out.append(redact(book, t, NOW)))  # type: ignore[misc]  # bound now
    return out


def _purged(book: sqlite3.Connection, path: Path) -> None:
    is_first = True
    while not merge_some(book, is_first=is_first):
        is_first = False
    file = RawFile(path)
    clean(book, file)
    book.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _found(book: sqlite3.Connection, words: list[str]) -> list[str]:
    query = " ".join(words[:6])
    return [hit.ref_id for hit in search(book, query, Filters(), NOW).found]


def _dump(book: sqlite3.Connection) -> str:
    """All rows of all tables that hold text."""
    names = book.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return str(
        [book.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names if "fts" not in name]
    )


def _words(made: list[Planted]) -> list[str]:
    return [word for each in made for word in each.words]


@pytest.mark.parametrize("seed", [1, 2])
def test_after_a_purge_no_word_of_any_text_is_in_any_byte(
    book: sqlite3.Connection, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "groupx.db"
    _, made = _planted(book, seed)
    there = words_left(_words(made), tmp_path.iterdir())
    assert len(there) > 0.99 * len(_words(made))  # a few lie over the border of two pages
    _removed(book, made)
    _indexed(book)
    _purged(book, path)
    files = [file for file in tmp_path.iterdir() if file.is_file()]
    assert words_left(_words(made), files) == set()
    kept = [each.kept for each in made if each.kept]
    dump = _dump(book)
    assert [word for word in kept if word not in dump] == []
    assert is_overwritten(book)
    assert find_violations(book) == []


def test_nothing_written_after_a_purge_brings_a_word_back(
    book: sqlite3.Connection, tmp_path: Path
) -> None:
    planter, made = _planted(book, 3)
    _removed(book, made[::2])
    _purged(book, tmp_path / "groupx.db")
    for _ in range(40):
        _done(book, lambda: planter.say("later " * 30))
    _removed(book, made[1::2])
    _indexed(book)
    book.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert words_left(_words(made[::2]), [tmp_path / "groupx.db"]) == set()


def test_no_way_of_building_anew_or_restoring_brings_a_text_back(
    book: sqlite3.Connection, tmp_path: Path
) -> None:
    _, made = _planted(book, 4)
    with closing(sqlite3.connect(tmp_path / "older.db")) as copy:
        book.backup(copy)
    _removed(book, made)
    note_removals(tmp_path / "groupx.db", unlisted(book, []))
    reset(book)
    _indexed(book)
    assert [each for each in made if _found(book, each.words)] == []
    listed = read_removals(tmp_path / "groupx.db")
    with closing(open_writer(tmp_path / "older.db")) as older:
        assert _words(made)[0] in _dump(older)
        remove_again(older, listed, NOW)
        _indexed(older)
        dump = _dump(older)
        assert [word for word in _words(made) if word in dump] == []
        assert [each for each in made if _found(older, each.words)] == []


def test_what_says_that_something_was_removed_holds_no_word_of_it(
    book: sqlite3.Connection, tmp_path: Path
) -> None:
    _, made = _planted(book, 5)
    _removed(book, made)
    note_removals(tmp_path / "groupx.db", unlisted(book, []))
    listed = (tmp_path / "groupx.removed.jsonl").read_text("utf-8")
    rows = str(book.execute("SELECT * FROM redactions").fetchall())
    audits = book.execute("SELECT * FROM events WHERE event_type = 'content.redacted'").fetchall()
    assert len(audits) == len(made)
    told = listed + rows + str(audits)
    assert [word for word in _words(made) if word in told] == []


def test_nothing_is_left_that_rests_on_what_was_removed(book: sqlite3.Connection) -> None:
    _, made = _planted(book, 6)
    _removed(book, made)
    resting = book.execute(
        "SELECT m.memory_id FROM memory_records m JOIN redactions r ON r.ref_id = m.source_event_id"
        " WHERE m.status = 'active' OR m.content <> '[removed]'"
    ).fetchall()
    assert resting == []
    covering = "SELECT content FROM summaries WHERE status = 'active'"
    assert book.execute(covering).fetchall() == []


def test_a_new_text_never_gets_the_row_of_a_removed_one(book: sqlite3.Connection) -> None:
    planter, made = _planted(book, 7)
    (before,) = book.execute("SELECT MAX(row_id) FROM search_rows").fetchone()
    _removed(book, made)
    _done(book, lambda: planter.say("something else entirely"))
    _indexed(book)
    said = book.execute("SELECT event_id FROM events ORDER BY seq DESC LIMIT 1").fetchone()[0]
    row = "SELECT row_id FROM search_rows WHERE ref_id = ?"
    assert book.execute(row, (said,)).fetchone()[0] > before
    assert _found(book, ["entirely"])[0] == said
    assert [each for each in made if _found(book, each.words)] == []


def test_what_was_taken_back_is_told_nowhere_and_the_history_says_when(
    book: sqlite3.Connection,
) -> None:
    planter = Planter(book, 8)
    words = [planter.word() for _ in range(MANY)]
    records = [remember(book, NewMemory(SCOPE, "fact", f"It is {w}", YOU), NOW) for w in words]
    _indexed(book)
    listed = list_memory(book, {}, limit=5)
    found = search(book, "it is", Filters(kind="memory"), NOW, limit=5)
    sought = search(book, " ".join(words[:20]), Filters(kind="memory"), NOW, limit=5)
    for record in records:
        retract(book, record.memory_id, YOU, NOW)
    # Later pages of what was asked before it, too: the index knows of it, or not yet.
    for _ in range(2):
        assert list_memory(book, {}, cursor=listed.next_cursor).items == ()
        for page, query in ((found, "it is"), (sought, " ".join(words[:20]))):
            assert page.next_cursor is not None
            wanted = Asked(query, {}, page.next_cursor, 50)
            assert search_memory(book, wanted, NOW).items == ()
        _indexed(book)
    for page, query in ((found, "it is"), (sought, " ".join(words[:20]))):
        later = search(book, query, Filters(kind="memory"), NOW, cursor=page.next_cursor)
        assert later.found == []
    assert [word for word in words if _found(book, [word])] == []
    assert list_memory(book, {}).items == ()
    asked = planter.say("What is it? " + " ".join(words[:8]))
    packet = gather_packet(book, PacketRequest(ROOM, asked, "agent:a", "A", None, True, 256_000))
    assert [word for word in words[8:] if word in packet.text] == []
    history = list_memory(book, {}, include_history=True, limit=MANY).items
    assert len(history) == MANY
    assert {(each.status, each.retracted_at) for each in history} == {("retracted", NOW)}


def test_a_correction_is_found_and_what_it_corrects_only_in_the_history(
    book: sqlite3.Connection,
) -> None:
    planter = Planter(book, 9)
    pairs = [(planter.word(), planter.word()) for _ in range(MANY)]
    for old, new in pairs:
        record = remember(book, NewMemory(SCOPE, "fact", f"It is {old}", YOU), NOW)
        supersede(book, record.memory_id, f"It is {new}", YOU, NOW)
    _indexed(book)
    assert [old for old, _ in pairs if _found(book, [old])] == []
    assert [new for _, new in pairs if len(_found(book, [new])) != 1] == []
    told = str(list_memory(book, {}, limit=MANY))
    assert not any(old in told for old, _ in pairs)
    history = str(list_memory(book, {}, include_history=True, limit=2 * MANY))
    assert all(old in history and new in history for old, new in pairs)
