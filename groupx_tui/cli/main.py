"""The program `groupx`: reads the command line, runs one command, returns its exit code.

Plain command lines never load typer, an HTTP library, pydantic, asyncio or Textual (a test looks
at `sys.modules`); `--version` loads next to nothing.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

VERSION_FLAGS = (["--version"], ["-V"])
RARE_COLLECTIONS = 50_000
"""A start makes many objects and no garbage; looking for it 60 times costs 3 ms."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own) and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in VERSION_FLAGS and sys.stdout is not None:
        from groupx_shared.version import VERSION

        sys.stdout.write(f"groupx {VERSION}\n")
        return 0
    gc.set_threshold(RARE_COLLECTIONS)
    from groupx_tui.cli.run import run

    return run(words, completing="_GROUPX_COMPLETE" in os.environ)


if __name__ == "__main__":
    raise SystemExit(main())
