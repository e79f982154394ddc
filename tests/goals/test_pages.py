"""The page on memory names its proofs, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_test_that_the_page_names_is_there_and_each_goal_is_named() -> None:
    page = (ROOT / "docs" / "MEMORY.md").read_text("utf-8")
    named = set(re.findall(r"`(tests/\S+\.py)`", page))
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
    goals = {f"tests/goals/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert goals - named == {"tests/goals/test_pages.py"}
