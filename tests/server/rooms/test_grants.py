"""Tokens of sessions: one for each, worth something exactly as long as the session lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_server.domain.native import TurnFailed
from groupx_server.ledger.callers import Caller
from groupx_server.rooms.grants import Grants
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.wire.requests import CreateRoom
from support.fake_driver import FakeFleet
from support.rooms import house


def test_a_token_names_its_binding_until_it_is_revoked() -> None:
    issued: list[str] = []
    grants = Grants("http://127.0.0.1:1/mcp", on_issue=lambda: issued.append("x"))
    one, two = Caller("binding_1", "agent:a", "room:main"), Caller("binding_2", "agent:b", "room:x")
    first, second = grants.issue(one), grants.issue(two)
    assert (first.url, first.name) == ("http://127.0.0.1:1/mcp", "groupx")
    assert first.token != second.token
    assert len(first.token) >= 43
    assert grants.find(first.token.encode()) == one
    assert grants.find(second.token.encode()) == two
    assert issued == ["x", "x"]
    grants.revoke("binding_1")
    grants.revoke("binding_1")
    assert grants.find(first.token.encode()) is None
    assert grants.find(second.token.encode()) == two


@pytest.mark.parametrize("token", [b"", b"x", b"\xff\xfe"])
def test_other_tokens_name_nobody(token: bytes) -> None:
    grants = Grants("u")
    grants.issue(Caller("b", "agent:a", "room:main"))
    assert grants.find(token) is None


async def test_a_session_keeps_one_token_over_its_turns(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send())
        token = rooms.fleet.tokens["agent:a"]
        first = rooms.caller("a")
        await rooms.ended(await rooms.send())
        assert rooms.fleet.tokens["agent:a"] == token
        assert rooms.caller("a") == first
        assert rooms.grants.count == 1
        (event,) = await rooms.events("session.ready")
        assert event["body"]["hasTools"] is True


async def test_each_room_has_a_token_of_its_own(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        main = await rooms.at_work("a")
        rooms.gates.pop("a").set()
        await rooms.service.create_room(CreateRoom(client_command_id="r", title="side"))
        side = await rooms.at_work("a", room_id="room:side")
        assert (main.room_id, side.room_id) == ("room:main", "room:side")
        assert main.binding_id != side.binding_id
        assert rooms.grants.count == 2


async def test_the_token_of_a_lost_session_is_worth_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send())
        old = rooms.fleet.tokens["agent:a"].encode()
        lost = TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "it died", session_lost=True)
        rooms.fleet.scripts.append([lost])
        await rooms.ended(await rooms.send())
        await rooms.ended(await rooms.send())
        assert rooms.grants.find(old) is None
        assert rooms.caller("a").actor_id == "agent:a"
        assert rooms.grants.count == 1


async def test_a_session_that_does_not_open_leaves_no_token(tmp_path: Path) -> None:
    fleet = FakeFleet()
    fleet.start_errors.append(AgentError("no such program"))
    async with house(tmp_path, fleet=fleet) as rooms:
        assert (await rooms.ended(await rooms.send())).status == "failed"
        assert rooms.grants.count == 0


async def test_at_the_end_no_token_is_left(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send())
        await rooms.agents_stopped()
        assert rooms.grants.count == 0


async def test_an_agent_that_takes_no_tools_works_without(tmp_path: Path) -> None:
    fleet = FakeFleet()
    fleet.takes_tools = False
    async with house(tmp_path, fleet=fleet) as rooms:
        assert (await rooms.ended(await rooms.send())).status == "completed"
        (event,) = await rooms.events("session.ready")
        assert event["body"]["hasTools"] is False
        assert event["body"]["errorCode"] == "MCP_UNAVAILABLE"
        assert event["body"]["toolsProblem"] == "It takes none."
