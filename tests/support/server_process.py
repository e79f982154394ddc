"""The real server as a child process, for tests that kill it: start, ask, kill, look."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from groupx_server.ledger.verify import Violation, find_violations
from groupx_shared.runtime import RuntimeFile, read_runtime
from groupx_shared.workspace import Workspace, find_workspace

SCRIPTED_AGENT = Path(__file__).with_name("scripted_agent.py")
SCRIPTED_CODEX = Path(__file__).with_name("scripted_codex.py")
WRITING = "You write "
"""So begins what asks an agent for a summary; it is no turn, and quotes others."""
READY_S = 20.0
STEP_S = 0.02


class ServerProcess:
    """One workspace in a folder; `start` and `kill` as often as a test likes."""

    def __init__(self, folder: Path, config: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.prompt_log = folder / "prompts.jsonl"
        path = folder / "groupx.json"
        path.write_text(json.dumps(config or self.default_config()), encoding="utf-8")
        self.workspace: Workspace = find_workspace(path)
        self.process: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}
        """Variables on top of the test's own."""
        self.launcher: list[str] = []
        """Command that starts the command (and becomes it)."""

    def default_config(self) -> dict[str, Any]:
        """One scripted agent called `bot`."""
        return {"agents": {"bot": self.agent_config()}}

    def agent_config(self, *options: str) -> dict[str, Any]:
        """A scripted agent that logs what it is sent and keeps its sessions on disk."""
        sessions = self.folder / "sessions"
        sessions.mkdir(exist_ok=True)
        return {
            "driver": "acp",
            "command": {"executable": sys.executable, "args": [str(SCRIPTED_AGENT), *options]},
            "env": {"SCRIPTED_LOG": str(self.prompt_log), "SCRIPTED_SESSIONS": str(sessions)},
        }

    def codex_config(self, *options: str) -> dict[str, Any]:
        """A scripted Codex, whose running turns take further messages."""
        threads = self.folder / "threads"
        threads.mkdir(exist_ok=True)
        args = ["-S", str(SCRIPTED_CODEX), *options]
        return {
            "driver": "codex",
            "command": {"executable": sys.executable, "args": args},
            "env": {"SCRIPTED_LOG": str(self.prompt_log), "SCRIPTED_SESSIONS": str(threads)},
        }

    def logged(self, what: str) -> list[dict[str, Any]]:
        """Entries of the agents' log of one kind."""
        lines = self.prompt_log.read_text(encoding="utf-8").splitlines()
        return [entry for line in lines if (entry := json.loads(line))["what"] == what]

    def command(self) -> list[str]:
        """How the server is started."""
        return [sys.executable, "-m", "groupx_server", "--config", str(self.folder)]

    def spawn(self, fail_point: str | None = None) -> subprocess.Popen[bytes]:
        """Start the process; it kills itself at `fail_point`."""
        environment = os.environ | self.environment
        if fail_point is not None:
            environment["GROUPX_FAILPOINT"] = fail_point
        with (self.folder / "server.out").open("ab") as output:
            self.process = subprocess.Popen(
                [*self.launcher, *self.command()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
            )
        return self.process

    def start(self, fail_point: str | None = None) -> RuntimeFile:
        """Start the process and wait until it is ready."""
        process = self.spawn(fail_point)
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            runtime = read_runtime(self.workspace)
            if runtime is not None and runtime.pid == process.pid:
                return runtime
            if process.poll() is not None:
                break
            time.sleep(STEP_S)  # another process: there is no event to wait for
        raise AssertionError(f"the server is not ready: {self.output()[-2000:]}")

    def output(self) -> str:
        return (self.folder / "server.out").read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """SIGKILL, as the out-of-memory killer or a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(READY_S)

    def wait_dead(self) -> int:
        """Wait until it killed itself; return the exit status (negative: the signal)."""
        assert self.process is not None
        return self.process.wait(READY_S)

    def stop(self) -> int:
        """Ask it to stop as `systemctl stop` would; return its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(READY_S)

    def prompts(self, containing: str) -> list[str]:
        """Every prompt with this text that the agent was sent, over all its lives."""
        if not self.prompt_log.exists():
            return []
        lines = self.prompt_log.read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in lines]
        texts = [entry["text"] for entry in entries if "text" in entry]
        turns = [text for text in texts if not text.startswith(WRITING)]
        current = [text.rpartition("[current_message")[2] for text in turns]
        return [text for text in current if containing in text]

    def violations(self) -> list[Violation]:
        """Rules of the ledger that are broken; the server must be down."""
        path = self.workspace.data_folder / "groupx.db"
        with closing(sqlite3.connect(path)) as connection:
            return find_violations(connection)

    def wait_turn(
        self, client: httpx.Client, turn_id: str, *statuses: str, within_s: float = READY_S
    ) -> dict[str, Any]:
        """Wait until the turn has one of these statuses (default: any terminal one)."""
        wanted = statuses or ("completed", "failed", "cancelled", "interrupted")
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            turn: dict[str, Any] = client.get(f"/api/turns/{turn_id}").json()
            if turn["status"] in wanted:
                return turn
            time.sleep(STEP_S)
        raise AssertionError(f"the turn is still {turn['status']}, not one of {wanted}")


@contextmanager
def server_in(folder: Path, config: dict[str, Any] | None = None) -> Iterator[ServerProcess]:
    """A server process that is gone at the end, whatever happens."""
    server = ServerProcess(folder, config)
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.process.kill()
            server.process.wait(READY_S)


def client_of(runtime: RuntimeFile) -> httpx.Client:
    """A plain HTTP client with the server's token."""
    return httpx.Client(
        base_url=runtime.url,
        headers={"Authorization": f"Bearer {runtime.token}"},
        timeout=10,
        trust_env=False,
    )


def send(
    client: httpx.Client, content: str, to: list[str], command_id: str, **more: Any
) -> dict[str, Any]:
    """Send a message; return the accept's reply."""
    body = {"clientCommandId": command_id, "content": content, "to": to, **more}
    reply = client.post("/api/messages", json=body)
    assert reply.status_code == 202, reply.text
    result: dict[str, Any] = reply.json()
    return result
