"""Runs one command line and turns however it ended into an exit code.

The border of the program: here, and only here, an error becomes a sentence on stderr.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module

from groupx_shared.errors import GroupXError
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.fastparse import parse
from groupx_tui.cli.options import Invocation


def run(words: Sequence[str], *, completing: bool = False) -> int:
    """Run what `words` say. `completing`: a shell asks for completions."""
    output.prepare()
    try:
        call = None if completing else parse(words)
        if call is None:
            from groupx_tui.cli import surface

            read = surface.read(words)
            if isinstance(read, int):
                return read
            call = read
        code = int(handler_of(call)(call))
        output.flush()
    except BrokenPipeError:
        output.abandon()
        return ExitCode.DONE
    except KeyboardInterrupt:
        diagnostics.trouble("Interrupted.")
        return ExitCode.UNCERTAIN
    except GroupXError as error:
        diagnostics.trouble(_sentence(error))
        return diagnostics.exit_code_of(error)
    except Exception as error:  # noqa: BLE001 - the border: nothing is above
        return _broken(error)
    return code


def handler_of(call: Invocation) -> Callable[[Invocation], int]:
    """Return the function that carries the command out, loading its module."""
    module, _, function = call.command.handler.partition(":")
    handler: Callable[[Invocation], int] = getattr(
        import_module(f"groupx_tui.cli.{module}"), function
    )
    return handler


def _sentence(error: GroupXError) -> str:
    """The error's sentence; a refusal names its code, which scripts and docs/ERRORS.md know."""
    code = getattr(error, "wire_code", None)
    return f"{error.message} ({code})" if code else error.message


def _broken(error: Exception) -> int:
    """An error that nobody expected is a fault of this program."""
    if os.environ.get("GROUPX_DEBUG"):
        import traceback

        diagnostics.say(traceback.format_exc())
    diagnostics.trouble(
        f"This is a fault of the program: {type(error).__name__}: {error}. "
        "Set GROUPX_DEBUG=1 to see where, and please report it."
    )
    return ExitCode.UNCERTAIN
