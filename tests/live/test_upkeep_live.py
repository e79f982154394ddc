"""Every agent program writes summaries and days, in sessions of their own, and nothing else counts.

The room is real, the programs are real, the model is a script: what it is asked for last in what
is quoted to it, it says. The counterparts are `rooms/scribes.py`, `compaction.py` and `dated.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from live.agents import AGENTS
from live.programs import CACHE, PROGRAMS
from live.rooms import TURN_S, LiveRoom, done, live_room
from live.upkeep import DAY_TASK, TASK, TOOL_OF_ROOM, compact, days, summary, talk, writing
from support.fake_model.play import REFUSAL

Recorder = Callable[[str, object], None]
SUMMED = "- The port is 4310."
KEPT = "- A long day at the port."

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(10 * TURN_S),
    pytest.mark.parametrize("agent", list(AGENTS)),
]


@pytest.fixture
def room(agent: str, tmp_path: Path, record_property: Recorder) -> Iterator[LiveRoom]:
    """A started room with the agent alone."""
    program = PROGRAMS[agent]
    if not program.is_installed:
        pytest.skip(f"{agent} {program.version} is not in {CACHE}: run “make live LIVE={agent}”")
    record_property("version", program.version)
    with live_room(tmp_path, agent) as room:
        yield room


@pytest.mark.case("summary")
def test_a_summary_is_written_apart_from_the_agents_own_session(room: LiveRoom, agent: str) -> None:
    nonce = done(room.ask("[[nonce]]")).content
    before = room.agent_pids()
    talk(room, f"[[say {SUMMED}]]")
    ended = compact(room)
    assert ended["phase"] == "completed", ended["errorMessage"]
    found = summary(room)
    assert (found["content"], found["authorActorId"]) == (SUMMED, f"agent:{agent}")
    assert (found["messageCount"], found["throughSeq"]) == (6, ended["throughSeq"])
    # Fresh: its model was told nothing of the working session but the quote, and no room's tools.
    assert writing(room)
    assert not any(TOOL_OF_ROOM in body for body in room.model.bodies(TASK))
    assert room.agent_pids() == before
    assert len(room.bodies("session.ready")) == 1
    # The working session goes on, knows what it knew, and nothing of the writing.
    turn = done(room.ask("[[say still here]] after-the-summary"))
    assert turn.content == "still here"
    told = room.model.bodies("after-the-summary")
    assert told
    assert any(nonce in body for body in told)
    assert all(TASK not in body for body in told)
    assert any(SUMMED in body.partition("[room_checkpoint_summary")[2] for body in told)


@pytest.mark.case("day")
def test_a_day_is_written_by_the_agent_itself_before_the_room_is_summed_up(
    room: LiveRoom, agent: str
) -> None:
    for text in ("[[say one]]", "[[say two]]", f"[[say {KEPT}]] of-the-day"):
        done(room.ask(text))
    talk(room, f"[[say {SUMMED}]]")
    ended = compact(room)
    assert ended["phase"] == "completed", ended["errorMessage"]
    [day] = days(room, agent)
    assert (day["content"], day["authorActorId"]) == (KEPT, f"agent:{agent}")
    assert (day["kind"], day["sourceKind"]) == ("summary", "automatic_rollup")
    assert summary(room)["content"] == SUMMED
    assert writing(room, DAY_TASK)
    assert not any(TOOL_OF_ROOM in body for body in room.model.bodies(DAY_TASK))
    costs = {part["key"]: part["turns"] for part in room.client.get("/api/usage").json()["upkeep"]}
    assert costs == {"summary": 1, "dated": 1}


@pytest.mark.case("no summary")
def test_what_is_no_summary_changes_nothing_and_says_so(
    room: LiveRoom, record_property: Recorder
) -> None:
    talk(room, f"[[say {SUMMED}]]")
    ended = compact(room)
    assert ended["phase"] == "completed", ended["errorMessage"]
    kept = summary(room)
    told: dict[str, str] = {}
    for mark in ("fail 400", "empty", "long 9000", "cut - The po"):
        talk(room, f"[[{mark}]]")
        ended = compact(room)
        assert ended["phase"] == "failed", (mark, ended, summary(room))
        assert summary(room) == kept, mark
        told[mark.split()[0]] = ended["errorMessage"]
    assert "9,0" in told["long"]
    assert "Nothing was changed" in told["cut"]
    record_property("how", "all, with the reason" if REFUSAL in told["fail"] else "all")
    # A turn is not kept from its summary by what came before it.
    assert done(room.ask("[[say still here]]")).content == "still here"


@pytest.mark.case("begin anew")
def test_after_a_reset_the_program_knows_nothing_of_before(room: LiveRoom) -> None:
    nonce = done(room.ask("[[nonce]]")).content
    talk(room, f"[[say {SUMMED}]]")
    ended = compact(room)
    assert ended["phase"] == "completed", ended["errorMessage"]
    body = {"clientCommandId": "reset"}
    assert room.client.post("/api/rooms/room:main/context/reset", json=body).json()["reset"]
    assert done(room.ask("[[say anew]] after-the-reset")).content == "anew"
    told = room.model.bodies("after-the-reset")
    assert told
    for request in told:
        assert nonce not in request
        assert SUMMED not in request
    assert any("session=new" in request for request in told)
    assert [ready["continuity"] for ready in room.bodies("session.ready")] == ["new", "new"]
