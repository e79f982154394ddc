"""Agents that are missing, crash or hang at their start delay none of the good ones."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.server_process import SCRIPTED_AGENT, client_of, send, server_in
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

SLACK_S = 6.0
"""Two shares of a start, and what a busy machine may add; a hanging one takes 30 s to fail."""
HANGING = 6
"""More than may start at once."""


def _scripted(*options: str) -> dict[str, Any]:
    arguments = ["-S", str(SCRIPTED_AGENT), *options]
    return {"driver": "acp", "command": {"executable": sys.executable, "args": arguments}}


GOOD = {"one": _scripted(), "two": _scripted()}
BROKEN = {
    "missing": {"driver": "acp", "command": "no-such-agent-program --acp"},
    "crashing": _scripted("--init-exit=3"),
    **{f"hanging-{number}": _scripted("--init-hang") for number in range(HANGING)},
}


def _answer_time(folder: Path, agents: dict[str, Any]) -> tuple[float, dict[str, str]]:
    """Ask everybody; how long the good ones took from the start of the server, and the cards."""
    folder.mkdir()
    begun = time.monotonic()
    with server_in(folder, {"agents": agents}) as server:
        with client_of(server.start()) as client:
            names = [*(name for name in agents if name not in GOOD), *GOOD]
            turns = send(client, "[[say here]]", names, "everybody")["turns"]
            by_name = {turn["target"].removeprefix("agent:"): turn["turnId"] for turn in turns}
            for name in GOOD:
                turn = server.wait_turn(client, by_name[name])
                assert (turn["status"], turn["content"]) == ("completed", "here")
            taken = time.monotonic() - begun

            def cards() -> dict[str, str]:
                listed = client.get("/api/agents").json()["agents"]
                return {c["actorId"].removeprefix("agent:"): c["status"] for c in listed}

            early = {"missing", "crashing"} & agents.keys()
            eventually(lambda: all(cards()[name] == "failed" for name in early))
            told = cards()
        assert server.stop() == 0
        assert server.violations() == []
    return taken, told


def test_broken_agents_take_no_time_from_the_good_ones(tmp_path: Path) -> None:
    alone, _ = _answer_time(tmp_path / "alone", GOOD)
    together, cards = _answer_time(tmp_path / "together", {**BROKEN, **GOOD})
    assert together < alone + SLACK_S, (alone, together)
    assert {cards[f"hanging-{number}"] for number in range(HANGING)} == {"starting"}
