"""Runs the window on a fake session in a real terminal; `python terminal_app.py [crash]`.

With `crash`, the key for the next room raises. Prints `CODE=<exit code>` when it has ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from groupx_tui.app import GroupXApp
from groupx_tui.setup import load_setup
from groupx_tui.terminal import terminal_attributes
from support.fake_session import FakeSession, MemoryDrafts


def main() -> int:
    """Open the window; return its exit code."""
    attributes = terminal_attributes()
    app = GroupXApp(
        FakeSession,
        MemoryDrafts(),
        load_setup(),
    )
    app.terminal_attributes = attributes
    if "crash" in sys.argv:
        app.handlers.room.next = None  # type: ignore[method-assign, assignment]
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    sys.stdout.write(f"CODE={main()}\n")
