"""The layers hold: statically, at run time, and for SQL."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SQL = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|ALTER|DROP)\s", re.IGNORECASE)
HEADLESS = [
    "groupx_shared.config",
    "groupx_server.app",
    "groupx_server.builtin_agent.__main__",
    "groupx_tui.cli.main",
    "groupx_tui.client.session",
    "groupx_tui.state.reduce",
]
HOT = {"typer", "click", "httpx", "textual", "rich", "pydantic", "asyncio"}


def _python_files(package: str) -> Iterator[Path]:
    yield from sorted((ROOT / package).rglob("*.py"))


def _loaded_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    return set(result.stdout.split())


@pytest.mark.slow
def test_import_contracts_hold() -> None:
    # A process of its own: the linter reconfigures logging where it runs.
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("module", HEADLESS)
def test_headless_modules_load_no_terminal_library(module: str) -> None:
    assert not _loaded_by(module) & {"textual", "rich"}


@pytest.mark.slow
@pytest.mark.process
def test_the_command_line_starts_without_heavy_libraries() -> None:
    assert not _loaded_by("groupx_tui.cli.main") & HOT


@pytest.mark.slow
@pytest.mark.process
def test_folders_of_the_checkout_are_not_packages() -> None:
    code = "import shared.groupx_shared"
    result = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, check=False, timeout=30
    )
    assert result.returncode != 0


def _sql_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return [text for text in texts if SQL.match(text) and text.split()[0].isupper()]


def test_sql_stands_only_in_the_ledger() -> None:
    ledger = ROOT / "groupx_server" / "ledger"
    found = {
        str(path.relative_to(ROOT)): _sql_in(path)
        for package in ("groupx_server", "groupx_tui", "shared")
        for path in _python_files(package)
        if ledger not in path.parents
    }
    assert {name: texts for name, texts in found.items() if texts} == {}
