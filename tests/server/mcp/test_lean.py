"""Parts of a package without its `__init__`: on a package made for it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.mcp.lean import without_init


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    inner = tmp_path / "lean_sample" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "lean_sample" / "__init__.py").write_text("IS_WHOLE = True\n")
    (inner / "__init__.py").write_text("from lean_sample.inner import heavy\n")
    (inner / "heavy.py").write_text("")
    (inner / "light.py").write_text("from lean_sample.inner import lighter\n")
    (inner / "lighter.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "lean_sample"
    for name in [name for name in sys.modules if name.startswith("lean_sample")]:
        del sys.modules[name]


def test_only_what_is_asked_for_is_loaded(package: str) -> None:
    with without_init(package, f"{package}.inner"):
        importlib.import_module(f"{package}.inner.light")
    loaded = {name for name in sys.modules if name.startswith(package)}
    assert loaded == {f"{package}.inner.light", f"{package}.inner.lighter"}
    assert importlib.import_module(package).IS_WHOLE
    assert importlib.import_module(f"{package}.inner").heavy


def test_a_package_that_is_loaded_already_stays(package: str) -> None:
    whole = importlib.import_module(package)
    with without_init(package):
        assert sys.modules[package] is whole
    assert sys.modules[package] is whole


def test_nothing_is_left_when_the_import_fails(package: str) -> None:
    with pytest.raises(RuntimeError), without_init(package):
        raise RuntimeError
    assert package not in sys.modules


def test_a_package_that_is_not_there_says_so() -> None:
    with (
        pytest.raises(ModuleNotFoundError, match="no_such_package"),
        without_init("no_such_package"),
    ):
        pass
