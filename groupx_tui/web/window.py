"""The program behind one browser tab: the window on a workspace, drawn into a pipe.

`python -m groupx_tui.web.window CONFIG ROOM`, an empty word for the default. Started by `child`
only; what it draws goes through Textual's protocol of packets.
"""

from __future__ import annotations

import sys

from groupx_shared.workspace import default_workspace, find_workspace


def main(words: list[str]) -> int:
    """Run the window until the tab is closed; return the exit code."""
    config, room = words
    workspace = find_workspace(config) if config else default_workspace()
    from groupx_tui.opening import build_app
    from groupx_tui.web.driver import BrowserDriver

    app = build_app(workspace, room or None, driver=BrowserDriver)
    app.run()
    return app.return_code or 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
