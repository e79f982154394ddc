"""Where the logs of a workspace are, and reading their ends without reading all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from groupx_shared.workspace import Workspace

BLOCK: Final = 65_536


def server_log(workspace: Workspace) -> Path:
    """The server's own log: JSON lines, rotated by the server."""
    return workspace.data_folder / "logs" / "server.log"


def start_log(workspace: Workspace) -> Path:
    """What a server started in the background printed: why it could not start, or a crash."""
    return workspace.data_folder / "logs" / "start.log"


def last_lines(path: Path, count: int, *, since: int = 0) -> list[str]:
    """Return the last `count` lines of the file, none from before byte `since`.

    Raises: FileNotFoundError, OSError.
    """
    if count <= 0:
        return []
    blocks: list[bytes] = []
    newlines = 0
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        while position > since and newlines <= count:
            step = min(BLOCK, position - since)
            position -= step
            file.seek(position)
            blocks.append(file.read(step))
            newlines += blocks[-1].count(b"\n")
    text = b"".join(reversed(blocks)).decode("utf-8", "replace")
    return text.removesuffix("\n").split("\n")[-count:] if text else []
