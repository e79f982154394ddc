"""`groupx tail`."""

from __future__ import annotations

import json

import pytest

from groupx_tui.cli import tail
from groupx_tui.cli.feed import FeedEvent
from support.cli_run import Groupx
from support.cli_server import CliServer, Stream, delta, event, message, play, room

STOP = message(99, "Ctrl+C")


@pytest.fixture(autouse=True)
def _ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person presses Ctrl+C when `STOP` is about to be shown."""
    show = tail._show

    def show_or_stop(item: FeedEvent, *, as_json: bool) -> None:
        if item.event == STOP:
            raise KeyboardInterrupt
        show(item, as_json=as_json)

    monkeypatch.setattr(tail, "_show", show_or_stop)


def test_it_follows_from_now_until_ctrl_c(groupx: Groupx, server: CliServer) -> None:
    server.rooms = [room("main", lastSeq=7), room("dev", lastSeq=9)]
    server.streams = [
        play(
            message(10, "hello\x1b[2J"),
            delta("turn_1", 0, "not shown"),
            event("turn.started", {}, 11),
            message(12, "there") | {"roomId": "room:dev"},
            STOP,
        )
    ]
    result = groupx("tail")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "#10 · 2026-11-03 14:03:21 · Guide · evt_10\n  hello␛[2J\n"
        "#12 · 2026-11-03 14:03:21 [dev] · Guide · evt_12\n  there\n"
    )
    assert ("GET", "/api/events?afterSeq=9", None) in server.requests


def test_since_and_room_are_asked_of_the_server(groupx: Groupx, server: CliServer) -> None:
    server.streams = [play(STOP)]
    groupx("tail", "--since", "0", "--room", "dev")
    assert [path for _, path, _ in server.requests] == ["/api/events?afterSeq=0&roomId=room:dev"]


def test_json_is_one_event_a_line_with_every_character(groupx: Groupx, server: CliServer) -> None:
    hostile = message(11, "你\x1b\x9b\u202e")
    server.streams = [play(hostile, STOP)]
    result = groupx("tail", "--json")
    assert json.loads(result.out) == hostile
    assert "你" in result.out
    assert not any(character in result.out for character in "\x1b\x9b\u202e")


def test_all_types_shows_live_ones_too(groupx: Groupx, server: CliServer) -> None:
    server.streams = [play(delta("turn_1", 0, "a"), event("turn.started", {}, 11), STOP)]
    out = groupx("tail", "--all-types").out
    assert "turn.content.delta" in out
    assert "turn.started" in out


def test_a_restart_is_waited_out_and_said_once(groupx: Groupx, server: CliServer) -> None:
    server.streams = [
        play(message(11, "one"), then=Stream.drop),
        play(message(12, "two"), STOP),
    ]
    result = groupx("tail", "--json")
    assert [json.loads(line)["seq"] for line in result.out.splitlines()] == [11, 12]
    assert result.err.count("Waiting for the server") == 1
    assert result.err.endswith("The server is back.\n")


def test_an_unknown_room_is_refused(groupx: Groupx, server: CliServer) -> None:
    error = {"error": {"code": "UNKNOWN_ROOM", "message": "There is no room “dve”."}}
    server.replies["GET", "/api/events"] = (404, error)
    result = groupx("tail", "--room", "dve")
    assert (result.code, result.err) == (
        6,
        "groupx: There is no room “dve”. (UNKNOWN_ROOM)\n",
    )
