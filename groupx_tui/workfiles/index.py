"""Which files there are below the workspace's folder: bounded, cached, without what is ignored.

`scan` blocks and runs in a thread; everything else is cheap. Invariants: it never leaves the
folder (links are not followed), never raises for what cannot be read, and ends after `MAX_FILES`
or `MAX_SECONDS`; a name that could not be typed or drawn as it is does not come in.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from groupx_shared.text import safe_line
from groupx_tui.workfiles.ignore import IgnoreFile, is_ignored

MAX_FILES: Final = 20_000
MAX_SECONDS: Final = 2.0
MAX_DEPTH: Final = 24
MAX_PATH_CHARS: Final = 300
MAX_IGNORE_BYTES: Final = 256 * 1024
FRESH_S: Final = 20.0
"""A list younger than this is used as it is."""
LEFT_OUT: Final = frozenset({"node_modules", "__pycache__"})
SHOWN_HIDDEN: Final = frozenset({".github", ".gitlab"})
"""Hidden folders that people work in; the others hold what programs keep."""
IGNORE_NAME: Final = ".gitignore"


class WorkFiles:
    """The files below one folder; None: none are looked for."""

    def __init__(
        self, folder: Path | None, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._monotonic = monotonic
        self._scanned_s = float("-inf")
        self.paths: tuple[str, ...] = ()
        """Relative, with `/`, those near the top first."""

    @property
    def folder(self) -> Path:
        """Where relative names start from."""
        return self._folder or Path.cwd()

    @property
    def is_stale(self) -> bool:
        """Whether it is worth looking again."""
        return self._folder is not None and self._monotonic() - self._scanned_s > FRESH_S

    def scan(self) -> tuple[str, ...]:
        """Look for the files. Blocks, at most `MAX_SECONDS`."""
        if self._folder is None:
            return ()
        return tuple(self._walk(self._folder, self._monotonic() + MAX_SECONDS))

    def take(self, paths: tuple[str, ...]) -> None:
        """Use what `scan` found."""
        self.paths, self._scanned_s = paths, self._monotonic()

    def _walk(self, top: Path, until_s: float) -> Iterator[str]:
        """Yield files, level by level, so that what is near comes in when there are too many."""
        found = 0
        waiting = deque([("", tuple(_files_above(top)), 0)])
        while waiting:
            folder, ignores, depth = waiting.popleft()
            if (own := _ignore_file(top / folder, folder)) is not None:
                ignores = (own, *ignores)
            for entry in _entries(top / folder):
                path = f"{folder}/{entry.name}" if folder else entry.name
                is_folder = _is_folder(entry)
                if not _is_wanted(path, entry.name, is_folder=is_folder):
                    continue
                if is_ignored(ignores, path, is_folder=is_folder):
                    continue
                if is_folder and depth < MAX_DEPTH:
                    waiting.append((path, ignores, depth + 1))
                elif not is_folder and not entry.is_symlink():
                    yield path
                    found += 1
                if found >= MAX_FILES or self._monotonic() > until_s:
                    return


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []  # not ours to read: what is in it cannot be named


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_wanted(path: str, name: str, *, is_folder: bool) -> bool:
    if len(path) > MAX_PATH_CHARS or safe_line(path) != path:
        return False
    if not is_folder:
        return True
    return name not in LEFT_OUT and (not name.startswith(".") or name in SHOWN_HIDDEN)


def _ignore_file(folder: Path, where: str, skipped: str = "") -> IgnoreFile | None:
    try:
        with (folder / IGNORE_NAME).open("rb") as file:
            text = file.read(MAX_IGNORE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    return IgnoreFile(text, where, skipped)


def _files_above(top: Path) -> Iterator[IgnoreFile]:
    """The ignore files of the repository that `top` lies in, nearest first."""
    if (top / ".git").exists():
        return
    parents = list(top.parents)
    roots = [number for number, folder in enumerate(parents) if (folder / ".git").exists()]
    for folder in parents[: roots[0] + 1] if roots else ():
        file = _ignore_file(folder, "", f"{top.relative_to(folder).as_posix()}/")
        if file is not None:
            yield file
