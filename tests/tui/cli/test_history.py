"""`groupx history`."""

from __future__ import annotations

import json

from support.cli_run import Groupx
from support.cli_server import CliServer, event, message


def test_it_prints_the_newest_messages_oldest_first(groupx: Groupx, server: CliServer) -> None:
    server.events = [message(1, "a"), event("turn.started", {}, 2), message(3, "b\x1b[2J")]
    result = groupx("history")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "#1 · 2026-11-03 14:03:21 · Guide · evt_1\n  a\n"
        "#3 · 2026-11-03 14:03:21 · Guide · evt_3\n  b␛[2J\n"
    )


def test_limit_before_and_room_are_asked_of_the_server(groupx: Groupx, server: CliServer) -> None:
    server.events = [message(seq, "x") | {"roomId": "room:dev"} for seq in range(1, 9)]
    result = groupx("history", "-r", "dev", "--limit", "2", "--before", "6", "--json")
    assert [json.loads(line)["seq"] for line in result.out.splitlines()] == [4, 5]


def test_more_than_a_page_is_fetched_in_pages(groupx: Groupx, server: CliServer) -> None:
    server.events = [message(seq, "x") for seq in range(1, 1301)]
    result = groupx("history", "-n", "1200", "--json")
    seqs = [json.loads(line)["seq"] for line in result.out.splitlines()]
    assert seqs == list(range(101, 1301))
    assert len(server.requests) == 3


def test_all_types_asks_for_every_type(groupx: Groupx, server: CliServer) -> None:
    server.events = [message(1, "a"), event("turn.started", {"x": 1}, 2)]
    assert "turn.started" in groupx("history", "--all-types").out


def test_an_empty_room_prints_nothing(groupx: Groupx, server: CliServer) -> None:
    result = groupx("history", "--room", "empty")
    assert (result.code, result.out) == (0, "")
