"""Where an agent's program is on this machine, and which version.

Looks, and reads the metadata of the package that a program belongs to; a program is asked
for its version only when no metadata tells it, with arguments, bounded, never through a shell.
Invariant: nothing is started bare to see what happens (a retired Kimi runs an installer then).
The counterpart is `catalogue`, which says what to look for.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from groupx_server.agents.base import AgentSpec
from groupx_server.agents.catalogue import KnownAgent
from groupx_shared.text import safe_line

_HOME_FOLDERS: Final = (
    ".local/bin",
    "bin",
    ".npm-global/bin",
    ".npm-packages/bin",
    ".volta/bin",
    ".bun/bin",
    ".local/share/pnpm",
    "Library/pnpm",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".cargo/bin",
)
"""Where installers put programs for one user: pipx and uv, npm with a prefix, Volta, Bun, pnpm,
version managers, Cargo."""
_HOME_PATTERNS: Final = (
    ".nvm/versions/node/*/bin",
    ".local/share/fnm/node-versions/*/installation/bin",
    ".local/share/uv/tools/*/bin",
    ".local/share/pipx/venvs/*/bin",
)
_SHARED_FOLDERS: Final = ("/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin")
_FOLDER_VARIABLES: Final = ("XDG_BIN_HOME", "UV_TOOL_BIN_DIR", "PIPX_BIN_DIR", "PNPM_HOME")
_PREFIX_LINE: Final = re.compile(r"^\s*prefix\s*=\s*(\S.*?)\s*$", re.MULTILINE)
_MAX_METADATA_BYTES: Final = 256 * 1024
_MAX_PARENTS: Final = 6
_VERSION: Final = re.compile(r"\d{1,4}(?:\.\d{1,6}){1,3}(?:[-+.][0-9A-Za-z.]{1,20})?")
_DIST: Final = re.compile(r"^(.+?)-(\d[^-]*)\.dist-info$")


@dataclass(frozen=True, slots=True)
class Package:
    """The package that a program belongs to."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was found."""

    path: Path
    on_path: bool
    """Whether its name alone starts it."""
    package: Package | None = None


def find_program(known: KnownAgent, env: Mapping[str, str]) -> Program | None:
    """Look for a known agent's program: on PATH, then in the usual places."""
    search_path = env.get("PATH", os.defpath)
    found = shutil.which(known.program, path=search_path)
    if found is not None:
        return _program(Path(found), known, on_path=True)
    for folder in usual_folders(env, known.places):
        path = folder / known.program
        if _can_run(path):
            return _program(path, known, on_path=False)
    return None


def usual_folders(env: Mapping[str, str], own: tuple[str, ...] = ()) -> Iterator[Path]:
    """Folders where programs lie that the PATH may not know, the likeliest first."""
    home = Path(env.get("HOME") or "/")
    yield from (home / place for place in own)
    yield from (Path(env[name]) for name in _FOLDER_VARIABLES if env.get(name, "").startswith("/"))
    if (prefix := _npm_prefix(home, env)) is not None:
        yield prefix / "bin"
    yield from (home / place for place in _HOME_FOLDERS)
    for pattern in _HOME_PATTERNS:
        yield from sorted(home.glob(pattern), key=_newest_first)
    yield from map(Path, _SHARED_FOLDERS)


def program_of(spec: AgentSpec, known: KnownAgent | None, env: Mapping[str, str]) -> Program | None:
    """The known program that an agent would start; None when it starts something else, or when
    there is none."""
    if known is None or not spec.argv or spec.argv[0] != known.program:
        return None
    return find_program(known, {**env, **spec.env})


def with_program(spec: AgentSpec, found: Program | None, env: Mapping[str, str]) -> AgentSpec:
    """The spec with its program's full path, when it is not on PATH but in a usual place. Its
    folder goes on the PATH too: a script of Node needs the Node beside it."""
    if found is None or found.on_path:
        return spec
    search_path = {**env, **spec.env}.get("PATH", os.defpath)
    path = os.pathsep.join([str(found.path.parent), search_path])
    return replace(spec, argv=[str(found.path), *spec.argv[1:]], env={**spec.env, "PATH": path})


def version_in(text: str) -> str | None:
    """The first thing in `text` that looks like a version."""
    found = _VERSION.search(text)
    return None if found is None else found[0].rstrip(".-+")


def is_older(version: str, than: str) -> bool:
    """Compare the numbers of two versions; False when one has none."""
    numbers = [tuple(map(int, re.findall(r"\d+", each.split("-")[0]))) for each in (version, than)]
    return bool(numbers[0]) and bool(numbers[1]) and numbers[0] < numbers[1]


def _program(path: Path, known: KnownAgent, *, on_path: bool) -> Program:
    package = _package(path, known)
    native = _native(path, known) if known.native else None
    return Program(path, on_path, package) if native is None else Program(native, False, package)


def _native(path: Path, known: KnownAgent) -> Path | None:
    """The native program that npm put beside the script at `path`."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    place = known.native.format(target=f"{sys.platform}-{machine}")
    parents = Path(os.path.realpath(path)).parents
    folders = [folder for folder in parents if folder.name == "node_modules"]
    return next((each for folder in folders if _can_run(each := folder / place)), None)


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _newest_first(path: Path) -> list[int]:
    return [-int(number) for number in re.findall(r"\d+", path.as_posix())]


def _npm_prefix(home: Path, env: Mapping[str, str]) -> Path | None:
    told = env.get("NPM_CONFIG_PREFIX") or env.get("npm_config_prefix")
    if told is None:
        found = _PREFIX_LINE.search(_read(home / ".npmrc"))
        told = None if found is None else found[1].replace("${HOME}", str(home))
    return None if not told else Path(told).expanduser()


def _package(path: Path, known: KnownAgent) -> Package | None:
    """The npm or Python package that `path` is a program of."""
    wanted = {*known.packages, *(known.retired or ())}
    real = Path(os.path.realpath(path))
    return _npm_package(real, wanted) or _python_package(real, wanted)


def _npm_package(real: Path, wanted: set[str]) -> Package | None:
    for folder in list(real.parents)[:_MAX_PARENTS]:
        text = _read(folder / "package.json")
        if not text:
            continue
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            continue
        name, version = (
            (data.get("name"), data.get("version")) if isinstance(data, dict) else (0, 0)
        )
        if name in wanted and isinstance(name, str) and isinstance(version, str):
            return Package(name, safe_line(version, 40))
    return None


def _python_package(real: Path, wanted: set[str]) -> Package | None:
    """A script of a virtual environment: its first line names the Python it belongs to."""
    try:
        with real.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    interpreter = Path(os.fsdecode(first[2:].split()[0])) if first[2:].split() else Path("/")
    names = {re.sub(r"[-_.]+", "_", name).lower(): name for name in wanted}
    for folder in interpreter.parent.parent.glob("lib/python3*/site-packages/*.dist-info"):
        found = _DIST.match(folder.name)
        if found is not None and (name := names.get(found[1].lower().replace("-", "_"))):
            return Package(name, safe_line(found[2], 40))
    return None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_METADATA_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
