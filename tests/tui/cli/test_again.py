"""`groupx turns retry` and `continue`."""

from __future__ import annotations

import json

import pytest

from support.cli_run import Groupx
from support.cli_server import CliServer

ACCEPTED = {
    "messageEventId": "evt_2",
    "seq": 9,
    "roomId": "room:main",
    "correlationId": "corr_2",
    "turns": [{"target": "agent:kimi", "turnId": "turn_2", "status": "queued"}],
}


@pytest.mark.parametrize("how", ["retry", "continue"])
def test_it_asks_and_prints_the_new_turn(groupx: Groupx, server: CliServer, how: str) -> None:
    server.replies["POST", f"/api/turns/turn_1/{how}"] = (202, ACCEPTED)
    result = groupx("turns", how, "turn_1")
    assert result.code == 0
    assert result.out == "message\tevt_2\nturn\tturn_2\tkimi\n"
    [(method, path, body)] = server.requests
    assert (method, path) == ("POST", f"/api/turns/turn_1/{how}")
    assert json.loads(body)["clientCommandId"] if isinstance(body, str | bytes) else body


def test_a_time_limit_needs_wait(groupx: Groupx, server: CliServer) -> None:
    assert groupx("turns", "retry", "turn_1", "--timeout", "3").code == 2
    assert server.requests == []


def test_a_refusal_is_said(groupx: Groupx, server: CliServer) -> None:
    error = {"error": {"code": "STORE_CONFLICT", "message": "This turn is still running."}}
    server.replies["POST", "/api/turns/turn_1/retry"] = (409, error)
    result = groupx("turns", "retry", "turn_1")
    assert result.code == 6
    assert "still running" in result.err
