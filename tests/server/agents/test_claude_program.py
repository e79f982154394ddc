"""Finding Claude Code, and its version."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from groupx_server.agents import claude_program
from groupx_server.agents.claude_program import MINIMUM_VERSION, Inquirer, find_program
from groupx_server.agents.clock import SystemClock
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.claude_kit import ClaudeScript
from server.agents.kit import NoGuard


def _program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def _find(folder: Path, name: str = "claude", **env: str) -> str:
    return find_program(name, folder, {"PATH": str(folder / "bin"), "HOME": str(folder), **env})


def test_a_program_on_the_path_is_taken(tmp_path: Path) -> None:
    found = _program(tmp_path / "bin" / "claude")
    assert _find(tmp_path) == str(found)


@pytest.mark.parametrize("place", [".local/bin/claude", ".claude/local/claude"])
def test_the_usual_places_are_looked_at(tmp_path: Path, place: str) -> None:
    found = _program(tmp_path / place)
    assert _find(tmp_path) == str(found)


def test_another_program_is_looked_for_on_the_path_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_program, "_SHARED_PLACES", ())
    _program(tmp_path / ".local/bin/claude")
    with pytest.raises(AgentError):
        _find(tmp_path, "claude-beta")


def test_a_named_program_is_taken_as_it_is(tmp_path: Path) -> None:
    found = _program(tmp_path / "tools" / "claude")
    assert _find(tmp_path, "tools/claude") == str(found)
    assert _find(tmp_path, str(found)) == str(found)


@pytest.mark.parametrize("layout", ["beside", "inside", "musl"])
def test_the_native_program_is_preferred_to_a_package_managers_script(
    tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    modules = tmp_path / "lib" / "node_modules" / "@anthropic-ai"
    script = _program(modules / "claude-code" / "cli.js", "#!/usr/bin/env node\n")
    inside = modules / "claude-code" / "node_modules" / "@anthropic-ai"
    native = {
        "beside": modules / "claude-code-linux-x64" / "claude",
        "inside": inside / "claude-code-linux-x64" / "claude",
        "musl": modules / "claude-code-linux-x64-musl" / "claude",
    }[layout]
    _program(native)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(script)
    assert _find(tmp_path) == str(native)


def test_a_script_without_its_native_program_is_started_itself(tmp_path: Path) -> None:
    script = _program(tmp_path / "node_modules" / "claude-code" / "cli.js")
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin" / "claude"
    link.symlink_to(script)
    assert _find(tmp_path) == str(link)


@pytest.mark.parametrize("name", ["claude", "./claude"])
def test_a_missing_program_is_said_with_what_to_install(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_program, "_SHARED_PLACES", ())
    (tmp_path / ".local/bin/claude").mkdir(parents=True)  # a folder is no program
    with pytest.raises(AgentError, match="Install it with") as missing:
        _find(tmp_path, name)
    assert missing.value.code is ErrorCode.ADAPTER_START_FAILED


# --- version ---------------------------------------------------------------------------------


@asynccontextmanager
async def _asking(folder: Path, *options: str, limit_s: float = 5.0) -> AsyncIterator[Inquirer]:
    """Questions to a scripted program; none of its processes is left."""
    guard = NoGuard()
    spec = ClaudeScript(folder, guard).spec(*options)
    try:
        yield Inquirer(spec, spec.env, guard, SystemClock(), limit_s)
    finally:
        assert guard.added
        assert guard.groups == set()


async def _version(folder: Path, *options: str, limit_s: float = 5.0) -> str:
    async with _asking(folder, *options, limit_s=limit_s) as program:
        return await program.version()


@pytest.mark.process
async def test_the_version_is_read(tmp_path: Path) -> None:
    assert await _version(tmp_path) == "2.1.332"


@pytest.mark.process
@pytest.mark.parametrize("version", ["2.1.196", "1.9.999", "0.2.400"])
async def test_an_old_version_is_refused_with_what_to_do(tmp_path: Path, version: str) -> None:
    with pytest.raises(AgentError, match=r"too old.*claude update") as refused:
        await _version(tmp_path, f"version={version}_(Claude_Code)")
    minimum = ".".join(str(number) for number in MINIMUM_VERSION)
    assert refused.value.details == {"version": version, "minimum": minimum}


@pytest.mark.process
@pytest.mark.parametrize("said", ["claude_9.9.9", "usage:_claude"])
async def test_another_program_of_that_name_is_quoted(tmp_path: Path, said: str) -> None:
    with pytest.raises(AgentError, match="is not Claude Code") as refused:
        await _version(tmp_path, f"version={said}")
    assert said.replace("_", " ") in refused.value.message


@pytest.mark.process
@pytest.mark.slow
async def test_a_program_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as refused:
        await _version(tmp_path, "version-hang", limit_s=0.3)
    assert refused.value.code is ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "needed"), [([], False), (["signed-out"], True), (["no-auth-command"], False)]
)
async def test_whether_somebody_is_signed_in_is_asked(
    tmp_path: Path, options: list[str], needed: bool
) -> None:
    async with _asking(tmp_path, *options) as program:
        assert await program.needs_sign_in() is needed
