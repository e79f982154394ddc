"""R1, read your writes: what was answered is found by its own rare word by the very next call,
message or record, also by the server that comes after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from support.goal_size import bound_s, rare_words, sized
from support.server_process import client_of, send, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(bound_s(120))]

COUNT = sized(30, 10_000)
LIVES = sized(2, 10)
"""Servers, each but the last killed right after it had answered."""


def _keep(client: httpx.Client, number: int, word: str) -> str:
    """Write the word down: as a message, in a room's memory, of an agent; return its id."""
    body: dict[str, Any] = {"clientCommandId": word, "kind": "note", "content": f"It is {word}."}
    match number % 3:
        case 0:
            return str(send(client, f"a {word} here", [], word)["messageEventId"])
        case 1:
            body["scope"] = {"type": "room", "id": "room:main"}
            return str(_posted(client, "/api/memory", body)["memory"]["memoryId"])
        case _:
            body["subjectActorId"] = "agent:bot"
            return str(_posted(client, "/api/identity", body)["identity"]["identityId"])


def _posted(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    reply = client.post(path, json=body)
    assert reply.status_code == 201, reply.text
    result: dict[str, Any] = reply.json()
    return result


def _found(client: httpx.Client, word: str) -> list[str]:
    reply = client.get("/api/search", params={"q": word}).json()
    assert reply["behind"] == 0
    return [hit["id"] for hit in reply["hits"]]


def test_all_is_found_by_its_own_word_by_the_next_call_and_after_a_kill(tmp_path: Path) -> None:
    words = rare_words(1, COUNT)
    ids: dict[str, str] = {}
    with server_in(tmp_path) as server:
        for life in range(LIVES):
            with client_of(server.start()) as client:
                for word, ref_id in list(ids.items())[-20:]:  # the newest of the life before
                    assert _found(client, word)[:1] == [ref_id]
                for word in words[life::LIVES]:
                    ids[word] = _keep(client, len(ids), word)
                    assert _found(client, word)[:1] == [ids[word]]
            server.kill()
        with client_of(server.start()) as client:
            assert [
                word for word, ref_id in ids.items() if _found(client, word)[:1] != [ref_id]
            ] == []
        assert len(ids) == COUNT
        assert server.stop() == 0
        assert server.violations() == []
