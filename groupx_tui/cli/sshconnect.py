"""`groupx connect ssh://HOST`: the room of a server on another machine, through the system's ssh.

Starts the server there, copies its runtime file here (private), forwards its port, opens the room,
and ends the forward with the window. Invariants: nothing of ours listens on a network; the token
travels inside ssh only; the ssh that forwards ends with us, in whatever way the window ends.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from groupx_shared.paths import private_folder, user_state_folder
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics
from groupx_tui.cli.api import room_id
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.elsewhere import place_of, server_at
from groupx_tui.cli.options import Invocation

ASK_S: Final = 60.0
"""A login with a password or a key of hardware, and a cold start of the server."""
FORWARD_S: Final = 30.0
LOOK_EVERY_S: Final = 0.1
STOP_S: Final = 3.0


class Box(NamedTuple):
    """The other machine."""

    ssh: tuple[str, ...]
    """The ssh command that reaches it."""
    name: str
    config: str
    """Its config file or folder; empty: the default workspace there."""


def run(call: Invocation) -> int:
    """Connect and open the room."""
    box = box_of(call.required("address"))
    diagnostics.say(f"Connecting to {box.name} …")
    facts = _ask(box, "start", "status")
    url, remote = str(facts.get("url", "")), str(facts.get("runtimeFile", ""))
    place = place_of(url)
    token_file = _keep(box, _output(box, ["cat", remote]))
    with _forward(box, urlsplit(url).port or 0):
        room = None if (name := call.text("room")) is None else room_id(name)
        from groupx_tui.opening import run_tui

        return run_tui(place, room=room, elsewhere=server_at(url, token_file)) or ExitCode.DONE


def box_of(address: str) -> Box:
    """Read `ssh://[user@]host[:port][/folder]`. Raises: CommandError."""
    parts = urlsplit(address if "://" in address else f"ssh://{address}")
    host = parts.hostname or ""
    try:
        port = parts.port
    except ValueError:
        host = ""
    user = parts.username or ""
    if parts.scheme != "ssh" or not host or host.startswith("-") or user.startswith("-"):
        raise CommandError(
            f"“{safe_line(address, 200)}” is no place to connect to; expected one like "
            "ssh://me@box or ssh://box/home/me/project.",
            ExitCode.USAGE,
        )
    if shutil.which("ssh") is None:
        raise CommandError("There is no program “ssh” here.", ExitCode.USAGE)
    target = f"{user}@{host}" if user else host
    options = ("-p", str(port)) if port else ()
    config = unquote(parts.path) if parts.path not in ("", "/") else ""
    return Box(("ssh", *options, target), target, config)


def _ask(box: Box, *commands: str) -> dict[str, Any]:
    """Run commands of `groupx` there, the last one for its JSON."""
    where = ["--config", box.config] if box.config else []
    *first, last = [shlex.join(["groupx", command, *where]) for command in commands]
    printed = _output(box, [" && ".join([*(f"{each} >&2" for each in first), f"{last} --json"])])
    try:
        facts = json.loads(printed)
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or "runtimeFile" not in facts or "url" not in facts:
        raise CommandError(
            f"GroupX on {box.name} did not say where its server is. Is it the same version?",
            ExitCode.NO_SERVER,
        )
    return facts


def _output(box: Box, words: Sequence[str]) -> str:
    line = words[0] if len(words) == 1 else shlex.join(words)
    try:
        done = subprocess.run(
            [*box.ssh, "--", line], stdout=subprocess.PIPE, timeout=ASK_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            f"{box.name} did not answer within {ASK_S:.0f} s.", ExitCode.NO_SERVER
        ) from error
    if done.returncode != 0:
        raise CommandError(
            f"ssh to {box.name} ended with {done.returncode}; what it said stands above. "
            "GroupX must be installed there, and “groupx” be found.",
            ExitCode.NO_SERVER,
        )
    return done.stdout.decode("utf-8", "replace")


def _keep(box: Box, runtime: str) -> Path:
    """Write the runtime file where only this user reads it."""
    folder = private_folder(user_state_folder() / "elsewhere")
    path = folder / f"{''.join(c if c.isalnum() else '-' for c in box.name)}.token"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(runtime)
    return path


@contextmanager
def _forward(box: Box, port: int) -> Iterator[None]:
    """Forward the server's port, under its own number, while the window is open. Whoever listens at
    that port here already would be sent the token: that is refused."""
    _require_free(port, box)
    ends = f"127.0.0.1:{port}:127.0.0.1:{port}"
    options = ("-N", "-o", "ExitOnForwardFailure=yes", "-o", "ServerAliveInterval=15")
    with subprocess.Popen(
        [box.ssh[0], *options, "-L", ends, *box.ssh[1:]],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            _wait_for(process, port, box)
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
            process.kill()


def _require_free(port: int, box: Box) -> None:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise CommandError(
            f"Port {port} of the server on {box.name} is in use here ({error.strerror}). Set "
            "“server.port” there to another number, and start it anew.",
            ExitCode.NO_SERVER,
        ) from error


def _wait_for(process: subprocess.Popen[bytes], port: int, box: Box) -> None:
    deadline = time.monotonic() + FORWARD_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise CommandError(
                f"Port {port} could not be forwarded from {box.name}; what ssh said stands above.",
                ExitCode.NO_SERVER,
            )
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), LOOK_EVERY_S):
            return
        time.sleep(LOOK_EVERY_S)
    raise CommandError(f"Port {port} of {box.name} does not answer.", ExitCode.NO_SERVER)
