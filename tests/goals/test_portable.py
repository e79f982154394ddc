"""What people can carry away, and what stays as it was over a kill: records with author, subject,
source and what they correct; an export with the room's events and nothing of sessions."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.server_process import ServerProcess, client_of, send, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(90)]


def _posted(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    reply = client.post(path, json=body)
    assert reply.status_code == 201, reply.text
    result: dict[str, Any] = reply.json()
    return result


def _records(client: httpx.Client) -> dict[str, Any]:
    kinds = ("memory", "identity")
    return {kind: client.get(f"/api/{kind}?includeHistory=true").json() for kind in kinds}


def _lived(server: ServerProcess, client: httpx.Client) -> None:
    """A turn, and records that are corrected."""
    accepted = send(client, "[[think hm]] [[tool Read]] [[say done]]", ["bot"], "c1")
    turn = server.wait_turn(client, accepted["turns"][0]["turnId"])
    assert turn["status"] == "completed"
    source = accepted["messageEventId"]
    scope = {"type": "room", "id": "room:main"}
    memory = {
        "clientCommandId": "m1",
        "scope": scope,
        "kind": "decision",
        "content": "tabs",
        "subjectActorId": "agent:bot",
        "sourceEventId": source,
    }
    made = _posted(client, "/api/memory", memory)["memory"]["memoryId"]
    correction = {"clientCommandId": "m2", "content": "spaces", "sourceEventId": source}
    _posted(client, f"/api/memory/{made}/supersede", correction)
    said = {"clientCommandId": "i1", "subjectActorId": "agent:bot", "kind": "note", "content": "x"}
    said["sourceEventId"] = source
    identity = _posted(client, "/api/identity", said)["identity"]["identityId"]
    _posted(
        client, f"/api/identity/{identity}/supersede", {"clientCommandId": "i2", "content": "y"}
    )


def test_records_are_the_same_after_a_kill(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            _lived(server, client)
            before = _records(client)
        server.kill()
        with client_of(server.start()) as client:
            assert _records(client) == before
        memory = {each["status"]: each for each in before["memory"]["items"]}
        assert memory["active"]["supersedesMemoryId"] == memory["superseded"]["memoryId"]
        assert memory["active"]["subjectActorId"] == "agent:bot"
        assert {each["sourceEventId"] is None for each in memory.values()} == {False}
        assert server.stop() == 0


def test_an_export_has_who_said_what_of_whom_and_nothing_of_sessions(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        with client_of(server.start()) as client:
            _lived(server, client)
            exported = client.get("/api/export").text
        assert server.stop() == 0
        events = [json.loads(line) for line in exported.splitlines()]
        assert {event["schema"] for event in events} == {"groupx.event/0.1"}
        seqs = [event["seq"] for event in events]
        assert seqs == sorted(set(seqs))
        [record] = [e["body"]["record"] for e in events if e["type"] == "memory.superseded"]
        for key in ("authorActorId", "subjectActorId", "sourceEventId", "supersedesMemoryId"):
            assert record[key]
        with closing(sqlite3.connect(server.workspace.data_folder / "groupx.db")) as book:
            rows = book.execute(
                "SELECT binding_id, native_session_id, instance_id FROM session_bindings"
                " WHERE native_session_id IS NOT NULL"
            ).fetchall()
        assert rows
        for binding_id, native_id, _ in rows:
            assert binding_id not in exported
            assert native_id not in exported
