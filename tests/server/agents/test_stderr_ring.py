"""Only the end of stderr is kept, and it is harmless."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.stderr_ring import MAX_CHARS, MAX_LINES, StderrRing


def _ring(*pieces: bytes) -> StderrRing:
    ring = StderrRing()
    for piece in pieces:
        ring.feed(piece)
    return ring


def test_lines_are_put_together_from_pieces() -> None:
    assert _ring(b"one\ntw", b"o\n\nthr", b"ee").text() == "one\ntwo\nthree"


def test_colours_and_control_characters_do_no_harm() -> None:
    ring = _ring(b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07done\x07\n")
    assert ring.text() == "red done\u2407"


def test_the_newest_lines_are_kept() -> None:
    ring = _ring(b"".join(b"%d\n" % n for n in range(1_000)))
    lines = ring.text().splitlines()
    assert len(lines) == MAX_LINES
    assert lines[-1] == ring.last_line() == "999"


def test_a_line_without_end_does_not_grow() -> None:
    ring = StderrRing()
    for _ in range(1_000):
        ring.feed(b"x" * 10_000)
    assert len(ring.text()) <= 2_000


@given(st.lists(st.binary(max_size=300) | st.just(b"y" * 5_000 + b"\n"), max_size=60))
def test_it_is_bounded_whatever_is_written(pieces: list[bytes]) -> None:
    text = _ring(*pieces).text()
    assert len(text) <= MAX_CHARS + MAX_LINES + 2_000
    assert not any(ord(c) < 32 and c not in "\n\t" for c in text)
