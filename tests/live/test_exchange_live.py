"""Real agents of two vendors that watch, advise and stop each other, against the fake model."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from live.rooms import LiveRoom, done, live_room, until
from live.test_together_live import call, need

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(400)]

PAIRS = [("codex", "claude"), ("claude", "codex"), ("opencode", "codex")]
STEERABLE = [("codex", "claude"), ("claude", "codex")]
WAIT = "while [ ! -f go ]; do perl -e 'select undef, undef, undef, 0.1'; done; echo gone on"
"""A command that goes on until there is a file `go`; some agents refuse to wait for `sleep`."""


class Pair:
    """A worker that is watched; the observer begins only when it is told to."""

    def __init__(self, room: LiveRoom, worker: str, observer: str) -> None:
        self.room, self.worker, self.observer = room, worker, observer
        self.busy = room.say("[[endless]]", observer)[observer]
        self.turn_id = self.watch_turn_id = ""

    def work(self, task: str, brief: str, has_begun: Callable[[dict[str, Any]], bool]) -> None:
        """Give the worker its task, and the observer its own once the worker is that far."""
        body = {
            "clientCommandId": uuid.uuid4().hex,
            "content": task,
            "to": [self.worker],
            "supervision": {"observers": [self.observer], "brief": brief},
        }
        reply = self.room.client.post("/api/messages", json=body)
        assert reply.status_code == 202, reply.text
        accepted = reply.json()
        self.turn_id = str(accepted["turns"][0]["turnId"])
        self.watch_turn_id = str(accepted["supervision"]["observers"][0]["turnId"])
        self.room.wait_row(self.turn_id, has_begun)
        self.room.wait_text(self.busy, "This goes on")
        self.room.cancel(self.busy)


def steer(action: str, content: str) -> str:
    """The observer's one call."""
    return call(
        "steer", action=action, reason="It goes wrong.", content=content, clientCommandId="1"
    )


@pytest.mark.parametrize(("worker", "observer"), PAIRS)
def test_one_stops_the_other_and_gives_it_something_else(
    tmp_path: Path, worker: str, observer: str
) -> None:
    need(worker, observer)
    with live_room(tmp_path, worker, observer) as room:
        pair = Pair(room, worker, observer)
        pair.work(
            "[[endless]]",
            steer("interrupt", "[[say The other way.]]"),
            lambda row: "This goes on" in (row.get("partialText") or ""),
        )
        watched = done(room.ended(pair.watch_turn_id))
        assert '"action":"interrupt"' in watched.content.replace(" ", "").replace("\\", "")
        assert room.ended(pair.turn_id).status == "cancelled"
        (steered,) = room.bodies("supervision.steered")
        assert steered["reason"] == "It goes wrong."
        turn = done(room.ended(steered["nextTurnId"]))
        assert "The other way." in turn.content


@pytest.mark.parametrize(("worker", "observer"), STEERABLE)
def test_one_advises_the_other_in_its_running_turn(
    tmp_path: Path, worker: str, observer: str
) -> None:
    need(worker, observer)
    with live_room(tmp_path, worker, observer) as room:
        pair = Pair(room, worker, observer)
        begun = f"echo begun > begun; {WAIT}"
        pair.work(
            f"[[shell {begun}]]",
            steer("nudge", "[[say The advice arrived.]]"),
            lambda _: (room.work(worker) / "begun").exists(),
        )
        done(room.ended(pair.watch_turn_id))
        until(
            lambda: room.bodies("supervision.nudged") != [],
            60,
            lambda: f"nobody was nudged: {room.bodies('supervision.steered')}",
        )
        (nudged,) = room.bodies("supervision.nudged")
        assert nudged["outcome"] == "taken"
        (room.work(worker) / "go").touch()
        turn = done(room.ended(pair.turn_id))
        assert "The advice arrived." in turn.content
        turns = room.client.get("/api/turns?status=all").json()["turns"]
        assert len([t for t in turns if t["targetActorId"] == f"agent:{worker}"]) == 1


@pytest.mark.parametrize(("worker", "observer"), STEERABLE)
def test_one_sees_what_the_other_did(tmp_path: Path, worker: str, observer: str) -> None:
    need(worker, observer)
    with live_room(tmp_path, worker, observer) as room:
        pair = Pair(room, worker, observer)
        pair.work(
            "[[shell echo secret words]]",
            call("watch", until="terminal"),
            lambda row: row["status"] == "completed",
        )
        told = done(room.ended(pair.watch_turn_id)).content.replace("\\", "")
        assert '"kind":"tool.started"' in told
        assert '"kind":"turn.ended"' in told
        steps = told.partition('"steps":')[2].partition('"messages":')[0]
        assert "secret" not in steps
        assert '"terminal":true' in told


@pytest.mark.parametrize("name", ["codex", "claude"])
def test_what_one_remembers_is_found_by_the_other(tmp_path: Path, name: str) -> None:
    other = {"codex": "claude", "claude": "codex"}[name]
    need(name, other)
    with live_room(tmp_path, name, other) as room:
        kept = call(
            "memory_remember", kind="fact", content="The door is blue.", clientCommandId="1"
        )
        done(room.ask(kept, name))
        found = done(room.ask(call("memory_search", query="door"), other))
        assert "The door is blue." in found.content
        assert f"by agent:{name}" in found.content
