"""The page of complaints names tests that exist, for each kind that a client can cause."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "COMPLAINTS.md"
KINDS = "ABCDEFGIJKLMN"
"""H is another operating system."""


def named_tests() -> list[tuple[str, str]]:
    """File and function of each test that the page names."""
    return re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE.read_text("utf-8"))


def test_each_kind_has_rows_and_each_row_a_test() -> None:
    sections = re.split(r"^## ([A-Z])\. ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    rows = {
        kind: [line for line in body.splitlines() if line.startswith("| ")][1:]
        for kind, body in zip(sections[1::2], sections[2::2], strict=True)
    }
    assert "".join(rows) == KINDS
    assert [row for found in rows.values() for row in found if "::test_" not in row] == []
    assert [kind for kind, found in rows.items() if not found] == []


def test_each_test_that_is_named_is_there() -> None:
    missing = [
        f"{file}::{name}"
        for file, name in named_tests()
        if not (path := ROOT / file).is_file()
        or not re.search(rf"^(async )?def {name}\(", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert missing == []
    assert len(named_tests()) > 50
