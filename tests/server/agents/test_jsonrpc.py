"""The peer understands what agents really send and is never broken by what they should not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.jsonrpc import (
    ErrorResponse,
    JsonRpcPeer,
    Noise,
    Notification,
    Request,
    Response,
    parse_json,
)

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_ENVELOPE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": _JSON,
        "id": _JSON,
        "method": _JSON,
        "params": _JSON,
        "result": _JSON,
        "error": _JSON,
    },
)


def _peer_with_call() -> tuple[JsonRpcPeer, int]:
    peer = JsonRpcPeer()
    call_id, _ = peer.request("initialize", {})
    return peer, call_id


@given(st.binary(max_size=200))
def test_no_bytes_make_the_peer_raise(line: bytes) -> None:
    peer, _ = _peer_with_call()
    assert peer.receive(line)


@pytest.mark.slow
@given(_ENVELOPE | st.lists(_ENVELOPE | _JSON, max_size=3))
def test_no_json_makes_the_peer_raise(message: Any) -> None:
    peer, _ = _peer_with_call()
    for event in peer.receive(json.dumps(message).encode("utf-8", "surrogatepass")):
        assert isinstance(event, Response | ErrorResponse | Request | Notification | Noise)


def test_a_request_is_answered_once() -> None:
    peer, call_id = _peer_with_call()
    line = json.dumps({"result": {"ok": True}, "id": call_id}).encode()
    assert peer.receive(line) == [Response(call_id, "initialize", {"ok": True})]
    assert isinstance(peer.receive(line)[0], Noise)
    assert peer.waiting == 0


def test_id_zero_and_text_ids_of_the_other_side_are_requests() -> None:
    peer = JsonRpcPeer()
    assert peer.receive(b'{"id":0,"method":"ask"}') == [Request(0, "ask", None)]
    assert peer.receive(b'{"method":"ask","id":"a-1"}') == [Request("a-1", "ask", None)]
    assert json.loads(peer.respond(0, {})) == {"jsonrpc": "2.0", "id": 0, "result": {}}


def test_the_two_id_spaces_do_not_meet() -> None:
    peer, call_id = _peer_with_call()
    assert isinstance(peer.receive(b'{"id":1,"method":"ask"}')[0], Request)
    assert peer.receive(b'{"id":1,"result":null}') == [Response(call_id, "initialize", None)]


@pytest.mark.parametrize("echo", ['"1"', "1.0"])
def test_an_id_echoed_in_another_type_is_understood(echo: str) -> None:
    peer, call_id = _peer_with_call()
    answer = peer.receive(f'{{"id":{echo},"result":7}}'.encode())
    assert answer == [Response(call_id, "initialize", 7)]


@pytest.mark.parametrize("echo", ["true", "[1]", '{"a":1}', "null", "99", '"x"', "1.5"])
def test_an_answer_with_a_foreign_id_is_noise_and_the_call_goes_on_waiting(echo: str) -> None:
    peer, _ = _peer_with_call()
    events = peer.receive(f'{{"id":{echo},"result":7}}'.encode())
    assert [type(event) for event in events] == [Noise]
    assert peer.waiting == 1


def test_an_error_answer_keeps_code_message_and_data() -> None:
    peer, call_id = _peer_with_call()
    line = b'{"id":1,"error":{"code":-32000,"message":"Authentication required","data":[1]}}'
    assert peer.receive(line) == [
        ErrorResponse(call_id, "initialize", -32000, "Authentication required", [1])
    ]


def test_an_error_that_is_no_object_is_still_an_error() -> None:
    peer, call_id = _peer_with_call()
    assert peer.receive(b'{"id":1,"error":"no"}') == [ErrorResponse(call_id, "initialize", 0, "no")]


def test_a_batch_gives_an_event_for_each_member() -> None:
    peer, call_id = _peer_with_call()
    events = peer.receive(b'[{"method":"a"},{"id":1,"result":2},3]')
    assert events[:2] == [Notification("a", None), Response(call_id, "initialize", 2)]
    assert isinstance(events[2], Noise)


@pytest.mark.parametrize("line", [b"hello", b'"text"', b"17", b"{", b"[" * 100_000, b"{}", b"\xff"])
def test_what_is_no_message_is_noise(line: bytes) -> None:
    events = JsonRpcPeer().receive(line)
    assert [type(event) for event in events] == [Noise]


def test_broken_characters_do_not_lose_a_message() -> None:
    assert parse_json(b'{"text":"a\xffb"}') == {"text": "a\ufffdb"}
    assert parse_json(b'{"text":"\\ud800"}') == {"text": "?"}
    assert parse_json(b'\xef\xbb\xbf{"n":NaN,"i":1e999}') == {"n": None, "i": None}


def test_a_forgotten_call_makes_its_answer_noise() -> None:
    peer, call_id = _peer_with_call()
    peer.forget(call_id)
    assert isinstance(peer.receive(b'{"id":1,"result":{}}')[0], Noise)
