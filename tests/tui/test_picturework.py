"""Pictures are decoded beside the window: every format, and nothing hostile gets through."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from groupx_shared.errors import WorkspaceError
from groupx_tui import picturework
from groupx_tui.picturework import Form, Made, decode
from support.sixel_reader import read_sixels

pytestmark = [pytest.mark.process, pytest.mark.slow]
RED, BLUE = (255, 0, 0), (0, 0, 255)


def red_and_blue(size: tuple[int, int] = (40, 20)) -> Image.Image:
    """Red at the left, blue at the right."""
    picture = Image.new("RGB", size, RED)
    picture.paste(BLUE, (size[0] // 2, 0, *size))
    return picture


def at(made: Made, x: int, y: int) -> tuple[int, int, int]:
    start = (y * made.width + x) * 3
    red, green, blue = made.data[start : start + 3]
    return red, green, blue


def is_near(found: tuple[int, int, int], wanted: tuple[int, int, int]) -> bool:
    return all(abs(one - other) < 20 for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_every_format_is_decoded_to_fit(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    red_and_blue((400, 200)).save(path, kind)
    made = decode(path, "rgb", 40, 40)
    assert (made.width, made.height) == (40, 20)
    assert is_near(at(made, 5, 10), RED)
    assert is_near(at(made, 34, 10), BLUE)


@pytest.mark.parametrize("kind", ["GIF", "WEBP"])
def test_of_moving_pictures_the_first_is_shown(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    more = [Image.new("RGB", (40, 20), (0, 255, 0))]
    red_and_blue().save(path, kind, save_all=True, append_images=more, lossless=True)
    assert is_near(at(decode(path, "rgb", 100, 100), 5, 10), RED)


def test_a_picture_is_turned_as_it_says_and_lies_on_black(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGBA", (40, 20), (255, 255, 255, 0)).save(path, exif=exif)
    made = decode(path, "rgb", 100, 100)
    assert (made.width, made.height) == (20, 40)
    assert at(made, 5, 5) == (0, 0, 0)


def test_sixels_and_png_show_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    red_and_blue().save(path)
    size, pixels = read_sixels(decode(path, "sixel", 100, 100).data)
    assert size == (40, 20)
    assert (pixels[0, 0], pixels[39, 19], len(pixels)) == ((100, 0, 0), (0, 0, 100), 800)
    shown = Image.open(io.BytesIO(decode(path, "png", 100, 100).data))
    assert shown.tobytes() == red_and_blue().tobytes()


def bomb(width: int, height: int) -> bytes:
    """A PNG of few bytes that claims to be huge, and has rows for a start."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(10**6)))


@pytest.mark.parametrize("form", ["png", "sixel", "rgb"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bomb(60_000, 60_000), "pixels"),
        (bomb(500, 500)[:70], "cannot be shown"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "cannot be shown"),
        (b"", "cannot be shown"),
    ],
    ids=["bomb", "cut short", "another program's format", "empty"],
)
def test_hostile_files_are_refused_with_a_sentence(
    tmp_path: Path, data: bytes, words: str, form: Form
) -> None:
    path = tmp_path / "a\x1b]0;x\x07.png"
    path.write_bytes(data)
    with pytest.raises(WorkspaceError, match=words) as caught:
        decode(path, form, 100, 100)
    assert "\x1b" not in caught.value.message


def test_what_is_no_plain_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    for name in ("a.png", "nothing.png"):
        with pytest.raises(WorkspaceError):
            decode(tmp_path / name, "png", 10, 10)


def stand_in(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Another program where the decoder would be."""
    real = subprocess.Popen

    def start(argv: list[str], **more: object) -> subprocess.Popen[bytes]:
        return real([sys.executable, "-c", program], **more)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(subprocess, "Popen", start)


@pytest.mark.parametrize(
    ("form", "program"),
    [
        ("sixel", "print('1 1'); print('\\x1bPq~\\x1b]52;c;eA==\\x07\\x1b\\\\', end='')"),
        ("rgb", "print('9 9'); print('abc', end='')"),
        ("png", "print('1 1'); print('GIF89a')"),
        ("rgb", "print('-1 1000000000000')"),
        ("png", "print('\\x89PNG' * 100, end='')"),
    ],
)
def test_nothing_that_the_decoder_says_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form, program: str
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"")
    stand_in(monkeypatch, program)
    with pytest.raises(WorkspaceError, match="cannot be shown"):
        decode(path, form, 10, 10)


def test_a_decoder_that_hangs_or_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"")
    monkeypatch.setattr(picturework, "TIME_S", 0.3)
    for program in ("import signal; signal.pause()", "while True: print('9' * 10**6)"):
        stand_in(monkeypatch, program)
        with pytest.raises(WorkspaceError, match="cannot be shown"):
            decode(path, "png", 10, 10)
