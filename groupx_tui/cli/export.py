"""`groupx export`: all rooms, or one, whole and in order, to stdout or to a file.

A file appears under its name only when it is whole and on disk: it is written beside it, private,
and then moved. A stream that breaks leaves nothing behind.
"""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from groupx_shared.text import safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect
from groupx_tui.cli.wire_http import Reply

PROGRESS_BYTES: Final = 1024 * 1024

Filter = Callable[[str], str]


def run(call: Invocation) -> int:
    """Write the events in order."""
    name = call.text("output")
    target = None if name in (None, "-") else Path(str(name)).expanduser()
    if target is not None:
        _refuse_existing(target, force=call.flag("force"))
    api = connect(call)
    file_format = call.required("format")
    with api.export(call.text("room"), file_format) as reply:
        if target is None:
            _copy(_cleaned(reply, file_format), output.write_bytes)
            output.flush()
        else:
            _to_file(_cleaned(reply, file_format), target, force=call.flag("force"))
    return ExitCode.DONE


def _cleaned(reply: Reply, file_format: str) -> Iterator[bytes]:
    """Markdown is made to be read in a terminal too, so it is cleaned; JSON lines keep every
    character, and on a terminal those that it acts on are shown as escapes."""
    if file_format == "md":
        return _filtered(reply, safe_text)
    if output.is_terminal():
        return _filtered(reply, output.harmless_json)
    return reply.pieces()


def _filtered(reply: Reply, clean: Filter) -> Iterator[bytes]:
    """Decode, clean and encode in pieces that end at a line's end."""
    decoder = getincrementaldecoder("utf-8")("replace")
    rest = ""
    for piece in reply.pieces():
        whole, newline, rest = (rest + decoder.decode(piece)).rpartition("\n")
        if newline:
            yield clean(whole + newline).encode()
    yield clean(rest + decoder.decode(b"", final=True)).encode()


def _copy(pieces: Iterator[bytes], write: Callable[[bytes], object]) -> None:
    size = shown = 0
    for piece in pieces:
        write(piece)
        size += len(piece)
        if size - shown >= PROGRESS_BYTES:
            shown = size
            diagnostics.progress(f"{size / PROGRESS_BYTES:,.0f} MiB")
    if shown:
        diagnostics.progress("")


def _to_file(pieces: Iterator[bytes], target: Path, *, force: bool) -> None:
    try:
        with _private_file(target) as (file, temporary):
            _copy(pieces, file.write)
            file.flush()
            os.fsync(file.fileno())
            _put_in_place(temporary, target, force=force)
    except OSError as error:
        raise CommandError(
            f"{target} cannot be written: {error.strerror or error}. Nothing was left there.",
            ExitCode.REFUSED,
        ) from error


@contextmanager
def _private_file(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, temporary
    finally:
        temporary.unlink(missing_ok=True)


def _put_in_place(temporary: Path, target: Path, *, force: bool) -> None:
    if force:
        temporary.replace(target)
        return
    try:
        os.link(temporary, target)  # unlike a rename, this fails when somebody was faster
    except FileExistsError:
        _refuse_existing(target, force=False)
    except OSError:  # a file system without links
        _refuse_existing(target, force=False)
        temporary.replace(target)


def _refuse_existing(target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise CommandError(f"{target} is a folder; name a file.", ExitCode.REFUSED)
    if target.exists() and not force:
        raise CommandError(
            f"{target} exists and is left alone. Use another name, or --force to replace it.",
            ExitCode.REFUSED,
        )
