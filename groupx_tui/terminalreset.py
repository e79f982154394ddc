"""Brings a terminal back that a window left as it was using it: after SIGKILL nobody else can.

A window leaves a mark for its terminal while it is open: a small file that says which process has
it and how it was set before. A mark whose process is dead means that the terminal was not given
back. Standard library only. Counterparts: `terminal`, which gives it back in every other case, and
`cli.resetterminal`.
"""

from __future__ import annotations

import contextlib
import json
import os
import termios
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder, user_state_folder
from groupx_tui.attention import PROGRESS_OFF, shows_progress

POP_TITLE: Final = "\x1b[23;0t"
RESET: Final = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    "\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[<u\x1b[?7h"  # paste, focus, resize, keyboard, wrap
    "\x1b[?2026l\x1b[?1049l\x1b[?25h\x1b[0m" + POP_TITLE  # frame, screen, cursor, colours
)
SANE_INPUT: Final = termios.ICRNL | termios.IXON | termios.BRKINT
SANE_OUTPUT: Final = termios.OPOST | termios.ONLCR
SANE_LOCAL: Final = (
    termios.ICANON | termios.ECHO | termios.ECHOE | termios.ECHOK | termios.ISIG | termios.IEXTEN
)
"""What a shell expects to be on (as `stty sane`), for a terminal of which nothing is known."""
MAX_MARK_BYTES: Final = 16 * 1024


def reset_sequence(environ: Mapping[str, str]) -> str:
    """Return what switches off everything that a window switches on."""
    return RESET + (PROGRESS_OFF if shows_progress(environ) else "")


def leave_mark(attributes: list[Any] | None) -> Path | None:
    """Note that this process has the terminal, which was set like `attributes` before; None when
    that cannot be noted (the window works without)."""
    name = _terminal_name()
    if name is None or attributes is None:
        return None
    mark = {"pid": os.getpid(), "born": _born(os.getpid()), "attributes": _to_json(attributes)}
    path = _folder() / f"{name}.{os.getpid()}.json"
    try:
        private_folder(path.parent)
        path.write_text(json.dumps(mark), "utf-8")
    except (OSError, WorkspaceError):
        return None
    return path


def remove_mark(path: Path | None) -> None:
    """The terminal was given back."""
    if path is not None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def repair_if_left(descriptor: int = 1) -> bool:
    """Put this terminal right when a window that had it is dead; returns whether that was so.

    Raises: OSError, termios.error when it cannot be set.
    """
    name = _terminal_name()
    left = [] if name is None else [path for path in _marks(name) if not _is_held(path)]
    if not left:
        return False
    put_right(next(filter(None, map(_attributes, left)), None), descriptor)
    for path in left:
        remove_mark(path)
    return True


def put_right(attributes: list[Any] | None, descriptor: int = 1) -> None:
    """Write the restoring sequences and set the terminal: like `attributes`, else as a shell
    expects it. Raises: OSError, termios.error when there is no terminal."""
    os.write(descriptor, reset_sequence(os.environ).encode())
    if attributes is None:
        attributes = termios.tcgetattr(descriptor)
        attributes[0] |= SANE_INPUT
        attributes[1] |= SANE_OUTPUT
        attributes[3] |= SANE_LOCAL
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)


def _folder() -> Path:
    return user_state_folder() / "windows"


def _terminal_name() -> str | None:
    """The terminal of standard input as a file name, like `pts-3`; None when it is none."""
    try:
        return os.ttyname(0).removeprefix("/dev/").replace("/", "-")
    except OSError:
        return None


def _marks(name: str) -> Iterator[Path]:
    """The marks of one terminal."""
    yield from sorted(_folder().glob(f"{name}.*.json"))


def _read(path: Path) -> dict[str, Any]:
    """A mark; empty when it cannot be understood (then nobody holds it)."""
    try:
        with path.open("rb") as file:
            mark = json.loads(file.read(MAX_MARK_BYTES))
    except (OSError, ValueError):
        return {}
    return mark if isinstance(mark, dict) else {}


def _is_held(path: Path) -> bool:
    """Whether the process of a mark still lives."""
    mark = _read(path)
    pid = mark.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return mark.get("born") == _born(pid)


def _born(pid: int) -> str | None:
    """When a process began, so that another one with its number is told from it; "dead" for one
    that was killed and not collected yet, None where nobody tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return "dead" if fields[:1] == [b"Z"] else fields[19].decode() if len(fields) > 19 else None


def _to_json(attributes: list[Any]) -> list[Any]:
    characters = [each.decode("latin-1") if isinstance(each, bytes) else each
                  for each in attributes[6]]  # fmt: skip
    return [*attributes[:6], characters]


def _attributes(path: Path) -> list[Any] | None:
    """The settings in a mark, as `termios` takes them; None when they are not whole."""
    found = _read(path).get("attributes")
    if not isinstance(found, list) or len(found) != 7 or not isinstance(found[6], list):
        return None
    if not all(isinstance(number, int) for number in found[:6]):
        return None
    characters = [
        each.encode("latin-1", "replace") if isinstance(each, str) else each for each in found[6]
    ]
    return [*found[:6], characters]
