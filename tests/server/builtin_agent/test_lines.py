"""Lines do not depend on how the bytes were cut; a long one is dropped alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.lines import LineBuffer

_TEXT = st.lists(st.sampled_from([b"a", b"bb", b"\n", b"{}", b" ", b"\xc3\xa9"])).map(b"".join)


def _cut(data: bytes, sizes: list[int]) -> list[bytes]:
    chunks = []
    for size in sizes:
        chunks.append(data[:size])
        data = data[size:]
    return [*chunks, data]


@settings(deadline=None)
@given(_TEXT, st.lists(st.integers(0, 5)))
def test_lines_are_the_same_however_the_bytes_are_cut(data: bytes, sizes: list[int]) -> None:
    buffer = LineBuffer()
    lines = [line for chunk in _cut(data, sizes) for line in buffer.feed(chunk)]
    assert lines == [line for line in data.split(b"\n")[:-1] if line.strip()]
    assert buffer.dropped == 0


def test_a_line_over_the_limit_is_dropped_and_the_next_one_is_read() -> None:
    buffer = LineBuffer(max_line_bytes=4)
    assert buffer.feed(b"ab") == []
    assert buffer.feed(b"cde") == []
    assert buffer.feed(b"f\nok\n12345\n1234\n") == [b"ok", b"1234"]
    assert buffer.dropped == 2


def test_a_line_without_its_newline_is_held() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b'{"a":') == []
    assert buffer.feed(b"1}\n") == [b'{"a":1}']
