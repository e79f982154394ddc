"""The list of rooms, in the order in which people look for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.ledger.rooms import _place, change_room, create_room, list_rooms
from groupx_shared.wire.replies import RoomInfo
from support.transactions import NOW, open_book


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path, ("a",))
    yield connection
    connection.close()


def test_rooms_are_listed_as_people_count_the_main_one_first_and_archived_ones_last(
    book: sqlite3.Connection,
) -> None:
    titles = ("Sprint 10", "notes", "Sprint 2", "Aside", "发布 3", "Notes 2")
    for number, title in enumerate(titles):
        create_room(book, f"room:r{number}", title, NOW)
    create_room(book, "room:old", "Aaa", NOW)
    change_room(book, "room:old", None, True, NOW)
    listed = [room.title for room in list_rooms(book)]
    assert listed[1:] == ["Aside", "notes", "Notes 2", "Sprint 2", "Sprint 10", "发布 3", "Aaa"]
    assert list_rooms(book)[0].room_id == "room:main"


@given(st.lists(st.text(max_size=30), max_size=8))
def test_any_titles_have_an_order(titles: list[str]) -> None:
    rooms = [
        RoomInfo(room_id=f"room:{number}", title=title, created_at=NOW)
        for number, title in enumerate(titles)
    ]
    other_way = rooms[::-1]
    assert sorted(other_way, key=_place) == sorted(rooms, key=_place)
