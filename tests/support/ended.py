"""Ends what a command started behind its back, so that no test leaves a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.waiting import eventually


def end_all(folder: Path) -> None:
    """End the windows on a workspace, and the server that they may still be starting: it cannot
    be stopped before it listens."""

    def is_over() -> bool:
        command = [sys.executable, "-m", "groupx_tui.cli", "stop", "--config", str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        listed = subprocess.run(
            ["ps", "-eww", "-o", "args"], capture_output=True, check=True
        ).stdout
        return os.fsencode(folder) not in listed

    eventually(is_over)
