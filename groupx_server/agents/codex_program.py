"""Finding the real Codex program behind the script that npm puts on PATH.

Reads the file system, changes nothing. The npm package starts a native program through Node; run
directly it needs no Node, starts faster, and a signal reaches the process that matters. Where it
is not found the script does as well. The counterpart is `codex_driver.py`.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Final

_SCRIPT: Final = "codex.js"
_TARGETS: Final = {
    ("linux", "x86_64"): "x86_64-unknown-linux-musl",
    ("linux", "aarch64"): "aarch64-unknown-linux-musl",
    ("darwin", "x86_64"): "x86_64-apple-darwin",
    ("darwin", "arm64"): "aarch64-apple-darwin",
}
_PLACES: Final = ("bin/codex", "codex/codex")
"""Inside `vendor/<target>`: as it is now, and as it was."""


def native_program(program: str, search_path: str | None) -> str:
    """The native program behind `program` (a name, looked up in `search_path`, or a path), else
    `program` as it is."""
    found = shutil.which(program, path=search_path)
    if found is None:
        return program
    script = Path(found).resolve()
    target = _TARGETS.get((sys.platform, platform.machine()))
    if script.name != _SCRIPT or target is None:
        return program
    package = script.parent.parent
    for vendor in _vendor_folders(package):
        for place in _PLACES:
            native = vendor / target / place
            if native.is_file() and os.access(native, os.X_OK):
                return str(native)
    return program


def _vendor_folders(package: Path) -> list[Path]:
    """Where npm, by layout, puts the package of this platform: beside, inside, or merged."""
    beside = sorted(package.parent.glob("codex-*/vendor"))
    inside = sorted(package.glob("node_modules/@openai/codex-*/vendor"))
    return [*inside, *beside, package / "vendor"]
