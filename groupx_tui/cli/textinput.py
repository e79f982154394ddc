"""The text of a message: from the command line, from stdin or from a pipe, checked before sending.

Bytes are UTF-8 or the message is refused: a guess at the encoding would send something else than
what was written.
"""

from __future__ import annotations

import sys
from typing import BinaryIO, Final, TextIO

from groupx_tui.cli.diagnostics import CommandError, ExitCode

MAX_MESSAGE_CHARS: Final = 131_072
"""As `wire.requests.MAX_MESSAGE_CHARS`; that module is not loaded by the hot commands."""
MAX_COUNTED_BYTES: Final = 256 * 1024 * 1024
"""What is too long is still counted up to here, to be able to say how long it is."""
PIECE: Final = 1024 * 1024


def message_text(argument: str | None, stdin: TextIO | None = None) -> str:
    """Return the text to send. Raises: CommandError (usage when empty, refused when unfit)."""
    if argument is not None and argument != "-":
        text = argument
    else:
        text = _from_stdin(argument, stdin or sys.stdin)
    return _checked(text)


def _from_stdin(argument: str | None, stdin: TextIO | None) -> str:
    if stdin is None or (argument is None and stdin.isatty()):
        raise CommandError(
            "There is no text. Give it as an argument, or pipe it in: echo hi | groupx send",
            ExitCode.USAGE,
        )
    return _decoded(_bounded(stdin.buffer)).rstrip("\r\n")


def _bounded(source: BinaryIO) -> bytes:
    """Read all, if it can possibly fit (a character takes at most four bytes)."""
    content = bytearray()
    while piece := source.read(PIECE):
        content += piece
        if len(content) > MAX_MESSAGE_CHARS * 4:
            raise _too_long(f"{_counted(source, len(content))} bytes")
    return bytes(content)


def _counted(source: BinaryIO, so_far: int) -> str:
    size = so_far
    while size <= MAX_COUNTED_BYTES and (piece := source.read(PIECE)):
        size += len(piece)
    return f"more than {MAX_COUNTED_BYTES:,}" if size > MAX_COUNTED_BYTES else f"{size:,}"


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"byte 0x{content[error.start]:02x} at position {error.start:,}"
        raise _unfit(f"not UTF-8 text ({found})") from error


def _checked(text: str) -> str:
    if "\0" in text:
        raise _unfit(f"binary data (a NUL character at position {text.index(chr(0)):,})")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _unfit("not UTF-8 text")
    if len(text) > MAX_MESSAGE_CHARS:
        raise _too_long(f"{len(text):,} characters")
    if not text.strip():
        raise CommandError("The message is empty.", ExitCode.USAGE)
    return text


def _unfit(found: str) -> CommandError:
    return CommandError(
        f"The message is {found}; a message is text. Put the file where the agent can read it "
        "and send its path.",
        ExitCode.REFUSED,
    )


def _too_long(size: str) -> CommandError:
    return CommandError(
        f"The message has {size}; the limit is {MAX_MESSAGE_CHARS:,} characters. Put it into a "
        "file that the agent can read and send the path.",
        ExitCode.REFUSED,
    )
