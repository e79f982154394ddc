"""What the first bytes of an image say: its type and its size in pixels. Nothing is decoded.

Pure, standard library only. Invariant: bounded, whatever the bytes are; what is not understood is
None, and no claim of a header is used for more than words and a limit.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final, NamedTuple

HEADER_BYTES: Final = 64 * 1024
"""A JPEG tells its size behind its metadata; more is not looked at."""
MAX_SIDE: Final = 100_000


class ImageHeader(NamedTuple):
    """Type and size."""

    kind: str
    """`PNG`, `JPEG`, `GIF`, `WebP`."""
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader | None:
    """Return what the bytes of an image begin with; None when that is no image that is known."""
    data = data[:HEADER_BYTES]
    for reader in (_png, _gif, _webp, _jpeg):
        found = reader(data)
        if found is not None and 0 < found.width <= MAX_SIDE and 0 < found.height <= MAX_SIDE:
            return found
    return None


def describe(media_type: str, encoded: str) -> str:
    """Return words for an image that came as base64: type, size in pixels, bytes. `media_type` is
    what its sender called it, and is cleaned by whoever shows the words."""
    size = len(encoded) * 3 // 4 - encoded[-2:].count("=")
    try:
        start = base64.b64decode(encoded[: HEADER_BYTES // 3 * 4], validate=True)
    except (binascii.Error, ValueError):
        return f"{media_type}, damaged"
    header = read_header(start)
    pixels = "" if header is None else f", {header.width}×{header.height}"
    return f"{media_type}{pixels}, {byte_words(size)}"


def byte_words(size: int) -> str:
    """Like `12 KB`."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1024 or unit == "MB":
            return f"{size:,} {unit}"
        size = round(size / 1024)
    raise AssertionError("the last unit returns")


def _png(data: bytes) -> ImageHeader | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 24:
        return None
    return ImageHeader("PNG", _big(data[16:20]), _big(data[20:24]))


def _gif(data: bytes) -> ImageHeader | None:
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 10:
        return None
    return ImageHeader("GIF", _little(data[6:8]), _little(data[8:10]))


def _webp(data: bytes) -> ImageHeader | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return None
    match data[12:16]:
        case b"VP8X":
            return ImageHeader("WebP", _little(data[24:27]) + 1, _little(data[27:30]) + 1)
        case b"VP8L":
            bits = _little(data[21:25])
            return ImageHeader("WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            return ImageHeader("WebP", _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF)
        case _:
            return None


_NO_SIZE: Final = frozenset({0xC4, 0xC8, 0xCC})
"""Segments between SOF0 and SOF15 that are none."""


def _jpeg(data: bytes) -> ImageHeader | None:
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            return ImageHeader("JPEG", _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7]))
        at += 2 + max(2, _big(data[at + 2 : at + 4]))
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
