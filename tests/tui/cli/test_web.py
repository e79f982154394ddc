"""`groupx web` as a command: what it says when it cannot, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from groupx_tui.cli.main import main
from groupx_tui.cli.web import EXTRA


def test_without_its_packages_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    for name in EXTRA:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["web", "--config", str(tmp_path)]) == 2
    assert "pip install 'groupx[web]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["web", "--config", str(tmp_path), "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert f"Port {port} of 127.0.0.1 is taken" in said.err
    assert said.out == "", "no link that leads to somebody else"


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_listens_on_this_machine_alone_and_ends_when_asked(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    command = [sys.executable, "-m", "groupx_tui.cli", "web", "--config", str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdout is not None
        link = serving.stdout.readline()
        assert link.startswith("http://127.0.0.1:")
        port = int(link.split(":")[2].split("/")[0])
        assert _listeners(port) == ["0100007F"], "127.0.0.1 and nothing else"
        serving.send_signal(number)
        assert serving.wait(20) == 0
        assert serving.stderr is not None
        assert "Traceback" not in serving.stderr.read()


def _listeners(port: int) -> list[str]:
    """Addresses that listen at this port, as the kernel writes them."""
    if not Path("/proc/net/tcp").exists():
        pytest.skip("there is no /proc here")
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path("/proc/net", name).read_text().splitlines()[1:]
    ]
    return [
        each[1].split(":")[0]
        for each in lines
        if each[1].endswith(f":{port:04X}") and each[3] == "0A"
    ]
