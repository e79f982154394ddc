"""Files and functions stay small enough to read at one sitting."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("groupx_server", "groupx_tui", "shared/groupx_shared", "themes/groupx_themes")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


def _files() -> list[Path]:
    return [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]


def test_no_file_is_longer_than_the_limit() -> None:
    lengths = {str(p.relative_to(ROOT)): len(p.read_text("utf-8").splitlines()) for p in _files()}
    assert {name: n for name, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_no_function_is_longer_than_the_limit() -> None:
    found = {}
    for path in _files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    found[f"{path.relative_to(ROOT)}:{node.name}"] = length
    assert found == {}


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in _files()
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [p for p in _files() if p.stem in FORBIDDEN_NAMES] == []
