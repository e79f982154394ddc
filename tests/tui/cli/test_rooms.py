"""`groupx rooms`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.cli_run import Groupx
from support.cli_server import CliServer, room


def test_list_leaves_archived_rooms_out(groupx: Groupx, server: CliServer) -> None:
    server.rooms = [room("main"), room("old", archivedAt="2026-11-01T00:00:00.000Z")]
    result = groupx("rooms", "list")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "ROOM       TITLE  MESSAGES  LAST  STATE\nroom:main  Main   2         #10\n"
    )


def test_list_all_shows_them(groupx: Groupx, server: CliServer) -> None:
    server.rooms = [room("old", archivedAt="2026-11-01T00:00:00.000Z")]
    assert "archived" in groupx("rooms", "list", "--all").out


def test_a_title_cannot_reach_the_terminal(groupx: Groupx, server: CliServer) -> None:
    server.rooms = [room("main", title="a\x1b]0;x\x07\x9b\u202eb")]
    out = groupx("rooms", "list").out
    assert "a␛]0;x␇\ufffd\ufffdb" in out


def test_list_as_json_has_whole_rooms(groupx: Groupx, server: CliServer) -> None:
    assert json.loads(groupx("rooms", "list", "--json").out) == {"rooms": server.rooms}


@pytest.mark.parametrize(
    ("words", "method", "path", "body"),
    [
        (("create", " Dev "), "POST", "/api/rooms", {"title": "Dev"}),
        (
            ("create", "Dev", "--id", "dev"),
            "POST",
            "/api/rooms",
            {"title": "Dev", "roomId": "room:dev"},
        ),
        (("rename", "dev", "New"), "PATCH", "/api/rooms/room:dev", {"title": "New"}),
        (("archive", "room:dev"), "PATCH", "/api/rooms/room:dev", {"archived": True}),
        (("restore", "a/b"), "PATCH", "/api/rooms/room:a%2Fb", {"archived": False}),
    ],
)
def test_changes_are_asked_of_the_server(
    groupx: Groupx,
    server: CliServer,
    words: tuple[str, ...],
    method: str,
    path: str,
    body: dict[str, Any],
) -> None:
    server.replies[method, path] = (200, {"room": room("dev")})
    result = groupx("rooms", *words)
    assert (result.code, result.out) == (0, "room:dev\n")
    [(_, _, sent)] = server.requests
    assert sent is not None
    assert sent.pop("clientCommandId").startswith("cmd_")
    assert sent == body


def test_a_change_as_json_is_the_room(groupx: Groupx, server: CliServer) -> None:
    result = groupx("rooms", "archive", "dev", "--json")
    assert json.loads(result.out) == {"room": room("dev")}


def test_an_empty_title_is_a_usage_error(groupx: Groupx) -> None:
    assert groupx("rooms", "create", "  ").code == 2
