"""The last lines a program wrote to stderr, cleaned and bounded.

Owns at most `MAX_LINES` lines and `MAX_CHARS` characters, however much is written and however it
is cut into pieces. What comes out is safe to show. Counterpart: `process.py` feeds it.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from groupx_shared.text import safe_text

MAX_LINES: Final = 200
MAX_CHARS: Final = 64 * 1024
_MAX_LINE_CHARS: Final = 2_000
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class StderrRing:
    """Keeps the end of a stream of text."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._chars = 0
        self._partial = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes; only the newest lines are kept."""
        *lines, partial = (self._partial + data).split(b"\n")
        self._partial = partial[:_MAX_LINE_CHARS]
        for line in lines[-MAX_LINES:]:
            self._keep(_clean(line))

    def text(self) -> str:
        """All kept lines, the unfinished one last."""
        last = _clean(self._partial)
        return "\n".join([*self._lines, last] if last else self._lines)

    def last_line(self) -> str:
        """The last line that is not blank, or an empty text."""
        last = _clean(self._partial)
        return last or (self._lines[-1] if self._lines else "")

    def _keep(self, line: str) -> None:
        if not line:
            return
        self._lines.append(line)
        self._chars += len(line)
        while len(self._lines) > MAX_LINES or self._chars > MAX_CHARS:
            self._chars -= len(self._lines.popleft())


def _clean(line: bytes) -> str:
    text = line[: _MAX_LINE_CHARS * 4].decode("utf-8", "replace")
    return safe_text(_ANSI.sub("", text)).rstrip()[:_MAX_LINE_CHARS].rstrip()
