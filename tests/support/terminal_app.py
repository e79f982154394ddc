"""Runs the window on a fake session in a real terminal; `python terminal_app.py [crash] [busy]`.

With `crash`, the key for the next room raises; with `busy`, an agent works. Prints
`CODE=<exit code>` when it has ended.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from groupx_tui.app import GroupXApp
from groupx_tui.opening import run_app
from groupx_tui.setup import load_setup
from support.fake_session import CODEX, FakeSession, MemoryDrafts, sample_view, turn


def busy_session() -> FakeSession:
    """A session in which an agent works."""
    return FakeSession(replace(sample_view(), open_turns=(turn("turn_2", CODEX),)))


def main() -> int:
    """Open the window; return its exit code."""
    app = GroupXApp(
        busy_session if "busy" in sys.argv else FakeSession,
        MemoryDrafts(),
        load_setup(),
    )
    if "crash" in sys.argv:
        app.handlers.room.next = None  # type: ignore[method-assign, assignment]
    return run_app(app)


if __name__ == "__main__":
    sys.stdout.write(f"CODE={main()}\n")
