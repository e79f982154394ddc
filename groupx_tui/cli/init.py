"""`groupx init`: makes a workspace of a folder. Never overwrites."""

from __future__ import annotations

import os
from pathlib import Path

from groupx_shared.configedit import first_text
from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.workspace import CONFIG_NAME, DATA_FOLDER
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation


def run(call: Invocation) -> int:
    """Write groupx.json and a data folder that version control leaves alone."""
    folder = Path(call.text("path") or ".").expanduser().resolve()
    if not folder.is_dir():
        raise CommandError(f"There is no folder {folder}.", ExitCode.USAGE)
    path = folder / CONFIG_NAME
    _write_new(path, first_text())
    data = private_folder(folder / DATA_FOLDER)
    if not (data / ".gitignore").exists():
        _write_new(data / ".gitignore", "*\n")
    output.line(str(path))
    diagnostics.say("docs/CONFIG.md says what can stand in it. Open the room: groupx")
    return ExitCode.DONE


def _write_new(path: Path, text: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise CommandError(f"{path} exists and is left alone.", ExitCode.REFUSED) from error
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.strerror}.") from error
