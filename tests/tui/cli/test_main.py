"""The program as a process: what it loads, and how it behaves in pipes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from groupx_shared.version import VERSION
from groupx_tui.cli.main import main
from support.cli_run import Groupx
from support.cli_server import CliServer, answered, delta, message, play

HEAVY = (
    *("typer", "click", "httpx", "pydantic", "asyncio", "rich", "textual", "platformdirs"),
    *("subprocess", "socket", "http.client", "urllib.request", "sqlite3", "difflib"),
)
PROGRAM = f"""
import sys
from groupx_tui.cli.main import main
code = main()
sys.stdout.flush()
heavy = [*{HEAVY!r}, *([] if "--wait" in sys.argv else ["dataclasses"])]
print([name for name in heavy if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""
WAIT_S = 10.0


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == main(["-V"]) == 0
    assert capsys.readouterr().out == f"groupx {VERSION}\n" * 2


def test_the_processs_own_words_are_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["groupx", "--version"])
    assert main() == 0


def test_a_process_is_started_by_the_package_too(groupx: Groupx) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "groupx_tui.cli", "--version"],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, f"groupx {VERSION}\n")


def script(server: CliServer, words: Sequence[str]) -> None:
    if "--wait" in words:
        server.streams = [play(delta("turn_guide", 0, "y"), *answered("turn_guide", 11, "yes"))]
    server.events = [message(1, "x")]
    server.export = [b"{}\n"]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["send", "hi"],
        ["send", "--wait", "hi"],
        ["send", "--wait", "--json", "--all", "hi"],
        ["history"],
        ["status"],
        ["export"],
        ["rooms", "list"],
    ],
    ids=" ".join,
)
def test_plain_commands_load_nothing_heavy(server: CliServer, words: list[str]) -> None:
    script(server, words)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "[]\n")
    assert result.stdout != ""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"), [(["history", "-n", "5000"], 0), (["send", "--wait", "hi"], 5)]
)
def test_a_reader_that_goes_away_ends_it_silently(
    server: CliServer, words: list[str], code: int
) -> None:
    server.events = [message(seq, "x" * 100) for seq in range(1, 3000)]
    server.streams = [play(*(delta("turn_guide", 999 * n, "x" * 999) for n in range(999)))]
    with subprocess.Popen(
        [sys.executable, "-m", "groupx_tui.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()
        assert (process.wait(WAIT_S), errors) == (code, b"")


@pytest.mark.process
@pytest.mark.slow
def test_without_any_streams_it_still_ends_well(server: CliServer) -> None:
    result = subprocess.run(
        [
            "sh",
            "-c",
            f"exec {sys.executable} -m groupx_tui.cli stop --config /no/such <&- >&- 2>&-",
        ],
        timeout=WAIT_S,
        check=False,
    )
    assert result.returncode == 2
