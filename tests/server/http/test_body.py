"""Request bodies: bounded while they arrive, strict in every key and character."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.http.body import ClientGoneError, _doubled_keys, read_model
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.requests import MAX_BODY_BYTES, MAX_MESSAGE_CHARS, SendMessage

JSON = (b"content-type", b"application/json")
GOOD = {"clientCommandId": "cmd_1", "content": "hello", "to": ["guide"]}


class Sender:
    """The receive side of a request whose body comes in `pieces`; counts those taken."""

    def __init__(self, pieces: Sequence[bytes | None]) -> None:
        self.pieces = list(pieces)
        self.taken = 0

    async def __call__(self) -> dict[str, Any]:
        piece = self.pieces[self.taken]
        self.taken += 1
        if piece is None:
            return {"type": "http.disconnect"}
        more = self.taken < len(self.pieces)
        return {"type": "http.request", "body": piece, "more_body": more}


async def read(*pieces: bytes | None, headers: Sequence[tuple[bytes, bytes]] = (JSON,)) -> Any:
    return await read_model({"headers": list(headers)}, Sender(pieces), SendMessage)


async def refused(
    *pieces: bytes | None, headers: Sequence[tuple[bytes, bytes]] = (JSON,)
) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        await read(*pieces, headers=headers)
    return caught.value


def with_keys(**changes: Any) -> bytes:
    return orjson.dumps({**GOOD, **changes})


async def test_a_body_in_many_pieces_is_read_as_one() -> None:
    raw = with_keys()
    body = await read(*(raw[i : i + 7] for i in range(0, len(raw), 7)))
    assert (body.content, body.to, body.room_id) == ("hello", ["guide"], "room:main")


@pytest.mark.parametrize(
    "value",
    [b"application/json; charset=utf-8", b"Application/JSON", b'application/json;charset="UTF-8"'],
)
async def test_json_may_say_that_it_is_utf_8(value: bytes) -> None:
    assert (await read(with_keys(), headers=[(b"content-type", value)])).content == "hello"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"content-type", b"text/plain")],
        [(b"content-type", b"application/x-www-form-urlencoded")],
        [(b"content-type", b"application/json; charset=latin-1")],
        [(b"content-type", b"application/jsonp")],
        [JSON, (b"content-encoding", b"gzip")],
    ],
)
async def test_anything_but_plain_json_is_refused(headers: list[tuple[bytes, bytes]]) -> None:
    error = await refused(with_keys(), headers=headers)
    assert error.code == ErrorCode.UNSUPPORTED_MEDIA_TYPE


async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    sender = Sender([b"x"])
    length = (b"content-length", str(10 * 1024 * 1024).encode())
    with pytest.raises(RefusedError) as caught:
        await read_model({"headers": [JSON, length]}, sender, SendMessage)
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert caught.value.details == {
        "limit": MAX_BODY_BYTES,
        "unit": "bytes",
        "size": 10 * 1024 * 1024,
    }
    assert sender.taken == 0


async def test_a_body_that_grows_too_large_is_read_no_further() -> None:
    sender = Sender([b" " * (MAX_BODY_BYTES // 2)] * 20)
    with pytest.raises(RefusedError) as caught:
        await read_model({"headers": [JSON]}, sender, SendMessage)
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert sender.taken == 3


async def test_a_client_that_leaves_is_no_error_of_anybody() -> None:
    with pytest.raises(ClientGoneError):
        await read(b'{"clientCommandId"', None)


async def test_a_body_that_stops_arriving_is_refused_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    monkeypatch.setattr("groupx_server.http.body.BODY_TIMEOUT_S", 0.01)
    with pytest.raises(RefusedError, match="did not arrive") as caught:
        await read_model({"headers": [JSON]}, never, SendMessage)
    assert caught.value.code == ErrorCode.INVALID_ENVELOPE


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "not_json"),
        (b"hello", "not_json"),
        (b"\x00\x01\x02\xff", "not_json"),
        (b'{"content":"\xff"}', "not_json"),
        (b'{"content":"\\ud800"}', "not_json"),
        (b'\xef\xbb\xbf{"content":"a"}', "not_json"),
        (b"NaN", "not_json"),
        (b"[" * 5000, "not_json"),
        (b"[]", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b"null", "not_an_object"),
        (b"12", "not_an_object"),
        (with_keys(extra=1), "unknown_key"),
        (with_keys(room_id="room:main"), "unknown_key"),
        (with_keys(content=7), "string_type"),
        (with_keys(content=None), "string_type"),
        (with_keys(to="guide"), "list_type"),
        (with_keys(to=["x"] * 33), "too_long"),
        (with_keys(clientCommandId=""), "string_too_short"),
        (with_keys(clientCommandId="   "), "string_pattern_mismatch"),
        (with_keys(clientCommandId="x" * 129), "string_too_long"),
        (with_keys(content="a\0b"), "nul_character"),
        (with_keys(to=["a\0b"]), "nul_character"),
        (b'{"clientCommandId":"1","content":"a"}'[:-1] + b',"content":"b"}', "duplicate_key"),
    ],
)
async def test_what_does_not_fit_is_refused_and_named(raw: bytes, code: str) -> None:
    error = await refused(raw)
    assert error.code == ErrorCode.INVALID_ENVELOPE
    assert error.details["issues"][0]["code"] == code


async def test_at_most_twenty_issues_are_listed_and_the_rest_is_counted() -> None:
    error = await refused(with_keys(**{f"key{number}": 1 for number in range(30)}))
    assert len(error.details["issues"]) == 20
    assert "29 more" in error.message


async def test_a_key_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    error = await refused(with_keys(replyToEventID="evt_1"))
    assert "Did you mean “replyToEventId”?" in error.message


@pytest.mark.parametrize("field", ["from", "actor", "eventId", "provenance"])
async def test_nobody_says_for_another_who_wrote_it(field: str) -> None:
    error = await refused(with_keys(**{field: {"actorId": "user:web"}}))
    assert error.code == ErrorCode.SENDER_FIELD_FORBIDDEN
    assert error.details == {"forbiddenFields": [field]}


async def test_a_message_that_is_too_long_is_told_its_length_and_the_limit() -> None:
    assert len((await read(with_keys(content="é" * MAX_MESSAGE_CHARS))).content) == 131_072
    error = await refused(with_keys(content="é" * (MAX_MESSAGE_CHARS + 1)))
    assert error.code == ErrorCode.MESSAGE_TOO_LARGE
    assert error.details == {"size": 131_073, "limit": 131_072, "unit": "characters"}


async def test_a_refusal_repeats_no_value_and_no_control_character() -> None:
    error = await refused(with_keys(clientCommandId="secret" * 40, **{"\x1b[31mkey": 1}))
    assert "secret" not in repr(error.details)
    assert "\x1b" not in error.message + repr(error.details)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    st.binary(max_size=60)
    | st.dictionaries(st.sampled_from(["content", "to", "clientCommandId", "x"]), values).map(
        lambda data: json.dumps(data).encode()
    )
)
async def test_any_bytes_are_a_message_or_a_refusal(raw: bytes) -> None:
    with contextlib.suppress(RefusedError):
        assert isinstance(await read(raw), SendMessage)


KEYS = st.sampled_from(["a", "b", "a:b", ":", "\u003a", "é"])
VALUES = st.recursive(
    st.sampled_from(["", ":", "x:y", 1, None, True, "\\:", '":"']) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.lists(st.tuples(KEYS, inner), max_size=3).map(tuple)
    ),
    max_leaves=6,
)


def _written(value: object, *, escapes: bool) -> str:
    """JSON in which a tuple of pairs is an object, whose keys may be there twice."""
    if isinstance(value, tuple):
        pairs = (
            f"{_written(k, escapes=escapes)}: {_written(v, escapes=escapes)}" for k, v in value
        )
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_written(inner, escapes=escapes) for inner in value) + "]"
    text = orjson.dumps(value).decode()
    return text.replace(":", "\\u003a") if escapes else text


def _has_twice(value: object) -> bool:
    if isinstance(value, tuple):
        keys = [key for key, _ in value]
        return len(set(keys)) < len(keys) or any(_has_twice(inner) for _, inner in value)
    return isinstance(value, list) and any(map(_has_twice, value))


@given(st.lists(st.tuples(KEYS, VALUES), max_size=4).map(tuple), st.booleans())
def test_a_key_that_is_there_twice_is_always_found(pairs: object, escapes: bool) -> None:
    raw = _written(pairs, escapes=escapes).encode()
    assert bool(_doubled_keys(raw, orjson.loads(raw))) == _has_twice(pairs)
