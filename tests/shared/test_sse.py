"""The SSE codec: any split of the bytes gives the same frames, by the standard's rules."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.wire import sse
from groupx_shared.wire.sse import SseFrame, SseParser, encode_durable, encode_transient

LINES = st.sampled_from(
    [
        b"data: x",
        b"data:  two",
        b"data",
        b"data:",
        b"id: 7",
        b"id",
        b"id: a\0b",
        b"event: e",
        b"",
        b"",
        b": heartbeat",
        b"retry: 5",
        b"unknown: y",
        "data: 你好 ✓".encode(),
        b"data: \xff\xfe",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n"])
STREAMS = st.lists(st.tuples(LINES, ENDS), max_size=20).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


def parse_by_the_standard(stream: bytes) -> list[SseFrame]:
    """WHATWG HTML §9.2.6, written down again, on the whole text at once."""
    frames, data, event, last_id = [], "", "", None
    lines = re.split(rb"\r\n|\n|\r", stream)[:-1]
    for raw in lines:
        line = raw.decode("utf-8", "replace")
        if line == "":
            if data:
                frames.append(SseFrame(data.removesuffix("\n"), last_id, event or "message"))
            data = event = ""
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            data += value + "\n"
        elif name == "id" and "\0" not in value:
            last_id = value
        elif name == "event":
            event = value
    return frames


def feed_all(parser: SseParser, chunks: list[bytes]) -> list[SseFrame]:
    return [frame for chunk in chunks for frame in parser.feed(chunk)]


def split_at(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(stream)) for cut in cuts})
    return [stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)]


@given(STREAMS)
def test_frames_are_those_of_the_standard(stream: bytes) -> None:
    assert SseParser().feed(stream) == parse_by_the_standard(stream)


@given(STREAMS, st.lists(st.integers(0, 200), max_size=20))
def test_any_split_gives_the_same_frames(stream: bytes, cuts: list[int]) -> None:
    parser, whole = SseParser(), SseParser()
    frames = feed_all(parser, split_at(stream, cuts))
    assert frames == whole.feed(stream)
    assert (parser.last_event_id, parser.comments) == (whole.last_event_id, whole.comments)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=20))
def test_arbitrary_bytes_never_raise(stream: bytes, cuts: list[int]) -> None:
    parser = SseParser()
    frames = feed_all(parser, split_at(stream, cuts))
    assert frames == SseParser().feed(stream)


@given(st.integers(1, 2**60), st.text().filter(lambda text: not re.search(r"[\r\n]", text)))
def test_what_the_server_encodes_comes_back(seq: int, data: str) -> None:
    raw = data.encode("utf-8", "replace")
    parser = SseParser()
    frames = parser.feed(encode_durable(seq, raw) + sse.HEARTBEAT + encode_transient(raw))
    assert [frame.data for frame in frames] == [raw.decode()] * 2
    assert [frame.event_id for frame in frames] == [str(seq)] * 2
    assert parser.comments == 1


def test_an_id_without_data_is_a_place_to_resume_from_but_no_event() -> None:
    parser = SseParser()
    assert parser.feed(b"retry: 1000\nid: 41\n\n") == []
    assert parser.last_event_id == "41"


def test_a_frame_that_is_cut_off_is_never_given_out() -> None:
    assert SseParser().feed(b"id: 3\ndata: {}\n") == []


@pytest.mark.parametrize("piece", [b"x" * 64, b"data: " + b"x" * 64 + b"\n"])
def test_a_frame_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, piece: bytes) -> None:
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 1_000)
    with pytest.raises(ValueError, match="larger than 1000 bytes"):
        feed_all(SseParser(), [piece] * 20)


def test_many_small_frames_are_not_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 100)
    parser = SseParser()
    assert len(feed_all(parser, [b"data: 1234567890\n\n"] * 50)) == 50
