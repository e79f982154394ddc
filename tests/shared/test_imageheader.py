"""What images say of themselves, and that nothing they say breaks anything."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.imageheader import ImageHeader, byte_words, describe, read_header

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0" * 9
GIF = b"GIF89a" + struct.pack("<HH", 32, 16) + b"\0" * 30
WEBP_X = (
    b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (99).to_bytes(3, "little") + (49).to_bytes(3, "little")
)
WEBP_L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0/" + (99 | 49 << 14).to_bytes(4, "little") + b"\0" * 9
WEBP_ = b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 100, 50)
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\0" * 10
    + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 400) + b"\x03" * 12
)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (PNG, ImageHeader("PNG", 640, 480)),
        (GIF, ImageHeader("GIF", 32, 16)),
        (WEBP_X, ImageHeader("WebP", 100, 50)),
        (WEBP_L, ImageHeader("WebP", 100, 50)),
        (WEBP_, ImageHeader("WebP", 100, 50)),
        (JPEG, ImageHeader("JPEG", 400, 300)),
        (b"", None),
        (b"<svg/>", None),
        (PNG[:20], None),
        (PNG.replace(struct.pack(">I", 640), b"\xff\xff\xff\xff"), None),
        (PNG.replace(struct.pack(">I", 640), b"\0\0\0\0"), None),
    ],
)
def test_type_and_size_are_read(data: bytes, header: ImageHeader | None) -> None:
    assert read_header(data) == header


@given(
    st.sampled_from([PNG, GIF, WEBP_X, WEBP_L, WEBP_, JPEG, b"\xff\xd8"]),
    st.binary(),
    st.integers(0, 40),
)
def test_damaged_bytes_break_nothing(start: bytes, rest: bytes, cut: int) -> None:
    read_header(start[:cut] + rest)
    describe("image/png", (start[:cut] + rest).decode("latin-1"))


def test_an_image_is_described_by_type_pixels_and_bytes() -> None:
    encoded = base64.b64encode(PNG + b"x" * 5_000).decode()
    assert describe("image/png", encoded) == "image/png, 640×480, 5 KB"
    assert describe("image/svg+xml", base64.b64encode(b"<svg/>").decode()) == (
        "image/svg+xml, 6 bytes"
    )
    assert describe("image/png", "not base64!") == "image/png, damaged"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1,023 bytes"), (2048, "2 KB"), (5 << 30, "5,120 MB")],
)
def test_sizes_read_well(size: int, words: str) -> None:
    assert byte_words(size) == words
