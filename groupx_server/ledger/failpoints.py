"""Places where a test can kill the process, as a power cut would.

`GROUPX_FAILPOINT=accept.before_commit` kills this process with SIGKILL when it passes that
point; `accept.before_commit:3` at the third pass. Unset, which is always but in crash tests, a
point costs one comparison. The counterpart is the crash tests, which start a child with the
variable set and look at what it left on disk.
"""

from __future__ import annotations

import itertools
import os
import signal
from typing import Final

VARIABLE: Final = "GROUPX_FAILPOINT"


def _parse(setting: str | None) -> tuple[str | None, int]:
    """Split `name` or `name:N` into the name and the pass that kills.

    Raises:
        ValueError: N is not a positive number.
    """
    if not setting:
        return None, 1
    name, _, count = setting.partition(":")
    if count and not (count.isdecimal() and int(count) > 0):
        raise ValueError(f"{VARIABLE}={setting}: expected NAME or NAME:N with N from 1")
    return name, int(count or 1)


_armed, _pass = _parse(os.environ.get(VARIABLE))
_passes = itertools.count(1)


def failpoint(name: str) -> None:
    """Kill this process here if the environment asks for it."""
    if _armed is not None and name == _armed and next(_passes) == _pass:
        os.kill(os.getpid(), signal.SIGKILL)
