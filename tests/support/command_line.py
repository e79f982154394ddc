"""The real `groupx` program in a pipe, against a workspace in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

WITHIN_S = 60.0


def command(folder: Path, *words: str) -> list[str]:
    """The command line for a workspace."""
    return [sys.executable, "-m", "groupx_tui.cli", "--config", str(folder), *words]


def groupx(
    folder: Path, *words: str, text: str | None = None, code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command; `text` is piped in. Fails when it ends with another code than `code`."""
    done = subprocess.run(
        command(folder, *words),
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=WITHIN_S,
        check=False,
        env=dict(os.environ),
    )
    assert code is None or done.returncode == code, (words, done.returncode, done.stderr)
    return done


def groupx_json(folder: Path, *words: str, **more: Any) -> Any:
    """Run a command with `--json` and return what it printed."""
    return json.loads(groupx(folder, *words, "--json", **more).stdout)
