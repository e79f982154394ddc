"""Finding the native Codex behind npm's script."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from groupx_server.agents.codex_program import native_program

TARGET = "x86_64-unknown-linux-musl"


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(0o755)
    return path


def _installed(root: Path) -> Path:
    """npm's layout: a link on PATH to the script of the package."""
    script = _program(root / "node_modules/@openai/codex/bin/codex.js")
    link = root / "bin/codex"
    link.parent.mkdir()
    link.symlink_to(script)
    return link


@pytest.mark.parametrize(
    "place",
    [
        f"@openai/codex-linux-x64/vendor/{TARGET}/bin/codex",
        f"@openai/codex/node_modules/@openai/codex-linux-x64/vendor/{TARGET}/bin/codex",
        f"@openai/codex/vendor/{TARGET}/codex/codex",
    ],
)
def test_the_native_program_is_found_wherever_npm_puts_it(tmp_path: Path, place: str) -> None:
    link = _installed(tmp_path)
    native = _program(tmp_path / "node_modules" / place)
    assert native_program("codex", str(link.parent)) == str(native.resolve())
    assert native_program(str(link), None) == str(native.resolve())


def test_without_it_the_script_is_used(tmp_path: Path) -> None:
    link = _installed(tmp_path)
    assert native_program("codex", str(link.parent)) == "codex"
    not_executable = tmp_path / f"node_modules/@openai/codex-linux-x64/vendor/{TARGET}/bin/codex"
    _program(not_executable).chmod(0o644)
    assert native_program("codex", str(link.parent)) == "codex"


def test_another_program_is_left_alone(tmp_path: Path) -> None:
    own = _program(tmp_path / "codex")
    assert native_program(str(own), None) == str(own)
    assert native_program("codex-that-is-nowhere", str(tmp_path)) == "codex-that-is-nowhere"


def test_an_unknown_machine_uses_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = _installed(tmp_path)
    _program(tmp_path / f"node_modules/@openai/codex-linux-x64/vendor/{TARGET}/bin/codex")
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert native_program("codex", str(link.parent)) == "codex"
