"""Agents as real programs that call each other through the real server."""

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


@contextmanager
def room(folder: Path, names: str = "abc", **limits: int) -> Iterator[ServerProcess]:
    """A server with one scripted agent for each name, each taking tools."""
    with server_in(folder) as server:
        agents = {name: server.agent_config("--http-mcp") for name in names}
        config = {"agents": agents, "limits": limits}
        (folder / "groupx.json").write_text(json.dumps(config), encoding="utf-8")
        yield server


def ended(server: ServerProcess, client: httpx.Client, accepted: dict[str, Any]) -> dict[str, Any]:
    return server.wait_turn(client, accepted["turns"][0]["turnId"])


def events(client: httpx.Client, kind: str) -> list[dict[str, Any]]:
    page = client.get(f"/api/rooms/room:main/events?type={kind}&limit=500").json()
    found: list[dict[str, Any]] = page["events"]
    return found


def test_one_asks_two_at_once_and_answers_with_both(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        asked = send(client, "[[mcp-ask b,c ((say yes))]]", ["a"], "1")
        assert ended(server, client, asked)["content"] == "agent:b: yes | agent:c: yes"
        turns = client.get("/api/turns?status=all").json()["turns"]
        by_target = {turn["targetActorId"]: turn for turn in turns}
        parent = by_target["agent:a"]
        for name in ("agent:b", "agent:c"):
            assert by_target[name]["parentTurnId"] == parent["turnId"]
            assert by_target[name]["correlationId"] == parent["correlationId"]
            assert by_target[name]["hopCount"] == 1
        messages = events(client, "message.created")
        assert [m["actor"]["actorId"] for m in messages][:2] == ["user:web", "agent:a"]
        assert server.stop() == 0
        assert server.violations() == []


def test_a_chain_of_asks_comes_back_and_a_cycle_is_refused(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        deep = send(client, "[[mcp-ask b ((mcp-ask c {{say deep}}))]]", ["a"], "1")
        assert ended(server, client, deep)["content"] == "agent:b: agent:c: deep"
        ring = send(client, "[[mcp-ask b ((mcp-ask a {{say never}}))]]", ["a"], "2")
        assert ended(server, client, ring)["content"] == "agent:b: CAUSAL_CYCLE"
        assert server.stop() == 0
        assert server.violations() == []


def test_a_target_that_dies_is_told_and_the_other_still_answers(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        asked = send(client, "[[mcp-ask b ((kill))]] [[mcp-ask c ((say alive))]]", ["a"], "1")
        turn = ended(server, client, asked)
        assert turn["content"] == "agent:b: failedagent:c: alive"
        again = send(client, "[[mcp-ask b ((say back))]]", ["a"], "2")
        assert ended(server, client, again)["content"] == "agent:b: back"


def test_a_slow_target_is_collected_in_a_later_turn(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        slow = "[[mcp-call ask to=b;timeoutMs=1;content=((think hm)) ((silent))]]"
        first = json.loads(ended(server, client, send(client, slow, ["a"], "1"))["content"])
        assert first["state"] == "pending"
        (one,) = first["results"]
        server.wait_turn(client, one["turnId"], "running")
        client.post(f"/api/turns/{one['turnId']}/cancel", json={"clientCommandId": "c"})
        later = f"[[mcp-call collect messageEventId={first['messageEventId']}]]"
        found = json.loads(ended(server, client, send(client, later, ["a"], "2"))["content"])
        assert (found["state"], found["results"][0]["status"]) == ("terminal", "cancelled")


def test_cancelling_the_caller_cancels_what_it_waits_for(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        asked = send(
            client, "[[think hm]] [[mcp-ask b ((think hm)) ((silent))]] [[silent]]", ["a"], "1"
        )
        eventually(lambda: len(events(client, "turn.started")) == 2)
        turn_id = asked["turns"][0]["turnId"]
        client.post(f"/api/turns/{turn_id}/cancel", json={"clientCommandId": "c"})
        for turn in client.get("/api/turns?status=all").json()["turns"]:
            assert server.wait_turn(client, turn["turnId"])["status"] == "cancelled"
        assert client.get("/api/turns?status=open").json()["turns"] == []


def test_after_a_kill_of_the_server_the_answers_can_be_collected(tmp_path: Path) -> None:
    with room(tmp_path) as server:
        with client_of(server.start()) as client:
            send(client, "[[think hm]] [[silent]]", ["c"], "0")
            eventually(lambda: len(events(client, "turn.started")) == 1)
            asks = "[[think x]] [[mcp-call send to=c;content=((say kept))]] "
            asks += "[[mcp-ask b ((think hm)) ((silent))]]"
            send(client, asks, ["a"], "1")
            eventually(lambda: len(events(client, "turn.started")) == 3)
            by_a = [m for m in events(client, "message.created") if _is_call_of(m, "agent:a")]
            sent, asked = (m["eventId"] for m in by_a)
        server.kill()
        with client_of(server.start()) as client:
            assert collected(server, client, sent) == {"agent:c": "completed"}
            assert collected(server, client, asked) == {"agent:b": "interrupted"}
            assert len([m for m in events(client, "message.created") if m["to"]]) == 6
        assert server.stop() == 0
        assert server.violations() == []


def collected(server: ServerProcess, client: httpx.Client, event_id: str) -> dict[str, str]:
    """What an agent is told, in a new turn, of what became of an earlier message."""
    text = f"[[mcp-call collect messageEventId={event_id}]]"
    turn = ended(server, client, send(client, text, ["a"], event_id))
    found = json.loads(turn["content"])
    assert found["state"] == "terminal"
    return {result["target"]: result["status"] for result in found["results"]}


def _is_call_of(message: dict[str, Any], actor_id: str) -> bool:
    return bool(message["to"]) and message["actor"]["actorId"] == actor_id


def test_a_busy_target_is_not_waited_for(tmp_path: Path) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        busy = send(client, "[[think hm]] [[silent]]", ["b"], "0")["turns"][0]["turnId"]
        server.wait_turn(client, busy, "running")
        ask = send(client, "[[mcp-call ask to=b;content=((say hi))]]", ["a"], "1")
        found = json.loads(ended(server, client, ask)["content"])
        (one,) = found["results"]
        assert (found["state"], one["queuePosition"], one["activeTurnId"]) == ("pending", 1, busy)


def test_two_that_only_call_each_other_are_stopped_and_go_on_when_a_person_wants(
    tmp_path: Path,
) -> None:
    ball = (
        "[[mcp-call send to=b;content=((mcp-call send to=a;content="
        "{{mcp-call send to=b;content=third}}))]]"
    )
    with room(tmp_path, pingPongCalls=2) as server, client_of(server.start()) as client:
        root = send(client, ball, ["a"], "1")["correlationId"]
        eventually(lambda: events(client, "routing.loop_stopped") != [])
        (stop,) = events(client, "routing.loop_stopped")
        assert (stop["body"]["kind"], stop["body"]["held"]["content"]) == ("ping_pong", "third")
        eventually(lambda: client.get("/api/turns?status=open").json()["turns"] == [])
        reply = client.post(f"/api/roots/{root}/continue", json={"clientCommandId": "go"})
        assert reply.status_code == 202, reply.text
        ended(server, client, reply.json()["messages"][0])
        last = [m for m in events(client, "message.created") if m["to"]][-1]
        assert (last["body"]["content"], last["actor"]["actorId"]) == ("third", "agent:a")
        assert client.get(f"/api/usage?correlationId={root}").json()["totals"]["turns"] == 4
        assert server.stop() == 0
        assert server.violations() == []


def test_twenty_agents_in_one_room_call_at_once(tmp_path: Path) -> None:
    names = [f"n{number:02}" for number in range(20)]
    with server_in(tmp_path) as server:
        agents = {name: server.agent_config("--http-mcp") for name in names}
        (tmp_path / "groupx.json").write_text(json.dumps({"agents": agents}), encoding="utf-8")
        with client_of(server.start()) as client:
            accepted = [
                send(
                    client, f"[[mcp-ask {names[number + 10]} ((say here))]]", [names[number]], name
                )
                for number, name in enumerate(names[:10])
            ]
            for number, one in enumerate(accepted):
                turn = ended(server, client, one)
                assert turn["content"] == f"agent:{names[number + 10]}: here"
        assert server.stop() == 0
        assert server.violations() == []


def test_an_agent_that_takes_no_tools_works_all_the_same(tmp_path: Path) -> None:
    with server_in(tmp_path) as server, client_of(server.start()) as client:
        turn = ended(server, client, send(client, "[[mcp]]", ["bot"], "1"))
        assert turn["content"] == "[]"
        (ready,) = events(client, "session.ready")
        assert ready["body"]["hasTools"] is False


def test_the_tools_library_is_not_loaded_by_a_server_without_agents_at_work(
    tmp_path: Path,
) -> None:
    with room(tmp_path) as server, client_of(server.start()) as client:
        log = server.workspace.data_folder / "logs" / "server.log"
        assert "tools.loaded" not in log.read_text()
        ended(server, client, send(client, "[[mcp-ask b ((say x))]]", ["a"], "1"))
        assert "tools.loaded" in log.read_text()
