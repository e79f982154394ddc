"""Images of agents as words: what they are, where they are, never their bytes."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.mediawords import MAX_PLACE_CHARS, media_words

SVG = "PHN2Zy8+"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("image", "image/svg+xml", SVG), "[image: image/svg+xml, 6 bytes]"),
        (("image", None, SVG), "[image: unknown type, 6 bytes]"),
        (("image", None, None, "/tmp/a.png"), "[image: /tmp/a.png]"),
        (
            ("image", None, None, f"data:image/svg+xml;base64,{SVG}"),
            "[image: image/svg+xml, 6 bytes]",
        ),
        (("image", "image/png", None, "file:///a.png"), "[image: image/png, /a.png]"),
        (("audio", "audio/wav\x1b[2J\n", None), "[audio: audio/wav␛[2J]"),
        (("image", 7, ["x"], {}), "[image]"),
    ],
)
def test_what_is_known_is_told(given: tuple[Any, ...], words: str) -> None:
    assert media_words(*given) == words


def test_no_bytes_and_no_endless_place_get_through() -> None:
    words = media_words("image", "x" * 999, "A" * 4_000_000, "y" * 9_999)
    assert len(words) < MAX_PLACE_CHARS + 200
    assert "A" * 20 not in words
