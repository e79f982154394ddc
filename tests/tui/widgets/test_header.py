"""The first line says which room, how much of it, and how the connection is."""

from __future__ import annotations

from dataclasses import replace

from groupx_tui.state.model import ClientView
from groupx_tui.widgets.header import RoomHeader, room_title
from groupx_tui.widgets.timeline.messages import Position
from support.fake_session import ROOMS, sample_view


def test_it_names_room_place_and_connection() -> None:
    header = RoomHeader()
    header.show(sample_view())
    header.show_position(Position(2, 40, 1204))
    assert header.left_text == "GroupX  Main"
    assert header.right_text == "3 new in other rooms  ·  2–40 of 1,204  ·  live"


def test_before_the_first_view_it_says_connecting() -> None:
    header = RoomHeader()
    header.show(ClientView())
    assert header.left_text == "GroupX  main"
    assert header.right_text == "connecting"


def test_an_archived_room_is_called_so() -> None:
    view = replace(sample_view(), room_id="room:done")
    assert room_title(view) == "Done things (archived)"
    assert room_title(replace(view, rooms=ROOMS[:1], room_id="room:gone")) == "gone"
