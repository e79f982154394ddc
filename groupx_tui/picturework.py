"""Has a picture decoded by a process beside this one, and checks what comes back.

Blocks; call it in a thread. Invariants: the process is in its own group, ends within `TIME_S`, and
no more than `MAX_MADE` bytes are taken from it; sixels are written to the terminal only when they
are nothing but sixels. Counterpart: `decoding`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

from groupx_shared.errors import WorkspaceError
from groupx_shared.text import safe_line
from groupx_tui.picture import open_plain
from groupx_tui.sixel import is_sixels

Form = Literal["png", "sixel", "rgb"]
TIME_S: Final = 15.0
MAX_MADE: Final = 16 * 1024 * 1024
MAX_SAID: Final = 1000


class Made(NamedTuple):
    """A picture in the form that was asked for, of this many pixels."""

    width: int
    height: int
    data: bytes


def decode(path: Path, form: Form, width: int, height: int) -> Made:
    """Have the file's first frame made to fit the box, in pixels.

    Raises: WorkspaceError when it is no picture, too large, or takes too long."""
    try:
        made, said = _run(path, [form, str(width), str(height)])
    except OSError as error:
        raise WorkspaceError(f"{safe_line(str(path), 200)}: {error.strerror}.") from error
    return _checked(form, made, f"{safe_line(path.name, 100)} cannot be shown", said)


def _run(path: Path, words: list[str]) -> tuple[bytes, bytes]:
    argv = [sys.executable, "-I", "-m", "groupx_tui.decoding", *words]
    with (
        open_plain(path) as file,
        subprocess.Popen(
            argv,
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        end = threading.Timer(TIME_S, _end, (process,))
        end.start()
        try:
            return _read(process.stdout, MAX_MADE), _read(process.stderr, MAX_SAID)
        finally:
            end.cancel()
            _end(process)


def _read(stream: IO[bytes] | None, most: int) -> bytes:
    return b"" if stream is None else stream.read(most + 1)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _checked(form: Form, made: bytes, problem: str, said: bytes) -> Made:
    start, _, data = made.partition(b"\n")
    sides = start.split(b" ")
    if len(sides) != 2 or not all(side.isdigit() and len(side) < 7 for side in sides):
        why = safe_line(said.decode("utf-8", "replace"), 200) or "its decoder ended without a word"
        raise WorkspaceError(f"{problem}: {why}. Open the file with another program.")
    width, height = int(sides[0]), int(sides[1])
    is_right = {
        "png": data.startswith(b"\x89PNG"),
        "sixel": is_sixels(data),
        "rgb": len(data) == width * height * 3,
    }[form]
    if not is_right or len(made) > MAX_MADE:
        raise WorkspaceError(f"{problem}: what its decoder made is no {form}.")
    return Made(width, height, data)
