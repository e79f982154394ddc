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

LIMIT_S: Final = 900
"""For one program; the largest are 400 MB."""
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
    options = parser.parse_args(arguments)
    names = options.names or (LIGHT if options.light else PROGRAMS)
    if unknown := sorted(set(names) - set(PROGRAMS)):
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    wanted = [PROGRAMS[name] for name in names]
    if any(program.needs_node or program.unpacker for program in wanted):
        wanted.insert(0, NODE)
    return sum(not _report(program) for program in wanted)


def _report(program: Program) -> bool:
    """Install one program, unless it is there; say how it went. True when it is there."""
    label = f"{program.name} {program.version}"
    if program.mark.is_file():
        _tell(f"{label}: is in {program.folder}")
        return True
    _tell(f"{label}: installing …")
    try:
        _install(program)
    except InstallError as error:
        _tell(f"{label}: NOT INSTALLED, its tests will be skipped: {error}")
        return False
    _tell(f"{label}: installed in {program.folder}")
    return True


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _install(program: Program) -> None:
    """Raises: InstallError."""
    if program.source == "pypi":
        # A virtual environment holds its own path: it is built where it stays.
        folder = program.folder
        shutil.rmtree(folder, ignore_errors=True)
        _run([_python(program), "-m", "venv", str(folder)])
        requirement = f"{program.package}=={program.version}"
        _run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", requirement])
    else:
        folder = program.folder.with_name(f"{program.folder.name}.new")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _run(_npm_command(program, folder))
        shutil.rmtree(program.folder, ignore_errors=True)
        folder.rename(program.folder)
    if program.unpacker:
        _unpack(program)
    if not program.path.exists():
        raise InstallError(f"the package holds no {program.binary}")
    program.mark.write_text(program.version, encoding="utf-8")


def _unpack(program: Program) -> None:
    env = {**os.environ, program.unpacks_into: str(program.folder)}
    env["PATH"] = os.pathsep.join([str(NODE.path.parent), env.get("PATH", os.defpath)])
    _run([str(program.folder / program.unpacker), "--version"], env)


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


def _run(command: list[str], env: dict[str, str] | None = None) -> None:
    """Raises: InstallError with what it complained of."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            cwd=CACHE.parent,
            env=env,
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"{Path(command[0]).name} took longer than {LIMIT_S} s") from None
    if done.returncode != 0:
        raise InstallError(f"{Path(command[0]).name} failed: {_complaint(done.stderr)}")


def _complaint(stderr: str) -> str:
    """What a package manager complains of, without its prefixes and warnings."""
    lines = [re.sub(r"^(npm )?error:? ", "", line, flags=re.I) for line in stderr.splitlines()]
    told = [line for line in lines if not re.match(r"WARNING|A complete log|code ", line)]
    return " ".join(" ".join(told).split())[:_TOLD_CHARS] or "it said nothing"


if __name__ == "__main__":
    sys.exit(main())
