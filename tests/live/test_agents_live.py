"""Every agent program that is installed, in a room of a real server, against the fake model.

Each case has a server, a home and a working folder of its own, and ends with the proof that no
process is left. Programs are installed by `make live`; a missing one is skipped by name.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from live.agents import AGENTS
from live.programs import CACHE, PROGRAMS
from live.rooms import GONE_S, TURN_S, LiveRoom, Turn, done, live_room, until
from support.fake_model.play import BEGINNING, REFUSAL

BUDGET_S: Final = float(os.environ.get("GROUPX_LIVE_BUDGET_S", "inf"))
"""No test begins later than this: the gate has a limit, however busy the machine is."""
STARTED_AT: Final = time.monotonic()
Recorder = Callable[[str, object], None]

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(3 * TURN_S),
    pytest.mark.parametrize("agent", list(AGENTS)),
]


@pytest.fixture
def room(agent: str, tmp_path: Path, record_property: Recorder) -> Iterator[LiveRoom]:
    """A started room with the agent alone."""
    program = PROGRAMS[agent]
    if not program.is_installed:
        pytest.skip(f"{agent} {program.version} is not in {CACHE}: run “make live”")
    if time.monotonic() - STARTED_AT > BUDGET_S:
        pytest.skip(f"{agent}: {BUDGET_S:g} s are over; “make live LIVE={agent}” runs every case")
    record_property("version", program.version)
    with live_room(tmp_path, agent) as room:
        yield room


@pytest.mark.case("text")
def test_an_answer_comes_back(room: LiveRoom, record_property: Recorder) -> None:
    turn = done(room.ask("[[say Hello from the fake model.]]"))
    assert turn.content == "Hello from the fake model."
    record_property("usage", usage_of(turn))


@pytest.mark.case("reasoning")
def test_reasoning_is_apart_from_the_answer(room: LiveRoom) -> None:
    turn = done(room.ask("[[think First this, then that.]]"))
    assert "First this, then that." in turn.reasoning
    assert turn.content == "Thought."


@pytest.mark.case("tool")
def test_a_command_runs_unasked(room: LiveRoom, agent: str) -> None:
    turn = done(room.ask("[[shell echo 'made by hand' | tr a-z A-Z | tee made.txt]]"))
    assert "MADE BY HAND" in turn.content
    assert (room.work(agent) / "made.txt").read_text("utf-8") == "MADE BY HAND\n"
    assert [tool["status"] for tool in turn.tools] == ["completed"]


@pytest.mark.case("cancel in text")
def test_a_cancel_in_text_and_then_another_prompt(room: LiveRoom) -> None:
    turn_id = room.say("[[endless]]")[room.names[0]]
    room.wait_text(turn_id, BEGINNING)
    room.cancel(turn_id)
    assert room.ended(turn_id).status == "cancelled"
    assert done(room.ask("[[say still here]]")).content == "still here"


@pytest.mark.case("cancel in a tool")
def test_a_cancel_in_a_command_ends_it_and_the_next_prompt_works(
    room: LiveRoom, record_property: Recorder
) -> None:
    [command] = room.long_commands().values()
    before = room.agent_pids()
    room.cancel(command.turn_id)
    turn = room.ended(command.turn_id)
    assert turn.status == "cancelled", turn.problem
    until(lambda: not command.is_running, GONE_S, lambda: "the command still runs")
    assert done(room.ask("[[say still here]]")).content == "still here"
    if room.agent_pids() != before:
        record_property("how", "in a new process")


@pytest.mark.case("resume")
def test_a_conversation_goes_on_in_a_fresh_process(
    room: LiveRoom, record_property: Recorder
) -> None:
    nonce = done(room.ask("[[nonce]]")).content
    if room.start_again():
        record_property("how", "not within the minute in which it was opened")
    turn = done(room.ask("[[say resumed]] marked-prompt"))
    assert turn.content == "resumed"
    assert [body["continuity"] for body in room.bodies("session.resumed")] == ["resumed"]
    # GroupX never tells an agent its own answers again: the program itself sent this one.
    assert any(nonce in body for body in room.model.bodies("marked-prompt"))


@pytest.mark.case("room's tools")
def test_the_rooms_tools_are_attached_and_called(
    room: LiveRoom, agent: str, record_property: Recorder
) -> None:
    turn = done(room.ask('[[room read {"limit": 5}]] read-this-message'))
    [session] = room.bodies("session.ready")
    assert session["hasTools"] == AGENTS[agent].takes_tools, session
    if not session["hasTools"]:
        assert "does not take tools" in session["toolsProblem"]
        record_property("how", "takes none")
        return
    # Through the agent, the model was shown the room's own event of this very message.
    assert "read-this-message" in turn.content, turn.content
    if len(turn.tools) > 1:
        record_property("how", "after a tool search")


@pytest.mark.case("model error")
def test_an_error_of_the_model_is_told(room: LiveRoom, record_property: Recorder) -> None:
    turn = room.ask("[[fail 400]]")
    if turn.status == "failed":
        how = "failed, with the reason" if REFUSAL in turn.problem else "failed, without a reason"
    else:
        how = "told as an answer"
        assert REFUSAL in turn.content, turn.content
    record_property("how", how)
    assert done(room.ask("[[say still here]]")).content == "still here"


@pytest.mark.case("death")
def test_a_death_in_the_middle_fails_the_turn_and_the_next_one_works(room: LiveRoom) -> None:
    turn_id = room.say("[[endless]]")[room.names[0]]
    room.wait_text(turn_id, BEGINNING)
    for pid in room.agent_pids():
        os.kill(pid, signal.SIGKILL)
    turn = room.ended(turn_id)
    assert turn.status in ("failed", "interrupted"), turn.problem
    # The process that was killed may be a wrapper, whose child still says that it was cancelled.
    assert turn.row["errorCode"] in ("SESSION_NOT_AVAILABLE", "TURN_INTERRUPTED")
    assert turn.row["partialText"] == BEGINNING
    assert done(room.ask("[[say alive again]]")).content == "alive again"


@pytest.mark.case("stop")
def test_a_stop_in_the_middle_of_a_command_leaves_nobody(room: LiveRoom) -> None:
    [command] = room.long_commands().values()
    room.stop()
    room.assert_nobody_left()
    assert not command.is_running


@pytest.mark.case("server killed")
def test_a_kill_of_the_server_leaves_nobody(room: LiveRoom) -> None:
    [command] = room.long_commands().values()
    room.kill()
    room.assert_nobody_left()
    assert not command.is_running


def usage_of(turn: Turn) -> str:
    """What the agent tells of its usage, in words."""
    told = turn.row.get("usage") or {}
    kinds = {"tokens": "outputTokens", "context": "contextUsed", "cost": "costAmount"}
    return ", ".join(word for word, key in kinds.items() if key in told) or "nothing"
