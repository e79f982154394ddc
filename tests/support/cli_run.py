"""The types of the `groupx` fixture (tests/tui/cli/conftest.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Groupx = Callable[..., Ended]
