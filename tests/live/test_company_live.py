"""Codex, Claude Code and three ACP agents in one room at the same time, against the fake model."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live.agents import AGENTS
from live.programs import CACHE, PROGRAMS
from live.rooms import GONE_S, TURN_S, LiveRoom, Turn, done, live_room, until
from support.fake_model.play import BEGINNING, REFUSAL
from support.fake_model.server import FakeModel
from support.server_process import SCRIPTED_AGENT

COMPANY = ("codex", "claude", "gemini", "kimi", "opencode")

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(8 * TURN_S),
]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[LiveRoom]:
    """A started room with all of them."""
    need_company()
    with live_room(tmp_path, *COMPANY) as room:
        yield room


def need_company() -> None:
    """Skip where one of them is not installed."""
    if missing := [name for name in COMPANY if not PROGRAMS[name].is_installed]:
        pytest.skip(f"{', '.join(missing)}: not in {CACHE}: run “make live”")


def scripted(*options: str) -> dict[str, Any]:
    """Settings of an agent that is a script."""
    arguments = ["-S", str(SCRIPTED_AGENT), *options]
    return {"driver": "acp", "command": {"executable": sys.executable, "args": arguments}}


BROKEN = {
    "missing": {"driver": "acp", "command": "no-such-agent-program --acp"},
    "crashing": scripted("--init-exit=3"),
    "hanging": scripted("--init-hang"),
}


def ask_all(room: LiveRoom, text: str) -> dict[str, Turn]:
    """One message to everybody; how each turn ended."""
    return {name: room.ended(turn_id) for name, turn_id in room.say(text).items()}


def all_answer(room: LiveRoom, text: str) -> dict[str, str]:
    """One message that everybody has to answer; the answers."""
    return {name: done(turn).content for name, turn in ask_all(room, text).items()}


def everybody(text: str) -> dict[str, str]:
    return dict.fromkeys(COMPANY, text)


def test_all_talk_think_work_and_read_at_once(room: LiveRoom) -> None:
    assert all_answer(room, "[[say Hello.]]") == everybody("Hello.")
    thoughts = ask_all(room, "[[think First this, then that.]]")
    assert all(turn.reasoning.count("then that") == 1 for turn in thoughts.values())
    for name, said in all_answer(room, "[[shell pwd | tee made.txt]]").items():
        assert (room.work(name) / "made.txt").read_text("utf-8").strip() == str(room.work(name))
        assert str(room.work(name)) in said
    for said in all_answer(room, '[[room read {"limit": 50}]] read-this-message').values():
        assert "read-this-message" in said
    assert len(room.agent_pids()) == len(COMPANY)


def test_all_are_cancelled_at_once_and_go_on(room: LiveRoom) -> None:
    turns = room.say("[[endless]]")
    for turn_id in turns.values():
        room.wait_text(turn_id, BEGINNING)
    for turn_id in turns.values():
        room.cancel(turn_id)
    assert {room.ended(turn_id).status for turn_id in turns.values()} == {"cancelled"}
    commands = room.long_commands()
    for command in commands.values():
        room.cancel(command.turn_id)
    assert {room.ended(one.turn_id).status for one in commands.values()} == {"cancelled"}
    until(
        lambda: not any(command.is_running for command in commands.values()),
        GONE_S,
        lambda: f"a command still runs: {commands}",
    )
    assert all_answer(room, "[[say still here]]") == everybody("still here")


def test_all_outlive_an_error_a_death_and_a_restart(room: LiveRoom) -> None:
    for turn in ask_all(room, "[[fail 400]]").values():
        assert turn.status == "failed" or REFUSAL in turn.content
    turns = room.say("[[endless]]")
    for turn_id in turns.values():
        room.wait_text(turn_id, BEGINNING)
    for pid in room.agent_pids():
        os.kill(pid, signal.SIGKILL)
    assert "completed" not in {room.ended(turn_id).status for turn_id in turns.values()}
    assert all_answer(room, "[[say alive again]]") == everybody("alive again")
    nonces = all_answer(room, "[[nonce]]")
    room.start_again()
    assert all_answer(room, "[[say resumed]] marked-prompt") == everybody("resumed")
    told = room.model.bodies("marked-prompt")
    assert [name for name, nonce in nonces.items() if not any(nonce in body for body in told)] == []


def test_a_stop_in_the_middle_of_everything_leaves_nobody(room: LiveRoom) -> None:
    commands = room.long_commands()
    room.stop()
    room.assert_nobody_left()
    assert not any(command.is_running for command in commands.values())


def test_a_missing_a_crashing_and_a_hanging_one_hold_nobody_up(tmp_path: Path) -> None:
    need_company()
    with live_room(tmp_path, *COMPANY, more=BROKEN) as room:
        turns = room.say("[[say Hello.]]", *BROKEN, *COMPANY)
        answers = {name: done(room.ended(turns[name])).content for name in COMPANY}
        assert answers == everybody("Hello.")
        told = {name: room.cards()[name].partition(":")[0] for name in BROKEN}
        assert told == {"missing": "failed", "crashing": "failed", "hanging": "starting"}


def test_two_of_one_program_have_folders_and_environments_of_their_own(tmp_path: Path) -> None:
    if not PROGRAMS["goose"].is_installed:
        pytest.skip(f"goose: not in {CACHE}: run “make live”")
    more = {}
    with FakeModel() as model:
        for name in ("first", "second"):
            home, work = tmp_path / f"home-of-{name}", tmp_path / f"work-of-{name}"
            (home / "tmp").mkdir(parents=True)
            work.mkdir()
            settings = AGENTS["goose"].settings(model.url, home, "")
            env = {**settings["env"], "WHO": name}
            more[name] = {**settings, "env": env, "cwd": str(work), "name": f"Goose the {name}"}
        with live_room(tmp_path, more=more) as room:
            turns = room.say("[[shell echo $WHO in $PWD]]", *more)
            for name, turn_id in turns.items():
                said = done(room.ended(turn_id)).content
                assert f"{name} in {tmp_path / f'work-of-{name}'}" in said
            assert len(room.agent_pids()) == len(more)
