"""The room of another machine, through ssh: what is asked there, kept here, forwarded and ended."""

from __future__ import annotations

import json
import shlex
import socket
import stat
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groupx_shared.paths import user_state_folder
from groupx_shared.workspace import Workspace
from groupx_tui.cli.diagnostics import CommandError
from groupx_tui.cli.main import main
from groupx_tui.cli.sshconnect import box_of
from support.cli_run import Groupx
from support.waiting import eventually

SSH = """#!/bin/sh
echo "$*" >> {log}
case " $* " in *" -N "*) {forward};; esac
for last; do :; done
exec sh -c "$last"
"""
LISTEN = """
import socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(60)
"""
GROUPX = """#!/bin/sh
echo "groupx $*" >> {log}
case "$1" in status) cat {facts};; esac
"""


class Elsewhere:
    """A machine that ssh reaches: its programs, its server's port, what was asked of it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.log, self._folder = folder / "log", folder
        self.log.touch()
        self._runtime = folder / "runtime.json"
        self._runtime.write_text(json.dumps({"token": "secret"}))
        self.port = port
        self.tell(url=f"http://127.0.0.1:{port}", runtimeFile=str(self._runtime))
        self.program("groupx", GROUPX.format(log=self.log, facts=folder / "facts"))
        self.forwards(f"exec {shlex.join([sys.executable, '-c', LISTEN, str(port)])}")

    def tell(self, **facts: str) -> None:
        """What `groupx status --json` says there."""
        (self._folder / "facts").write_text(json.dumps(facts))

    def forwards(self, command: str) -> None:
        """What the ssh that forwards does."""
        self.program("ssh", SSH.format(log=self.log, forward=command))

    def program(self, name: str, text: str) -> None:
        path = self._folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    @property
    def forward(self) -> str:
        """What the ssh that forwards was told; empty before it runs."""
        return next((line for line in self.asked if line.startswith("-N")), "")

    @property
    def asked(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return Elsewhere(tmp_path, port)


@pytest.fixture
def opened(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The windows that were opened."""
    machine = elsewhere
    windows: list[Any] = []

    def run_tui(place: Workspace, *, room: str | None, elsewhere: Callable[[], object]) -> None:
        """It stays open until the forward has begun, as any window does."""
        eventually(lambda: machine.forward != "")
        windows.append((room, elsewhere()))

    app = types.ModuleType("groupx_tui.opening")
    app.run_tui = run_tui  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "groupx_tui.opening", app)
    return windows


@pytest.mark.process
def test_the_room_opens_with_the_token_and_the_forward_ends_with_it(
    elsewhere: Elsewhere, opened: list[Any], tmp_path: Path
) -> None:
    assert main(["connect", "ssh://me@box:2222/home/me/my project", "--room", "dev"]) == 0
    ((room, server),) = opened
    assert (room, server.url, server.token) == (
        "room:dev", f"http://127.0.0.1:{elsewhere.port}", "secret",
    )  # fmt: skip
    assert "groupx start --config /home/me/my project" in elsewhere.asked
    assert "groupx status --config /home/me/my project --json" in elsewhere.asked
    ends = f"127.0.0.1:{elsewhere.port}"
    assert (
        f"-L {ends}:{ends.partition(':')[0]}:{elsewhere.port} -p 2222 me@box" in elsewhere.forward
    )


@pytest.mark.process
def test_the_token_is_kept_where_only_this_user_reads_it(
    elsewhere: Elsewhere, opened: list[Any]
) -> None:
    assert main(["connect", "box"]) == 0
    (kept,) = (user_state_folder() / "elsewhere").glob("*.token")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "--config" not in "".join(elsewhere.asked)


@pytest.mark.process
def test_who_listens_at_that_port_already_gets_no_token(
    elsewhere: Elsewhere, opened: list[Any], groupx: Groupx
) -> None:
    with socket.create_server(("127.0.0.1", elsewhere.port)):
        assert "is in use here" in groupx("connect", "box").err
    assert (elsewhere.forward, opened) == ("", [])


@pytest.mark.process
def test_what_goes_wrong_there_is_told(elsewhere: Elsewhere, groupx: Groupx) -> None:
    elsewhere.forwards("exit 255")
    elsewhere.tell(url=f"http://127.0.0.1:{elsewhere.port}", runtimeFile=elsewhere.log.as_posix())
    assert "could not be forwarded" in groupx("connect", "box").err
    elsewhere.tell(url="x")
    assert "same version" in groupx("connect", "box").err
    elsewhere.program("groupx", "#!/bin/sh\nexit 127\n")
    assert "must be installed there" in groupx("connect", "box").err


@pytest.mark.parametrize("address", ["http://x", "ssh://", "ssh://-oProxyCommand=x", "ssh://x:y"])
def test_what_is_no_place_is_refused_before_ssh_sees_it(address: str) -> None:
    with pytest.raises(CommandError, match="expected one like"):
        box_of(address)
