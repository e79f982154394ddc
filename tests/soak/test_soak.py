"""A short soak: everything that must be zero is zero, and the judge finds what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.terminal import TurnEnd, end_turn
from soak.soak import Plan, run
from support.soak_judge import MUST_BE_ZERO, Judge, prompts_in, quantiles, tag_of
from support.soak_load import Accepted, Follower, Sender, Site
from support.transactions import LIMITS, NOW, open_book, send, start

SHORT = Plan(messages=150, kills=10, seconds=30)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_nothing_is_lost_doubled_or_forgotten_when_server_and_agents_are_killed_under_load(
    tmp_path: Path,
) -> None:
    result = run(SHORT, tmp_path)
    assert result["mustBeZero"] == dict.fromkeys(MUST_BE_ZERO, 0), result["examples"]
    assert result["killsInAll"] >= 3
    assert result["accepted"] >= 50
    assert result["exitStatus"] == 0


class World:
    """A small true ledger, with what its sender, agent and reader saw."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.book = open_book(folder)
        self.sender = Sender(Site(("a",)), 0, 0)
        self.follower = Follower(Site(("a",)))
        self.prompts: list[str] = []
        for number in (1, 2):
            self.say(f"m{number}x")

    def see(self) -> list[int]:
        """Let the reader read everything."""
        rows = self.book.execute("SELECT seq FROM events ORDER BY seq")
        self.follower.seqs = [seq for (seq,) in rows]
        return self.follower.seqs

    def say(self, tag: str) -> None:
        reply = send(self.book, f"[[say {tag}]]", command_id=f"c-{tag}").reply
        turn_id = reply.turns[0].turn_id
        start(self.book, turn_id)
        end_turn(self.book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer=tag), LIMITS, NOW)
        self.prompts.append(tag)
        body = {"roomId": "room:main"}
        wire: dict[str, Any] = json.loads(reply.to_wire())
        self.sender.accepted.append(Accepted(tag, f"c-{tag}", body, wire, 0.1))

    def judge(self) -> dict[str, int]:
        if not self.follower.seqs:
            self.see()
        self.book.close()
        log = self.folder / "a.jsonl"
        lines = [{"what": "prompt", "text": f"old [current_message] {p}"} for p in self.prompts]
        log.write_text("\n".join(json.dumps(line) for line in lines))
        judge = Judge(self.folder / "groupx.db", {"agent:a": log})
        judge.judge([self.sender], self.follower)
        return {name: count for name, count in judge.verdict.zeros.items() if count}


def test_a_true_world_has_zeros_only(tmp_path: Path) -> None:
    assert World(tmp_path).judge() == {}


def _without_message(world: World) -> None:
    world.book.execute("PRAGMA foreign_keys=OFF")
    world.book.execute("DELETE FROM events WHERE seq = 1")


def _with_a_second_message(world: World) -> None:
    send(world.book, "[[say m1x]]", to=())


def _with_a_second_prompt(world: World) -> None:
    world.prompts.insert(1, "m1x")


def _with_an_open_turn(world: World) -> None:
    send(world.book, "[[say m3x]]")


def _with_prompts_in_wrong_order(world: World) -> None:
    world.prompts.reverse()


def _with_answers_in_wrong_order(world: World) -> None:
    world.sender.accepted.reverse()


def _with_a_completed_turn_that_was_never_sent(world: World) -> None:
    world.prompts.pop()


def _with_an_event_missed(world: World) -> None:
    world.see().pop(3)


def _with_an_event_doubled(world: World) -> None:
    world.see().insert(3, 4)


def _with_an_end_without_a_reason(world: World) -> None:
    world.book.execute("UPDATE turns SET status = 'failed', response_event_id = NULL")


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (_without_message, {"lost", "rulesBroken", "faults"}),
        (_with_a_second_message, {"doubled", "lost"}),
        (_with_a_second_prompt, {"sentTwice"}),
        (_with_an_open_turn, {"pending"}),
        (_with_prompts_in_wrong_order, {"disordered"}),
        (_with_answers_in_wrong_order, {"disordered"}),
        (_with_a_completed_turn_that_was_never_sent, {"faults"}),
        (_with_an_event_missed, {"eventsMissed"}),
        (_with_an_event_doubled, {"eventsDoubled"}),
        (_with_an_end_without_a_reason, {"endedWithoutReason", "rulesBroken"}),
    ],
)
def test_the_judge_finds_what_is_wrong(tmp_path: Path, harm: Any, found: set[str]) -> None:
    world = World(tmp_path)
    harm(world)
    assert set(world.judge()) == found


def test_tags_prompts_and_quantiles_are_read_as_they_are_written(tmp_path: Path) -> None:
    assert tag_of("[[kill]] m12x") == "m12x"
    assert tag_of(None) == "(none)"
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"what": "start"}\n{"what": "prompt", "text": "a [current_message m1x] b"}\n{"wha'
    )
    assert prompts_in(log) == [" b"]
    assert prompts_in(tmp_path / "no") == []
    assert quantiles([0.001] * 99 + [0.5]) == {"p50": 1.0, "p95": 1.0, "max": 500.0}
    assert quantiles([]) == {}
