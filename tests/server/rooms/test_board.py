"""The board: one word for each agent, from facts of its program, its turns and its errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.domain.condition import Condition
from groupx_server.domain.native import ContentDelta, TurnCompleted, TurnFailed
from groupx_server.rooms.board import Board, Card
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_shared.errors import AgentError, ErrorCode
from support.fake_driver import FakeSession, fake_spec
from support.rooms import NOW, Listener, house

NOW_S = 1_769_850_900.25
"""`NOW` in seconds since 1970."""


def entry(name: str, *, enabled: bool = True) -> RosterEntry:
    return RosterEntry(f"agent:{name}", name.upper(), "fake", None, enabled, fake_spec(name))


def board_of(*entries: RosterEntry) -> tuple[Board, Listener]:
    listener = Listener()
    roster = Roster(list(entries), entries[0].actor_id)
    return Board(roster, listener, Clock(now=lambda: NOW)), listener


@pytest.mark.parametrize(
    ("card", "state"),
    [
        (Card(), "stopped"),
        (Card(host_state="ready"), "ready"),
        (Card(host_state="ready", active_turn_id="t"), "working"),
        (Card(host_state="ready", active_turn_id="t", is_waiting=True), "waiting"),
        (Card(host_state="starting", active_turn_id="t"), "starting"),
        (Card(host_state="ready", condition=Condition("needs_login")), "needs_login"),
        (Card(host_state="failed", condition=Condition("needs_login")), "needs_login"),
        (Card(host_state="stopped", condition=Condition("rate_limited")), "rate_limited"),
        (Card(host_state="starting", condition=Condition("needs_login")), "starting"),
        (Card(host_state="retrying", condition=Condition("needs_login")), "retrying"),
        (
            Card(host_state="ready", active_turn_id="t", condition=Condition("needs_login")),
            "working",
        ),
    ],
)
def test_a_running_turn_comes_first_then_what_stands_in_the_way(card: Card, state: str) -> None:
    assert card.state == state


def test_what_stands_in_the_way_is_explained_by_the_error_and_not_by_the_program() -> None:
    card = Card(host_state="ready", detail="It runs.", last_error="Sign in.")
    assert card.sentence == "It runs."
    blocked = Card("ready", "It runs.", last_error="Sign in.", condition=Condition("needs_login"))
    assert blocked.sentence == "Sign in."


async def test_a_limit_says_when_it_ends_and_is_lifted_then() -> None:
    board, listener = board_of(entry("a"))
    board.turn_ended("agent:a", "Out of limits.", Condition("rate_limited", NOW_S + 0.05))
    (card,) = board.all()
    assert (card.status, card.until_iso) == ("rate_limited", "2026-01-31T09:15:00.300Z")
    await listener.status("agent:a", "stopped", after="rate_limited")
    assert board.all()[0].detail is None


async def test_a_later_word_outlives_the_end_of_an_earlier_limit() -> None:
    board, listener = board_of(entry("a"), entry("b"))
    board.turn_ended("agent:a", "Out of limits.", Condition("rate_limited", NOW_S + 0.02))
    board.turn_ended("agent:a", "Sign in.", Condition("needs_login"))
    board.turn_ended("agent:b", "Out of limits.", Condition("rate_limited", NOW_S + 0.04))
    await listener.status("agent:b", "stopped", after="rate_limited")
    assert board.all()[0].status == "needs_login"


@pytest.mark.parametrize(
    ("until_s", "status", "until_iso"),
    [(NOW_S - 1, "stopped", None), (NOW_S + 1e9, "rate_limited", None)],
)
async def test_an_end_that_cannot_be_is_not_shown(
    until_s: float, status: str, until_iso: str | None
) -> None:
    board, _ = board_of(entry("a"))
    board.turn_ended("agent:a", "Out of limits.", Condition("rate_limited", until_s))
    assert (board.all()[0].status, board.all()[0].until_iso) == (status, until_iso)


async def test_a_restart_that_is_waited_for_says_when() -> None:
    board, listener = board_of(entry("a"))
    board.update("agent:a", host_state="retrying", detail="It died.", retry_at_s=NOW_S + 4)
    (body,) = listener.bodies("agent.status")
    assert (body["status"], body["untilIso"]) == ("retrying", "2026-01-31T09:15:04.250Z")
    board.update("agent:a", host_state="ready")
    assert board.all()[0].until_iso is None


async def test_the_model_is_what_the_agent_told_else_what_the_config_names() -> None:
    board, _ = board_of(replace(entry("a"), model="configured"), entry("b"))
    assert [card.model for card in board.all()] == ["configured", None]
    board.update("agent:a", model="told")
    board.update("agent:b", model="other")
    assert [card.model for card in board.all()] == ["told", "other"]
    board.update("agent:a", model="")
    assert board.all()[0].model == "configured"


async def test_another_roster_is_told_whole_and_keeps_what_is_known() -> None:
    board, listener = board_of(entry("a"), entry("b"))
    board.update("agent:a", host_state="ready")
    board.replace(Roster([entry("a"), entry("c", enabled=False)], "agent:a"), frozenset())
    (body,) = listener.bodies("agents.changed")
    assert [(card["actorId"], card["status"]) for card in body["agents"]] == [
        ("agent:a", "ready"),
        ("agent:c", "disabled"),
    ]


async def test_one_that_leaves_keeps_its_card_until_its_turn_has_ended() -> None:
    board, listener = board_of(entry("a"), entry("b"))
    board.update("agent:b", host_state="ready", active_turn_id="turn_1")
    board.replace(Roster([entry("a")], "agent:a"), frozenset({"agent:b"}))
    assert [card.actor_id for card in board.all()] == ["agent:a", "agent:b"]
    board.update("agent:b", active_turn_id=None)
    board.vacate("agent:b")
    assert [card.actor_id for card in board.all()] == ["agent:a"]
    assert len(listener.bodies("agents.changed")) == 2


async def test_an_agent_that_wants_a_login_says_so_until_a_turn_succeeds(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        details = {"authRequired": True}
        rooms.fleet.scripts.append(
            [TurnFailed(ErrorCode.AGENT_ERROR, "Run “a login”.", details=details)]
        )
        rooms.fleet.scripts.append([ContentDelta("hi"), TurnCompleted()])
        await rooms.ended(await rooms.send())
        await rooms.listener.status("agent:a", "needs_login")
        card = (await rooms.service.agents()).agents[0]
        assert (card.status, card.detail) == ("needs_login", "Run “a login”.")
        await rooms.ended(await rooms.send())
        await rooms.listener.status("agent:a", "ready", after="needs_login")


async def test_a_session_that_needs_a_login_says_so_too(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        error = AgentError("Sign in.", code=ErrorCode.AGENT_ERROR, details={"authRequired": True})
        rooms.fleet.start_errors.append(error)
        await rooms.ended(await rooms.send())
        await rooms.listener.status("agent:a", "needs_login")


async def test_a_program_may_tell_at_its_start_that_nobody_is_signed_in(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        rooms.fleet.capabilities = {"authRequired": True}
        await rooms.service.restart_agent("a", "one")
        await rooms.listener.status("agent:a", "needs_login")
        assert rooms.agents.board.all()[0].detail == (
            "fake is not signed in. Sign in with its own program."
        )
        rooms.fleet.capabilities = {"authRequired": False}
        await rooms.service.restart_agent("a", "two")
        await rooms.listener.status("agent:a", "ready", after="needs_login")


async def test_the_model_of_a_session_is_on_the_card_after_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSession, "model", property(lambda session: "a-model"))
    async with house(tmp_path) as rooms:
        assert (await rooms.service.agents()).agents[0].model is None
        rooms.fleet.scripts.append([ContentDelta("hi"), TurnCompleted()])
        await rooms.ended(await rooms.send())
        assert (await rooms.service.agents()).agents[0].model == "a-model"


async def test_what_a_short_turn_changes_is_told_at_once_and_then_together() -> None:
    board, listener = board_of(entry("a"))
    board.count_queued("agent:a", 1)
    assert [body["queuedTurns"] for body in listener.bodies("agent.status")] == [1]
    board.update("agent:a", active_turn_id="turn_1")
    board.count_queued("agent:a", -1)
    board.update("agent:a", is_waiting=True)
    assert len(listener.bodies("agent.status")) == 1
    await listener.until(lambda: len(listener.bodies("agent.status")) == 2)
    told = listener.bodies("agent.status")[-1]
    assert (told["status"], told["queuedTurns"], told["activeTurnId"]) == ("waiting", 0, "turn_1")


async def test_a_turn_that_ends_within_the_moment_in_which_it_began_leaves_no_word_behind() -> None:
    board, listener = board_of(entry("a"), entry("b"))
    board.update("agent:a", active_turn_id="turn_1")
    board.update("agent:a", active_turn_id=None)
    await listener.status("agent:a", "stopped", after="working")
    board.update("agent:a", active_turn_id="turn_2")
    board.update("agent:a", is_waiting=True)
    board.update("agent:a", is_waiting=False)
    board.update("agent:b", active_turn_id="turn_3")
    board.update("agent:b", active_turn_id=None)
    await listener.status("agent:b", "stopped", after="working")
    told = [b["status"] for b in listener.bodies("agent.status") if b["actorId"] == "agent:a"]
    assert told == ["working", "stopped", "working"]


async def test_what_happens_to_a_program_does_not_wait_for_the_moment_to_end() -> None:
    board, listener = board_of(entry("a"))
    for state in ("starting", "ready", "starting", "failed"):
        board.update("agent:a", host_state=state)
    told = [body["status"] for body in listener.bodies("agent.status")]
    assert told == ["starting", "ready", "starting", "failed"]
