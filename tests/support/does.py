"""Says which actions of the table a test does through the window.

`@does("turn.retry")` on a test, or a parameter `does_id`: it fails unless that action really ran in
it (the fixture in tests/tui/conftest.py looks), and the action counts as tested
(tests/tui/test_actions.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
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


def actions_done_below(folder: Path) -> set[str]:
    """The actions that the tests in `folder` say they do, read from their sources."""
    found: set[str] = set()
    for path in folder.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    found.update(_named_in(decorator))
    return found


def _named_in(decorator: ast.expr) -> Iterator[str]:
    """The texts in `@does(…)` and in a `parametrize` that has a `does_id`."""
    texts = [each.value for each in ast.walk(decorator) if isinstance(each, ast.Constant)]
    is_does = isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "does"
    if is_does or "does_id" in texts:
        yield from (text for text in texts if isinstance(text, str))
