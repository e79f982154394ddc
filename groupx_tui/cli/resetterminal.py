"""`groupx reset-terminal`: puts a terminal right that a killed window left behind."""

from __future__ import annotations

import os
import termios

from groupx_tui.cli.diagnostics import CommandError, ExitCode, say
from groupx_tui.cli.options import Invocation
from groupx_tui.terminalreset import put_right, repair_if_left

TERMINAL = "/dev/tty"


def run(call: Invocation) -> int:
    """Write the restoring sequences and set the terminal as a shell expects it."""
    try:
        descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        raise CommandError(
            "There is no terminal here to put right. Run it in the one that is wrong; when nothing "
            "that you type shows, type it blindly and press ctrl+j.",
            ExitCode.USAGE,
        ) from error
    try:
        if not repair_if_left(descriptor):
            put_right(None, descriptor)
    except (OSError, termios.error) as error:
        raise CommandError(f"The terminal cannot be set: {error}.", ExitCode.USAGE) from error
    finally:
        os.close(descriptor)
    say("The terminal is as a shell expects it.")
    return ExitCode.DONE
