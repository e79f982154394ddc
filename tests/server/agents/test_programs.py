"""Programs are found where installers put them, and their version without starting them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.agents.base import AgentSpec
from groupx_server.agents.catalogue import KnownAgent
from groupx_server.agents.programs import (
    Package,
    find_program,
    is_older,
    program_of,
    version_in,
    with_program,
)

TOY = KnownAgent(
    "toy",
    "Toy",
    "toy-agent",
    "npm install -g toy",
    "Run “toy-agent login”.",
    packages=("@makers/toy", "toy-py"),
    places=(".toy/bin",),
    retired={"old-toy": "it is retired"},
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def program(path: Path, text: str = "#!/bin/sh\nexit 3\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def env(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": "/nonexistent", **more}


@pytest.mark.parametrize(
    "place",
    [
        ".toy/bin",
        ".local/bin",
        ".npm-global/bin",
        ".nvm/versions/node/v22.1.0/bin",
        ".local/share/pipx/venvs/toy/bin",
        ".local/share/uv/tools/toy/bin",
        ".cargo/bin",
    ],
)
def test_a_program_is_found_off_the_path(home: Path, place: str) -> None:
    path = program(home / place / "toy-agent")
    found = find_program(TOY, env(home))
    assert found is not None
    assert (found.path, found.on_path, found.package) == (path, False, None)


def test_the_path_comes_first(home: Path, tmp_path: Path) -> None:
    program(home / ".local/bin/toy-agent")
    first = program(tmp_path / "bin/toy-agent")
    found = find_program(TOY, env(home, PATH=str(first.parent)))
    assert found is not None
    assert (found.path, found.on_path) == (first, True)


def test_the_newest_node_comes_first(home: Path) -> None:
    for version in ("v9.0.0", "v22.1.0", "v18.20.1"):
        program(home / f".nvm/versions/node/{version}/bin/toy-agent")
    found = find_program(TOY, env(home))
    assert found is not None
    assert "v22.1.0" in str(found.path)


@pytest.mark.parametrize(
    "told",
    [
        lambda home: {"NPM_CONFIG_PREFIX": str(home / "own")},
        lambda home: {"npm_config_prefix": str(home / "own")},
        lambda home: (home / ".npmrc").write_text("a=b\n prefix = ${HOME}/own \n") and {},
        lambda home: {"XDG_BIN_HOME": str(home / "own/bin")},
        lambda home: {"PNPM_HOME": str(home / "own/bin")},
    ],
)
def test_folders_that_the_environment_names_are_looked_at(
    home: Path, told: Callable[[Path], dict[str, str]]
) -> None:
    path = program(home / "own/bin/toy-agent")
    found = find_program(TOY, env(home, **told(home)))
    assert found is not None
    assert found.path == path


def test_what_cannot_be_run_is_no_program(home: Path) -> None:
    program(home / ".local/bin/toy-agent").chmod(0o644)
    (home / ".cargo/bin/toy-agent").mkdir(parents=True)
    assert find_program(TOY, env(home)) is None


def test_an_npm_package_tells_the_version_behind_a_link(home: Path) -> None:
    package = home / "lib/node_modules/@makers/toy"
    real = program(package / "dist/cli.js")
    (package / "package.json").write_text(json.dumps({"name": "@makers/toy", "version": "1.2.3"}))
    (package / "dist/package.json").write_text('{"type": "module"}')
    link = home / ".local/bin/toy-agent"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    found = find_program(TOY, env(home))
    assert found is not None
    assert found.package == Package("@makers/toy", "1.2.3")


def test_the_native_program_beside_an_npm_script_is_preferred(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    modules = home / "lib/node_modules"
    script = program(modules / "@makers/toy/cli.js")
    known = replace(TOY, native="@makers/toy-{target}/bin/toy")
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/toy-agent").symlink_to(script)
    path = env(home, PATH=str(home / ".local/bin"))
    found = find_program(known, path)
    assert found is not None
    assert found.on_path
    native = program(modules / "@makers/toy-linux-x64/bin/toy")
    found = find_program(known, path)
    assert found is not None
    assert (found.path, found.on_path) == (native, False)
    spec = AgentSpec("agent:toy", "toy", ["toy-agent", "acp"], Path("/"))
    assert with_program(spec, found, path).argv == [str(native), "acp"]


@pytest.mark.parametrize("folder", ["toy_py-4.5.6.dist-info", "old_toy-0.9.dist-info"])
def test_a_python_package_tells_the_version_behind_a_script(home: Path, folder: str) -> None:
    venv = home / "venv"
    (venv / "lib/python3.12/site-packages" / folder).mkdir(parents=True)
    (venv / "lib/python3.12/site-packages/other-1.0.dist-info").mkdir()
    program(home / ".local/bin/toy-agent", f"#!{venv}/bin/python3\nimport sys\n")
    found = find_program(TOY, env(home))
    assert found is not None
    assert found.package in (Package("toy-py", "4.5.6"), Package("old-toy", "0.9"))


@pytest.mark.parametrize(
    "text",
    ["[1]", "{", '{"name": 5}', '{"name": "@makers/toy"}', '{"name": "other"}', "[" * 90_000],
)
def test_odd_metadata_is_no_metadata(home: Path, text: str) -> None:
    program(home / ".local/bin/toy-agent", "#!\n")
    (home / ".local/package.json").write_text(text)
    found = find_program(TOY, env(home))
    assert found is not None
    assert found.package is None


def test_a_program_off_the_path_is_started_by_its_path_with_its_folder_on_the_path(
    home: Path,
) -> None:
    path = program(home / ".nvm/versions/node/v22.1.0/bin/toy-agent")
    spec = AgentSpec("agent:toy", "toy", ["toy-agent", "acp"], Path("/"), {"A": "1"})
    whole = with_program(spec, program_of(spec, TOY, env(home)), env(home))
    assert whole.argv == [str(path), "acp"]
    assert whole.env == {"A": "1", "PATH": f"{path.parent}{os.pathsep}/nonexistent"}
    on_path = env(home, PATH=str(path.parent))
    assert with_program(spec, program_of(spec, TOY, on_path), on_path) is spec
    other = replace(spec, argv=["node", "toy.js"])
    assert program_of(other, TOY, env(home)) is None
    assert program_of(spec, None, env(home)) is None
    assert with_program(spec, None, env(home)) is spec


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.332 (Claude Code)", "2.1.332"),
        ("codex-cli 0.171.0\n", "0.171.0"),
        ("v1.18.33", "1.18.33"),
        ("toy 0.2.0-beta.1.", "0.2.0-beta.1"),
        ("no version, since 2026", None),
        ("", None),
    ],
)
def test_a_version_is_found_in_what_a_program_prints(text: str, version: str | None) -> None:
    assert version_in(text) == version


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("2.1.0", "2.1.1", True),
        ("2.1", "2.1.0", True),
        ("2.10.0", "2.9.9", False),
        ("1.0.0-rc.1", "1.0.0", False),
        ("?", "1.0", False),
        ("1.0", "", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, than: str, older: bool) -> None:
    assert is_older(version, than) is older
