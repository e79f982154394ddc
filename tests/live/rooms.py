"""A real server with real agents in a folder: say something, look at the turn, look for leftovers.

Owns the folder of one test: the workspace, the agents' homes and working folders, the mark that all
their processes carry. `live_room` fails when a process is left after the server's stop.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from live.agents import AGENTS, MARK
from support.fake_model.server import FakeModel
from support.marked_processes import Marked, marked
from support.server_process import ServerProcess, client_of, send

TURN_S: Final = float(os.environ.get("GROUPX_LIVE_TURN_S", "120"))
"""For one turn, with the start of a program of 400 MB on a busy machine."""
GONE_S: Final = 10.0
MINUTE_S: Final = 61.0
STEP_S: Final = 0.05
_TIMEOUTS: Final = {"handshakeMs": 120_000, "requestMs": 60_000, "firstEventMs": 100_000}
_TERMINAL: Final = ("completed", "failed", "cancelled", "interrupted")


@dataclass
class Turn:
    """A turn that ended: its row and its durable events."""

    row: dict[str, Any]
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def status(self) -> str:
        return str(self.row["status"])

    @property
    def content(self) -> str:
        return self.row.get("content") or ""

    @property
    def problem(self) -> str:
        """Why it failed, for messages of assertions."""
        return f"{self.status}: {self.row.get('errorCode')}: {self.row.get('errorMessage')}"

    @property
    def reasoning(self) -> str:
        bodies = self.bodies("turn.reasoning.recorded")
        return "".join(body["content"] for body in bodies)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The recorded details of its tool calls."""
        return [body["details"] for body in self.bodies("tool.progress.recorded")]

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        return [event["body"] for event in self.events if event["type"] == kind]


@dataclass(frozen=True, slots=True)
class LongCommand:
    """A command that an agent runs, and that does not end by itself."""

    turn_id: str
    pid: int

    @property
    def is_running(self) -> bool:
        """False when it ended, also when nobody has looked at its end yet."""
        try:
            status = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return False
        return status.rpartition(")")[2].split()[0] != "Z"


class LiveRoom:
    """The main room of a workspace whose agents are real."""

    def __init__(
        self,
        folder: Path,
        model: FakeModel,
        names: Sequence[str],
        more: dict[str, Any] | None = None,
    ) -> None:
        """`more` are further agents of the config, as they are."""
        self.folder = folder
        self.model = model
        self.names = list(names)
        self.mark = uuid.uuid4().hex
        marked_more = {name: self._marked(settings) for name, settings in (more or {}).items()}
        agents = {name: self._settings(name) for name in names} | marked_more
        workspace = folder / "workspace"
        workspace.mkdir()
        self.server = ServerProcess(workspace, {"agents": agents, "timeouts": _TIMEOUTS})
        self._client: httpx.Client | None = None

    def _settings(self, name: str) -> dict[str, Any]:
        home, work = self.folder / f"home-{name}", self.work(name)
        for folder in (home / "tmp", work):
            folder.mkdir(parents=True)
        settings = AGENTS[name].settings(self.model.url, home, self.mark)
        return {**settings, "cwd": str(work)}

    def _marked(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {**settings, "env": {**settings.get("env", {}), MARK: self.mark}}

    def work(self, name: str) -> Path:
        """The working folder of an agent."""
        return self.folder / f"work-{name}"

    # --- the server -------------------------------------------------------------------------

    def start(self, fail_point: str | None = None) -> None:
        """Start the server, or start it again; it kills itself at `fail_point`."""
        self._close_client()
        self._client = client_of(self.server.start(fail_point))

    def stop(self) -> None:
        """Stop the server as a service manager would, and see that it did so cleanly."""
        self._close_client()
        code = self.server.stop()
        assert code == 0, f"the server ended with {code}: {self.server.output()[-2000:]}"

    def start_again(self) -> list[str]:
        """Stop the server and start another; where an agent needs it, in another minute. Return
        the agents that need it."""
        opened = _minute()
        self.stop()
        self.assert_nobody_left()
        late = [name for name in self.names if not AGENTS[name].resumes_in_same_minute]
        until(lambda: not late or _minute() != opened, MINUTE_S, lambda: "the minute goes on")
        self.start()
        return late

    def kill(self) -> None:
        """Kill the server without any warning."""
        self._close_client()
        self.server.kill()

    def close(self) -> None:
        """End whatever still runs, after a test that failed."""
        self._close_client()
        if self.server.process is not None and self.server.process.poll() is None:
            self.server.kill()

    @property
    def client(self) -> httpx.Client:
        assert self._client is not None, "the server is not started"
        return self._client

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    # --- turns ------------------------------------------------------------------------------

    def say(self, text: str, *to: str) -> dict[str, str]:
        """Send a message; return the turn of each agent."""
        reply = send(self.client, text, list(to or self.names), uuid.uuid4().hex)
        return {
            turn["target"].removeprefix("agent:"): str(turn["turnId"]) for turn in reply["turns"]
        }

    def ask(self, text: str, name: str | None = None) -> Turn:
        """Send a message to one agent and wait for the end of its turn."""
        name = name or self.names[0]
        return self.ended(self.say(text, name)[name])

    def ended(self, turn_id: str) -> Turn:
        """Wait until a turn has ended."""
        row = self.wait_row(turn_id, lambda row: row["status"] in _TERMINAL)
        return Turn(
            row, [event for event in self.events() if event["body"].get("turnId") == turn_id]
        )

    def events(self) -> list[dict[str, Any]]:
        """The newest durable events of the room."""
        page = self.client.get("/api/rooms/room:main/events", params={"limit": 200}).json()
        events: list[dict[str, Any]] = page["events"]
        return events

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        """The bodies of the room's events of a type."""
        return [event["body"] for event in self.events() if event["type"] == kind]

    def wait_row(self, turn_id: str, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until a turn's row is so."""
        row: dict[str, Any] = {}

        def is_so() -> bool:
            nonlocal row
            row = self.client.get(f"/api/turns/{turn_id}").json()
            assert condition(row) or row["status"] not in _TERMINAL, Turn(row).problem
            return condition(row)

        until(is_so, TURN_S, lambda: f"the turn is still {row.get('status')}: {self.cards()}")
        return row

    def wait_text(self, turn_id: str, text: str) -> None:
        """Wait until a running turn has said this."""
        self.wait_row(turn_id, lambda row: text in (row.get("partialText") or ""))

    def cancel(self, turn_id: str) -> None:
        """Cancel a running turn."""
        body = {"clientCommandId": uuid.uuid4().hex}
        reply = self.client.post(f"/api/turns/{turn_id}/cancel", json=body)
        assert reply.status_code == 202, reply.text

    def cards(self) -> dict[str, str]:
        """The state of each agent, in words."""
        cards = self.client.get("/api/agents").json()["agents"]
        return {
            card["actorId"].removeprefix("agent:"): f"{card['status']}: {card.get('detail')}"
            for card in cards
        }

    def version(self, name: str) -> str:
        """What the agent says of its version."""
        cards = self.client.get("/api/agents").json()["agents"]
        card = next(card for card in cards if card["actorId"] == f"agent:{name}")
        return card.get("agentVersion") or ""

    def long_commands(self, *names: str) -> dict[str, LongCommand]:
        """Have agents run a command that does not end; wait until it runs."""
        # Not `sleep`: some agents refuse to wait for it.
        wait = "exec perl -e 'select undef, undef, undef, 300'"
        turns = self.say(f"[[shell echo $$ > pid; {wait}]]", *(names or self.names))
        commands = {}
        for name, turn_id in turns.items():
            pid_file = self.work(name) / "pid"
            self.wait_row(turn_id, partial(_holds_a_number, pid_file))
            commands[name] = LongCommand(turn_id, int(pid_file.read_text("utf-8")))
            pid_file.unlink()
        return commands

    # --- processes --------------------------------------------------------------------------

    def processes(self) -> list[Marked]:
        """The agents' processes and all that they started."""
        return marked(MARK, self.mark)

    def agent_pids(self) -> list[int]:
        """The agents' own processes: those that the server started."""
        assert self.server.process is not None
        server = self.server.process.pid
        return sorted(process.pid for process in self.processes() if process.parent == server)

    def assert_nobody_left(self) -> None:
        """Every process of the agents ends, soon."""
        until(
            lambda: not self.processes(),
            GONE_S,
            lambda: f"left behind: {[process.command[:200] for process in self.processes()]}",
        )


@contextmanager
def live_room(folder: Path, *names: str, more: dict[str, Any] | None = None) -> Iterator[LiveRoom]:
    """A started room; at the end the server is stopped, unless it is, and nobody is left."""
    with FakeModel() as model:
        room = LiveRoom(folder, model, names, more)
        try:
            room.start()
            yield room
            if room.server.process is not None and room.server.process.poll() is None:
                room.stop()
            room.assert_nobody_left()
            assert room.server.violations() == []
        finally:
            room.close()


def _minute() -> int:
    return int(time.time() // 60)


def done(turn: Turn) -> Turn:
    """A turn that has to be completed."""
    assert turn.status == "completed", turn.problem
    return turn


def _holds_a_number(file: Path, _: dict[str, Any]) -> bool:
    return file.exists() and file.read_text("utf-8").strip() != ""


def until(condition: Callable[[], bool], within_s: float, told: Callable[[], str]) -> None:
    """Wait for another process; there is no event to wait for."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {told()}"
        time.sleep(STEP_S)
