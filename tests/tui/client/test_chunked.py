"""Response framing: any split gives the same body, and what is not HTTP is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.client.chunked import ChunkDecoder, parse_head


def framed(chunks: list[bytes]) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return body + b"0\r\n\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    st.lists(st.integers(0, 400), max_size=30),
)
def test_any_split_gives_the_body(chunks: list[bytes], cuts: list[int]) -> None:
    stream, decoder = framed(chunks), ChunkDecoder()
    places = sorted({min(cut, len(stream)) for cut in cuts})
    pieces = zip([0, *places], [*places, len(stream)], strict=True)
    body = b"".join(decoder.feed(stream[start:end]) for start, end in pieces)
    assert body == b"".join(chunks)
    assert decoder.has_ended


@given(st.binary(max_size=300))
def test_arbitrary_bytes_give_a_body_or_an_error(data: bytes) -> None:
    try:
        assert len(ChunkDecoder().feed(data)) <= len(data)
    except ValueError:
        return


def test_a_chunk_extension_is_ignored() -> None:
    assert ChunkDecoder().feed(b"3;name=value\r\nabc\r\n0\r\n\r\n") == b"abc"


@pytest.mark.parametrize(
    "data",
    [b"xyz\r\n", b"\r\n", b"-1\r\n", b"3\r\nabcd\r\n", b"1_0\r\n", b"+3\r\n", b"f" * 300],
)
def test_broken_framing_is_refused(data: bytes) -> None:
    decoder = ChunkDecoder()
    with pytest.raises(ValueError, match="chunk"):
        decoder.feed(data)


def test_a_body_that_was_cut_off_has_not_ended() -> None:
    decoder = ChunkDecoder()
    assert decoder.feed(b"5\r\nab") == b"ab"
    assert not decoder.has_ended


def test_a_head_is_read_whatever_its_case() -> None:
    head = parse_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nX-A:  b \r\n\r\n")
    assert (head.status, head.is_chunked, head.headers["x-a"]) == (200, True, "b")
    assert not parse_head(b"HTTP/1.0 404 Not Found\r\n\r\n").is_chunked


@pytest.mark.parametrize("raw", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\r\n\r\n"])
def test_what_is_not_http_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"not an HTTP/1\.1 response"):
        parse_head(raw)
