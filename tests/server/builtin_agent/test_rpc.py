"""JSON-RPC lines: what counts as a message, and that answers come out as one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent import rpc


@pytest.mark.parametrize("request_id", [0, "x", None, 1.5])
def test_any_id_makes_a_request(request_id: object) -> None:
    line = json.dumps({"method": "m", "id": request_id, "params": {"a": 1}}).encode()
    assert rpc.parse_line(line) == rpc.Request(request_id, "m", {"a": 1})


def test_without_an_id_it_is_a_notification_and_missing_params_are_empty() -> None:
    assert rpc.parse_line(b'{"method": "m"}') == rpc.Notification("m", {})
    assert rpc.parse_line(b'{"method": "m", "params": null}') == rpc.Notification("m", {})


def test_an_answer_to_nothing_is_recognised() -> None:
    assert rpc.parse_line(b'{"result": 1, "id": 7}') == rpc.Reply(7)


@pytest.mark.parametrize("line", [b"hello", b"[1,2]", b"3", b"{}", b'{"method": 1}', b"\xff", b"{"])
def test_what_is_no_message_is_garbage(line: bytes) -> None:
    assert isinstance(rpc.parse_line(line), rpc.Garbage)


@settings(deadline=None)
@given(st.binary())
def test_no_line_raises(line: bytes) -> None:
    rpc.parse_line(line)


def test_answers_are_one_line_each() -> None:
    error = rpc.RpcError(rpc.INVALID_PARAMS, "no\nway", details={"k": "v"})
    for line in (rpc.encode_result(0, {"a": "x\ny"}), rpc.encode_error("i", error)):
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
    body = json.loads(rpc.encode_error("i", error))["error"]
    assert body == {"code": -32602, "message": "no\nway", "data": {"k": "v"}}
    assert "data" not in json.loads(rpc.encode_error(1, rpc.RpcError(1, "m")))["error"]
    assert json.loads(rpc.encode_notification("n", {"a": 1}))["params"] == {"a": 1}
