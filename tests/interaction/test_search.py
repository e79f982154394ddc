"""Search over a real server: what was answered is found, also by the server after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.server_process import client_of, send, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]


def test_what_was_accepted_before_a_kill_is_found_after_it(tmp_path: Path) -> None:
    with server_in(tmp_path) as server:
        ids = {}
        with client_of(server.start()) as client:
            for number in range(30):
                word = f"rare{number}word"
                ids[word] = send(client, f"a {word} here", [], word)["messageEventId"]
                if number % 3 == 0:
                    hits = client.get("/api/search", params={"q": word}).json()["hits"]
                    assert hits[0]["id"] == ids[word]
        server.kill()
        with client_of(server.start()) as client:
            for word, event_id in ids.items():
                reply = client.get("/api/search", params={"q": word}).json()
                assert reply["hits"][0]["id"] == event_id
                assert reply["behind"] == 0
        assert server.stop() == 0
        assert server.violations() == []
