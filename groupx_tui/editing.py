"""The person's own editor for a longer message: which one, and running it on a file of ours.

Invariant: the text that was written is never lost: it is replaced only by what was saved, and a
file that cannot be read back stays where it is. The editor shares our process group, as with git
and mail programs: it must own the terminal, and ctrl+z has to stop both of us.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from groupx_shared.errors import ConfigError, WorkspaceError
from groupx_shared.paths import private_folder, user_state_folder
from groupx_shared.text import safe_line, safe_text

VARIABLES: Final = ("VISUAL", "EDITOR")
FALLBACKS: Final = ("sensible-editor", "nano", "vim", "vi")
MAX_BYTES: Final = 16 * 1024 * 1024
"""A longer text is no message; it stays in its file."""
STOP_S: Final = 2.0
"""For an editor whose window closes: then it is killed."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What came back: the text, or None (with a sentence why) when it stays as it was."""

    text: str | None
    problem: str = ""


def editor_command(environ: Mapping[str, str], path: str | None = None) -> list[str]:
    """Return the command of the person's editor: $VISUAL, else $EDITOR, split like a shell does
    but run without one; else one that is there. Raises: ConfigError."""
    for variable in VARIABLES:
        value = environ.get(variable, "").strip()
        if not value:
            continue
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise ConfigError(
                f"${variable} cannot be understood ({error}): {safe_line(value, 80)}"
            ) from error
        if words and shutil.which(words[0], path=path) is not None:
            return words
        name = safe_line(words[0] if words else value, 60)
        raise ConfigError(f"${variable} names “{name}”, which is not installed.")
    for name in FALLBACKS:
        if shutil.which(name, path=path) is not None:
            return [name]
    raise ConfigError("No editor was found. Set $EDITOR to the one you use, like “nano”.")


async def edit(text: str, command: list[str]) -> Edited:
    """Let the person edit `text`; the terminal must be free for that.

    Raises: WorkspaceError when no file can be written for it.
    """
    path = _write(text)
    with _left_alone():
        code = await _run([*command, str(path)])
    if code != 0:
        path.unlink(missing_ok=True)
        return Edited(None, f"The editor ended with code {code}; your text is as it was.")
    try:
        return Edited(_read(path))
    except (OSError, ValueError) as error:
        return Edited(None, f"What you saved in {path} cannot be taken back: {error}.")


async def edit_file(path: Path, template: str, command: list[str]) -> int:
    """Let the person edit a file of their own, made with `template` when it is not there; returns
    the editor's exit code. The terminal must be free. Raises: WorkspaceError."""
    _make(path, template)
    with _left_alone():
        return await _run([*command, str(path)])


def _make(path: Path, template: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(template, "utf-8")
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be made: {error}.") from error


def _write(text: str) -> Path:
    try:
        folder = private_folder(user_state_folder() / "editing")
        descriptor, name = tempfile.mkstemp(".md", "message-", folder)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise WorkspaceError(f"No file can be written for the editor: {error}.") from error
    return Path(name)


def _read(path: Path) -> str:
    """Read and remove the file. Raises: OSError, ValueError (too large)."""
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES // 1024 // 1024} MB")
    text = path.read_bytes().decode("utf-8", "replace")
    path.unlink(missing_ok=True)
    # A file ends with a line end; nobody means it as part of the message.
    return safe_text(text.replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")


async def _run(words: list[str]) -> int:
    """Run the editor on our terminal and return its exit code."""
    process = await asyncio.create_subprocess_exec(*words)
    try:
        return await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
        raise


@contextmanager
def _left_alone() -> Iterator[None]:
    """Ctrl+c in the editor is for the editor: the terminal sends it to both of us."""
    before = signal.signal(signal.SIGINT, _take_no_notice)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _take_no_notice(number: int, frame: object) -> None:
    """Not SIG_IGN: the editor would inherit that."""
