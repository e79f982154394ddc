"""stderr and exit codes: the only module of the command line that writes stderr.

Narration never mixes with data: what a script reads is on stdout (`output`), what a person is told
is here. docs/CLI.md lists the exit codes.
"""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from typing import Final

from groupx_shared.errors import ErrorCode, GroupXError, RefusedError
from groupx_shared.text import safe_text

MAX_SENTENCE: Final = 4000
"""Longest text of one narration, in characters: a server's sentence, an agent's error."""


class ExitCode(IntEnum):
    """How a command ended; part of the stable interface."""

    DONE = 0
    TURN_FAILED = 1
    USAGE = 2
    NO_SERVER = 3
    STILL_RUNNING = 4
    UNCERTAIN = 5
    REFUSED = 6


class CommandError(GroupXError):
    """A command ends here: the sentence for the person, the exit code for the script."""

    def __init__(self, message: str, exit_code: ExitCode) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def exit_code_of(error: GroupXError) -> ExitCode:
    """Return the exit code that an error ends a command with."""
    if isinstance(error, CommandError):
        return error.exit_code
    if not isinstance(error, RefusedError) or error.code is ErrorCode.SHUTTING_DOWN:
        return ExitCode.NO_SERVER
    if error.code is ErrorCode.INTERNAL_ERROR:
        return ExitCode.UNCERTAIN  # it failed in the middle; its log says where
    return ExitCode.REFUSED


def say(text: str) -> None:
    """Narrate one line (or a few) on stderr; without a stderr nothing is said."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(safe_text(text[:MAX_SENTENCE]) + "\n")
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        return  # nobody listens; the exit code still tells


def trouble(text: str) -> None:
    """Say what went wrong, with the program's name before it."""
    if has_colours():
        sys.stderr.write("\x1b[31mgroupx:\x1b[0m ")
        say(text)
    else:
        say(f"groupx: {text}")


def progress(text: str) -> None:
    """Replace the progress line; only on a terminal."""
    if is_terminal():
        sys.stderr.write(f"\r\x1b[K{safe_text(text)}")
        sys.stderr.flush()


def is_terminal() -> bool:
    """Whether a person sees stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def has_colours() -> bool:
    """Whether stderr may be coloured (https://no-color.org)."""
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
