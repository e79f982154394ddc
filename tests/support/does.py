"""Says which actions of the table a test does through the window.

`@does("turn.retry")` on a test: it fails unless that action really ran in it (the fixture in
tests/tui/conftest.py looks), and the action counts as tested (tests/tui/test_actions.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])


def does(*action_ids: str) -> Callable[[Test], Test]:
    """Note that the test does these actions."""

    def note(test: Test) -> Test:
        test.__does__ = (*action_ids, *done_by(test))  # type: ignore[attr-defined]
        return test

    return note


def done_by(test: object) -> tuple[str, ...]:
    """The actions that a test says it does."""
    found: tuple[str, ...] = getattr(test, "__does__", ())
    return found
