"""Page sizes follow the length of the rows, within bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.rooms.paging import FIRST_ROWS, MAX_ROWS, PageSize


def test_short_rows_make_pages_of_many() -> None:
    page = PageSize(1_000_000)
    page.learn(FIRST_ROWS, FIRST_ROWS * 200)
    assert page.rows == FIRST_ROWS * 4
    page.learn(page.rows, page.rows * 200)
    assert page.rows == MAX_ROWS


def test_long_rows_make_pages_of_few() -> None:
    page = PageSize(1_000_000)
    page.learn(10, 10 * 400_000)
    assert page.rows == 2


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 10**9)), max_size=20))
def test_a_page_always_has_at_least_one_row_and_never_too_many(
    pages: list[tuple[int, int]],
) -> None:
    page = PageSize(65_536)
    for rows, size in pages:
        page.learn(rows, size)
        assert 1 <= page.rows <= MAX_ROWS
