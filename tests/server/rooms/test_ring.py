"""The ring alone: what it keeps, whom it can serve, and that frames are joined once."""

from __future__ import annotations

from groupx_server.rooms.ring import Reader, Ring
from groupx_shared.wire.sse import SseParser

PIECE = 1_000_000


def ring(max_events: int = 8, max_bytes: int = 10_000, newest_seq: int = 0) -> Ring:
    return Ring(max_events=max_events, max_bytes=max_bytes, newest_seq=newest_seq)


def joined(target: Ring, cursor: int, room_id: str | None = None) -> Reader:
    reader = Reader(cursor=cursor, room_id=room_id)
    assert target.join(reader)
    return reader


def data_of(chunk: bytes) -> list[str]:
    return [frame.data for frame in SseParser().feed(chunk)]


def durables(target: Ring, *seqs: int, room_id: str = "room:main") -> None:
    for seq in seqs:
        target.push_durable(seq, room_id, b"%d" % seq)


def transient(
    target: Ring, data: bytes, room_id: str | None = None, key: str | None = None
) -> None:
    target.push_transient(target.make_transient(data, room_id, key))


def test_a_reader_gets_what_lies_behind_its_cursor_in_order() -> None:
    target = ring()
    durables(target, 1, 2, 3)
    reader = joined(target, 1)
    assert data_of(target.take(reader, PIECE)) == ["2", "3"]
    assert target.take(reader, PIECE) == b""
    durables(target, 4)
    assert data_of(target.take(reader, PIECE)) == ["4"]


def test_a_piece_ends_once_it_is_large_enough_and_the_next_goes_on_there() -> None:
    target = ring()
    durables(target, 1, 2, 3)
    reader = joined(target, 0)
    assert data_of(target.take(reader, 1)) == ["1"]
    assert reader.cursor == 1
    assert data_of(target.take(reader, PIECE)) == ["2", "3"]


def test_a_cursor_before_the_oldest_frame_cannot_join() -> None:
    target = ring(max_events=2)
    durables(target, 1, 2, 3)
    assert not target.join(Reader(cursor=0))
    assert target.join(Reader(cursor=1))


def test_the_ring_never_holds_more_bytes_than_it_may() -> None:
    target = ring(max_bytes=60)
    target.push_durable(1, "room:main", b"x" * 20)
    target.push_durable(2, "room:main", b"x" * 20)
    assert target.floor_seq == 1
    target.push_durable(3, "room:main", b"x" * 500)
    assert (target.floor_seq, target.head - target.tail) == (3, 0)


def test_a_reader_that_lost_only_live_frames_stays_on_the_ring() -> None:
    target = ring(max_events=2)
    reader = joined(target, 0)
    for number in range(5):
        transient(target, b"live %d" % number)
    assert target.holds(reader)
    assert data_of(target.take(reader, PIECE)) == ["live 3", "live 4"]


def test_a_reader_that_lost_a_durable_frame_must_leave_the_ring() -> None:
    target = ring(max_events=2)
    reader = joined(target, 0)
    durables(target, 1, 2, 3)
    assert not target.holds(reader)


def test_live_frames_from_before_a_reader_came_are_not_for_it() -> None:
    target = ring()
    durables(target, 1)
    transient(target, b"old")
    durables(target, 2)
    reader = joined(target, 0)
    transient(target, b"new")
    assert data_of(target.take(reader, PIECE)) == ["1", "2", "new"]


def test_a_reader_ahead_of_the_tail_gets_nothing_that_it_has_already() -> None:
    target = ring()
    reader = joined(target, 2)
    durables(target, 1)
    transient(target, b"published before seq 2")
    durables(target, 2)
    transient(target, b"published after seq 2")
    durables(target, 3)
    assert data_of(target.take(reader, PIECE)) == ["published after seq 2", "3"]


def test_a_room_filter_passes_the_room_and_what_is_for_all() -> None:
    target = ring()
    reader = joined(target, 0, "room:a")
    durables(target, 1, room_id="room:a")
    durables(target, 2, room_id="room:b")
    transient(target, b"for b", "room:b")
    transient(target, b"for all", None)
    assert data_of(target.take(reader, PIECE)) == ["1", "for all"]
    assert reader.cursor == 2


def test_a_newer_frame_of_the_same_key_replaces_the_one_not_yet_taken() -> None:
    target = ring()
    fast, slow = joined(target, 0), joined(target, 0)
    transient(target, b"status 1", key="status")
    assert data_of(target.take(fast, PIECE)) == ["status 1"]
    transient(target, b"other")
    transient(target, b"status 2", key="status")
    assert data_of(target.take(fast, PIECE)) == ["other", "status 2"]
    assert data_of(target.take(slow, PIECE)) == ["other", "status 2"]


def test_keys_are_forgotten_with_their_frames() -> None:
    target = ring(max_events=2)
    for number in range(100):
        transient(target, b"x", key=f"key {number}")
    assert len(target._latest) == 2


def test_forgetting_leaves_nothing_behind_and_goes_on_after_the_seq() -> None:
    target = ring()
    durables(target, 1, 2)
    target.forget(9)
    assert not target.join(Reader(cursor=8))
    reader = joined(target, 9)
    durables(target, 10)
    assert data_of(target.take(reader, PIECE)) == ["10"]


def test_readers_at_the_same_place_share_one_piece() -> None:
    target = ring()
    first, second = joined(target, 0), joined(target, 0)
    for reader in (first, second):
        target.take(reader, PIECE)
    durables(target, 1, 2)
    assert target.take(first, PIECE) is target.take(second, PIECE)
