"""Server-Sent Events: any cutting, any line end, and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.sse import EventTooLargeError, SseReader

_DATA = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1)
_NOISE = st.sampled_from(["", ": ping", "event: x", "id: 3", "retry: 10", "data"])
_END = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream with its events."""
    text, events = "", []
    for data in draw(st.lists(st.lists(_DATA, min_size=1, max_size=3), max_size=6)):
        end = draw(_END)
        if noise := draw(_NOISE):
            text += noise + end
        space = draw(st.sampled_from(["", " "]))
        if not space and any(line.startswith(" ") for line in data):
            space = " "
        text += "".join(f"data:{space}{line}{end}" for line in data) + end
        events.append("\n".join(data).encode())
    return text.encode(), events


@pytest.mark.slow
@settings(deadline=None)
@given(streams(), st.lists(st.integers(1, 7)))
def test_events_do_not_depend_on_how_the_bytes_are_cut(
    case: tuple[bytes, list[bytes]], sizes: list[int]
) -> None:
    data, expected = case
    reader, found = SseReader(), []
    for size in [*sizes, len(data)]:
        found += reader.feed(data[:size])
        data = data[size:]
    found += reader.finish()
    assert found == expected


def test_the_last_event_needs_no_blank_line() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\n\ndata: b") == [b"a"]
    assert reader.finish() == [b"b"]
    assert reader.finish() == []


def test_a_bare_json_line_counts_as_data() -> None:
    assert SseReader().feed(b'{"error": 1}\n\n') == [b'{"error": 1}']


def test_a_newline_after_a_carriage_return_in_the_next_chunk_is_no_blank_line() -> None:
    reader = SseReader()
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\ndata: b\r") == []
    assert reader.feed(b"\n\r\n") == [b"a\nb"]


@pytest.mark.parametrize(
    "chunk", [b"data: 12345678", b"data: 123\ndata: 456\n", b": 1234567890123"]
)
def test_an_event_over_the_limit_is_refused(chunk: bytes) -> None:
    with pytest.raises(EventTooLargeError, match="over 12 bytes"):
        SseReader(max_event_bytes=12).feed(chunk)


def test_the_limit_is_for_one_event_not_for_the_stream() -> None:
    reader = SseReader(max_event_bytes=12)
    for _ in range(50):
        assert reader.feed(b": comment\ndata: x\n\n") == [b"x"]
