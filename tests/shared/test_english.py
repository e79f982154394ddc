"""Numbers in sentences."""

from __future__ import annotations

from groupx_shared.english import counted


def test_one_is_singular_and_all_else_plural_with_thousands_apart() -> None:
    assert [counted(n, "line") for n in (0, 1, 2, 1_240)] == (
        ["0 lines", "1 line", "2 lines", "1,240 lines"]
    )
