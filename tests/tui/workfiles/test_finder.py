"""Files by a few letters: the one that is meant stands first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.workfiles.finder import FileFinder

PATHS = (
    "parser.py",
    "src/parse/__init__.py",
    "src/deep/parser.py",
    "src/deep/my_parser.py",
    "src/sparse.py",
    "docs/Patience arser.md",
)


def test_names_stand_before_paths_and_short_before_long() -> None:
    assert FileFinder(PATHS).find("pars") == [
        "parser.py",
        "src/deep/parser.py",
        "src/deep/my_parser.py",
        "src/sparse.py",
        "src/parse/__init__.py",
        "docs/Patience arser.md",
    ]


def test_case_a_leading_dot_and_parts_of_the_path_do_not_matter() -> None:
    finder = FileFinder(PATHS)
    assert finder.find("./DEEP/PARSER")[0] == "src/deep/parser.py"
    assert finder.find("sdmp") == ["src/deep/my_parser.py"]
    assert finder.find("zzz") == []
    assert finder.find("") == []
    assert len(finder.find("s", limit=2)) == 2


def test_it_knows_what_is_there() -> None:
    assert "parser.py" in FileFinder(PATHS)
    assert "parser" not in FileFinder(PATHS)


@given(
    st.lists(st.text("ab/.", min_size=1, max_size=6), unique=True, max_size=12),
    st.text("ab/", min_size=1, max_size=4),
)
def test_going_on_with_a_word_finds_what_a_new_search_finds(paths: list[str], typed: str) -> None:
    finder = FileFinder(tuple(paths))
    for end in range(1, len(typed) + 1):
        found = finder.find(typed[:end])
        assert found == FileFinder(tuple(paths)).find(typed[:end])
