"""Cleaning of text that other programs wrote: models, tools, files, names.

Everything drawn on a terminal or printed passes `safe_text` or `safe_line` once, at the border
where it enters a display (and where the server stores it). A control character that is not a
newline or a tab becomes a visible picture, so the reader sees that it was there and the terminal
never acts on it (CWE-150). Bidirectional overrides become U+FFFD: they would let a text look
like another (CVE-2021-42574).
"""

from __future__ import annotations

import re
from typing import Final

_C0_PICTURES: Final = {code: chr(0x2400 + code) for code in range(0x20) if code not in (9, 10)}
_DELETE: Final = {0x7F: "\u2421"}
_C1: Final = dict.fromkeys(range(0x80, 0xA0), "\ufffd")
_BIDI: Final = dict.fromkeys(
    (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"
)
_LINE_SEPARATORS: Final = {0x2028: "\n", 0x2029: "\n"}
_SURROGATES: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_TABLE: Final = {**_C0_PICTURES, **_DELETE, **_C1, **_BIDI, **_LINE_SEPARATORS, **_SURROGATES}
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_EMOJI: Final = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_INVISIBLE: Final = re.compile(
    "[\u200b\u200c\u2060-\u2064\ufe00-\ufe0e\ufeff\U000e0000-\U000e007f]"
    f"|\u200d(?!{_EMOJI})|(?<!{_EMOJI})(?<!{_EMOJI}\ufe0f)\u200d"
    f"|(?<!{_EMOJI})\ufe0f(?!\u20e3)"
)
"""Joiner and selector are dropped unless they hold an emoji together: a family would be four."""

_UNSAFE_UTF8: Final = re.compile(
    b"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
)
_HARMLESS_BYTES: Final = bytes(set(range(256)) - {0x7F, 0xC2, 0xD8, 0xE2})
"""Bytes that begin no match of it."""
_DEL: Final = 0x7F
"""A number: Python finds one in a fifth of the time that it takes for a string of one byte."""

CUT_MARK: Final = "\n[… cut: {omitted:,} more characters]"


def safe_text(text: str) -> str:
    """Return `text` with each control or direction character made harmless; newline and tab
    stay. Text without such characters is returned as it is, at the cost of one scan."""
    if _UNSAFE.search(text) is None:
        return text
    return text.replace("\r\n", "\n").translate(_TABLE)


def safe_line(text: str, max_chars: int = 200) -> str:
    """Return `text` as one safe line for a name or a title: cleaned, white space folded,
    zero-width characters dropped (but not within emoji), at most `max_chars` characters (an
    ellipsis marks a cut)."""
    line = " ".join(_INVISIBLE.sub("", safe_text(text[: max_chars * 8])).split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip("\u200d") + "…"


def clip_text(text: str, max_chars: int) -> str:
    """Return at most `max_chars` characters of `text`; what is cut is said in a last line."""
    if len(text) <= max_chars:
        return text
    longest_mark = CUT_MARK.format(omitted=len(text))
    keep = max(0, max_chars - len(longest_mark))
    return text[:keep] + CUT_MARK.format(omitted=len(text) - keep)


def safe_json(data: bytes) -> bytes:
    """Return JSON (UTF-8) with DEL, C1, direction characters and line separators as `\\uXXXX`.

    The same JSON to every parser, and harmless where it is printed. C0 is escaped in JSON anyway.
    Such characters can stand only inside strings, so the bytes can be replaced unparsed.
    """
    # Two quick looks first: nearly all of it is ASCII, or holds no byte that could begin one.
    if data.isascii():
        if _DEL not in data:
            return data
    elif not data.translate(None, _HARMLESS_BYTES) or _UNSAFE_UTF8.search(data) is None:
        return data
    return _UNSAFE_UTF8.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), data)
