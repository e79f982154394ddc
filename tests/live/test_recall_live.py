"""A server that dies at the end of a turn: what the agent's own record says becomes the end."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from live.agents import AGENTS
from live.programs import CACHE, PROGRAMS
from live.rooms import TURN_S, done, live_room

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(3 * TURN_S),
]


def _require(agent: str) -> None:
    program = PROGRAMS[agent]
    if not program.is_installed:
        pytest.skip(f"{agent} {program.version} is not in {CACHE}: run “make live”")


@pytest.mark.parametrize("agent", ["codex", "claude"])
def test_an_answer_that_was_not_written_down_is_taken_from_the_agents_record(
    agent: str, tmp_path: Path
) -> None:
    _require(agent)
    with live_room(tmp_path, agent) as room:
        room.stop()
        room.start(fail_point="terminal.before_commit")
        turn_id = room.say("[[say All of it.]] marked-prompt")[agent]
        assert room.server.wait_dead() == -signal.SIGKILL
        room.start()
        turn = room.ended(turn_id)
        assert (turn.status, turn.content) == ("completed", "All of it.")
        assert len(room.model.bodies("marked-prompt")) == 1


@pytest.mark.parametrize("agent", [name for name in AGENTS if name not in ("codex", "claude")])
def test_a_prompt_that_may_have_arrived_is_not_sent_again(agent: str, tmp_path: Path) -> None:
    """The agent is asked for what it repeats of the session; most had not written it down yet."""
    _require(agent)
    with live_room(tmp_path, agent) as room:
        done(room.ask("[[say before]]"))
        room.stop()
        room.start(fail_point="native_started.before_commit")
        turn_id = room.say("[[say All of it.]] marked-prompt")[agent]
        assert room.server.wait_dead() == -signal.SIGKILL
        room.assert_nobody_left()
        asked = len(room.model.bodies("marked-prompt"))  # some ask for a title, too
        room.start()
        turn = room.ended(turn_id)
        assert turn.status == "interrupted"
        assert "nothing was sent again" in turn.problem
        assert len(room.model.bodies("marked-prompt")) == asked
