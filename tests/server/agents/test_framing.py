"""The same lines come out however the bytes are cut, and no line can grow without end."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.framing import LineSplitter, OverlongLine

_LINES = st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" ")), max_size=20)


def _feed_in_pieces(splitter: LineSplitter, data: bytes, cuts: list[int]) -> list[object]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    out: list[object] = []
    for start, end in itertools.pairwise(edges):
        out.extend(splitter.feed(data[start:end]))
    return out


@given(lines=_LINES, cuts=st.lists(st.integers(0, 10_000), max_size=30))
def test_any_split_of_the_bytes_gives_the_same_lines(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    whole = LineSplitter().feed(data)
    assert _feed_in_pieces(LineSplitter(), data, cuts) == whole
    assert whole == [line.removesuffix(b"\r") for line in lines if line.removesuffix(b"\r").strip()]


@given(lines=_LINES, cuts=st.lists(st.integers(0, 10_000), max_size=30), limit=st.integers(1, 30))
def test_a_limit_refuses_the_same_lines_however_they_are_cut(
    lines: list[bytes], cuts: list[int], limit: int
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    pieces = _feed_in_pieces(LineSplitter(limit), data, cuts)
    assert pieces == LineSplitter(limit).feed(data)
    assert pieces.count(OverlongLine(limit)) == sum(len(line) > limit for line in lines)


def test_a_line_over_the_limit_is_refused_once_and_the_next_line_is_read() -> None:
    splitter = LineSplitter(max_line_bytes=8)
    assert splitter.feed(b"12345678") == []
    assert splitter.feed(b"9") == [OverlongLine(8)]
    assert splitter.feed(b"still the same line") == []
    assert splitter.held_bytes == 0
    assert splitter.feed(b"\nnext\n") == [b"next"]


def test_a_line_of_exactly_the_limit_is_taken() -> None:
    assert LineSplitter(max_line_bytes=8).feed(b"12345678\n") == [b"12345678"]


def test_blank_lines_and_carriage_returns_are_dropped() -> None:
    assert LineSplitter().feed(b"\n  \r\n{}\r\n\n") == [b"{}"]


def test_the_last_line_without_a_newline_is_given_at_the_end() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert splitter.finish() == [b'{"b"']
    assert splitter.finish() == []


def test_a_long_line_in_many_pieces_is_joined_once() -> None:
    splitter = LineSplitter()
    piece = b"x" * 65_536
    for _ in range(256):
        assert splitter.feed(piece) == []
    assert splitter.held_bytes == 256 * len(piece)
    assert splitter.feed(b"\n") == [piece * 256]
