"""Agents as real programs that watch and steer each other through the real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.server_process import ServerProcess, client_of, send, server_in
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]

LOOK = "[[mcp-call watch timeoutMs=20000]] "
TO_THE_END = "[[mcp-call watch until=terminal;timeoutMs=20000]]"


def steer(action: str, content: str) -> str:
    return f"[[mcp-call steer action={action};reason=It goes wrong;content={content}]] "


@contextmanager
def room(folder: Path) -> Iterator[ServerProcess]:
    """A worker that takes no further message, one that does, and an observer."""
    with server_in(folder) as server:
        agents = {name: server.agent_config("--http-mcp") for name in ("worker", "eye", "other")}
        agents["codex"] = server.codex_config()
        (folder / "groupx.json").write_text(json.dumps({"agents": agents}), encoding="utf-8")
        yield server


def watched(
    client: httpx.Client, task: str, brief: str, *to: str, command_id: str = "1"
) -> tuple[list[str], str]:
    """Send a watched message; the workers' turns, and the observer's."""
    watch = {"observers": ["eye"], "brief": brief}
    reply = send(client, task, list(to), command_id, supervision=watch)
    (observer,) = reply["supervision"]["observers"]
    return [str(turn["turnId"]) for turn in reply["turns"]], str(observer["turnId"])


def ended(server: ServerProcess, client: httpx.Client, turn_id: str) -> dict[str, Any]:
    """Wait for the end of a turn in which several programs had to start."""
    return server.wait_turn(client, turn_id, within_s=60)


def bodies(client: httpx.Client, kind: str) -> list[dict[str, Any]]:
    page = client.get(f"/api/rooms/room:main/events?type={kind}&limit=500").json()
    return [event["body"] for event in page["events"]]


def results(server: ServerProcess, name: str) -> list[dict[str, Any]]:
    """What a tool gave back, over all calls."""
    return [entry["answer"] for entry in server.logged("tool") if entry["name"] == name]


def test_an_observer_interrupts_a_worker_that_hangs_and_redirects_it(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        brief = LOOK + steer("interrupt", "((say the other way))") + TO_THE_END
        (first,), observer = watched(client, "[[think hm]] [[silent]]", brief, "worker")
        assert ended(server, client, observer)["status"] == "completed"
        assert ended(server, client, first)["status"] == "cancelled"
        (steered,) = bodies(client, "supervision.steered")
        assert (steered["action"], steered["reason"]) == ("interrupt", "It goes wrong")
        turn = ended(server, client, steered["nextTurnId"])
        assert (turn["status"], turn["content"]) == ("completed", "the other way")
        *_, last = results(server, "watch")
        assert (last["subjectTurnId"], last["status"]) == (steered["nextTurnId"], "completed")
        assert last["messages"][-1]["excerpt"] == "the other way"
        (event,) = client.get("/api/rooms/room:main/events?type=supervision.steered").json()[
            "events"
        ]
        assert event["actor"]["actorId"] == "agent:eye"
        assert server.stop() == 0
        assert server.violations() == []


def test_an_observer_puts_a_word_into_a_running_turn_of_codex(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        brief = LOOK + steer("nudge", "turn left") + TO_THE_END
        (turn_id,), observer = watched(client, "[[steered]]", brief, "codex")
        turn = ended(server, client, turn_id)
        assert turn["status"] == "completed"
        assert "turn left" in turn["content"]
        assert "author=agent:eye" in turn["content"]
        assert ended(server, client, observer)["status"] == "completed"
        (done,) = results(server, "steer")
        assert (done["delivery"], done["steersLeft"]) == ("taken", 2)
        assert [b["outcome"] for b in bodies(client, "supervision.nudged")] == ["taken"]
        assert len(server.logged("turn/steer")) == 1
        turns = client.get("/api/turns?status=all").json()["turns"]
        assert len([t for t in turns if t["targetActorId"] == "agent:codex"]) == 1
        assert server.stop() == 0
        assert server.violations() == []


def test_a_nudge_for_a_program_that_takes_none_is_its_next_turn(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        brief = LOOK + steer("nudge", "((say advised))") + TO_THE_END
        (first,), observer = watched(
            client, "[[think hm]] [[mcp-ask other ((say help))]] [[say done]]", brief, "worker"
        )
        assert ended(server, client, first)["status"] == "completed"
        assert ended(server, client, observer)["status"] == "completed"
        (steered,) = bodies(client, "supervision.steered")
        assert steered["delivery"] == "queued"
        turn = ended(server, client, steered["nextTurnId"])
        assert (turn["content"], turn["parentTurnId"]) == ("advised", observer)
        assert server.stop() == 0
        assert server.violations() == []


def test_every_tool_of_a_worker_is_one_step_begun_and_one_ended(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        task = "[[think hm]] [[tool one]] [[tool two]] [[burst 3]]"
        (turn_id,), observer = watched(client, task, TO_THE_END + LOOK, "worker")
        ended(server, client, turn_id)
        ended(server, client, observer)
        steps = [step for found in results(server, "watch") for step in found["steps"]]
        assert [step["kind"] for step in steps] == [
            "turn.started",
            "tool.started",
            "tool.completed",
            "tool.started",
            "tool.completed",
            "turn.ended",
        ]
        assert "one" not in json.dumps(steps)


def test_ten_observers_stop_and_redirect_ten_workers_at_once(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        names = [f"n{number:02}" for number in range(20)]
        agents = {name: server.agent_config("--http-mcp") for name in names}
        (tmp_path / "groupx.json").write_text(json.dumps({"agents": agents}), encoding="utf-8")
        with client_of(server.start()) as client:
            observers = []
            for worker, observer in zip(names[:10], names[10:], strict=True):
                brief = LOOK + steer("interrupt", f"((say {worker} turned))") + TO_THE_END
                watch = {"observers": [observer], "brief": brief}
                task = "[[think hm]] [[silent]]"
                reply = send(client, task, [worker], worker, supervision=watch)
                observers.append(str(reply["supervision"]["observers"][0]["turnId"]))
            for turn_id in observers:
                assert ended(server, client, turn_id)["status"] == "completed"
            steered = bodies(client, "supervision.steered")
            answers = [ended(server, client, body["nextTurnId"])["content"] for body in steered]
            assert sorted(answers) == [f"{worker} turned" for worker in names[:10]]
        assert server.stop() == 0
        assert server.violations() == []


def test_a_server_that_dies_in_a_watch_leaves_all_turns_ended_and_goes_on(tmp_path: Path) -> None:
    with room(tmp_path) as server:
        with client_of(server.start()) as client:
            (first,), observer = watched(
                client, "[[think hm]] [[silent]]", LOOK + TO_THE_END, "worker"
            )
            eventually(lambda: len(bodies(client, "supervision.observed")) == 1, within_s=20)
        server.kill()
        with client_of(server.start()) as client:
            for turn_id in (first, observer):
                assert ended(server, client, turn_id)["status"] == "interrupted"
            (again,), second = watched(client, "[[say back]]", TO_THE_END, "worker", command_id="2")
            assert ended(server, client, again)["content"] == "back"
            assert ended(server, client, second)["status"] == "completed"
            *_, last = results(server, "watch")
            assert (last["terminal"], last["status"]) == (True, "completed")
        assert server.stop() == 0
        assert server.violations() == []
