"""Decodes one picture for the window, in a process of its own: `python -m groupx_tui.decoding`.

A picture is a stranger's bytes and its decoder is C. Invariants: memory, time and what may be
written are bounded before the library is loaded; only four formats are tried; nothing is opened,
the file is standard input. What it writes is `WIDTH HEIGHT\n` and the bytes in the wanted form.
Counterpart: `picturework`, which starts it, bounds it once more and believes nothing it says.
"""

from __future__ import annotations

import io
import resource
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from groupx_tui.picture import MAX_SHOWN_BYTES, MAX_SHOWN_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_MEMORY: Final = 1024**3
"""The most pixels that are decoded take 200 MB, for a while twice."""
MAX_CPU_S: Final = 10
FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")


def main() -> int:
    """Take `png|sixel|rgb WIDTH HEIGHT`: the box it must fit into, in pixels."""
    form, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    _limit()
    try:
        data = sys.stdin.buffer.read(MAX_SHOWN_BYTES + 1)
        picture = _decoded(data, (width, height))
        made = _MAKERS[form](picture)
    except Exception as error:  # noqa: BLE001 # a stranger's bytes: whatever the library says
        sys.stderr.write(f"{type(error).__name__}: {error}")
        return 1
    sys.stdout.buffer.write(b"%d %d\n" % (picture.width, picture.height) + made)
    return 0


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, MAX_CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):
            continue  # this system has no such limit, or a lower one already


def _decoded(data: bytes, box: tuple[int, int]) -> Image:
    """The first frame, upright, within the box, on black where it lets the background through."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = MAX_SHOWN_PIXELS
    if len(data) > MAX_SHOWN_BYTES:
        raise ValueError(f"more than {MAX_SHOWN_BYTES:,} bytes")
    with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
        if opened.width * opened.height > MAX_SHOWN_PIXELS:
            raise ValueError(f"more than {MAX_SHOWN_PIXELS:,} pixels")
        opened.draft("RGB", box)  # a JPEG is decoded smaller, if it may be
        picture = ImageOps.exif_transpose(opened).convert("RGBA")
    picture.thumbnail(box)
    ground = Image.new("RGBA", picture.size, (0, 0, 0, 255))
    return Image.alpha_composite(ground, picture).convert("RGB")


def _png(picture: Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _sixel(picture: Image) -> bytes:
    from PIL.Image import Dither, Quantize

    from groupx_tui.sixel import MAX_COLOURS, encode

    drawn = picture.quantize(MAX_COLOURS, method=Quantize.MEDIANCUT, dither=Dither.FLOYDSTEINBERG)
    parts: list[Any] = drawn.getpalette() or []
    used = max(drawn.tobytes()) + 1
    palette = [(parts[at], parts[at + 1], parts[at + 2]) for at in range(0, used * 3, 3)]
    return encode(drawn.tobytes(), drawn.width, palette)


def _rgb(picture: Image) -> bytes:
    return picture.tobytes()


_MAKERS: Final[dict[str, Callable[[Image], bytes]]] = {"png": _png, "sixel": _sixel, "rgb": _rgb}

if __name__ == "__main__":
    sys.exit(main())
