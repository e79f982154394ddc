"""A room whose agents work on a message while another watches: what its tests share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import pytest

from groupx_server.domain.native import (
    ContentDelta,
    ToolCall,
    TurnCompleted,
)
from groupx_server.ledger.callers import Caller
from groupx_server.rooms.watching import Advise, Look
from groupx_server.rooms.watchresults import WatchResult
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import MessageAccepted
from groupx_shared.wire.requests import SendMessage, Supervision
from support.fake_driver import Script
from support.rooms import House

NAMES = ("a", "eye", "b")
LOOK = Look(timeout_s=0.0)
STEERS = {"steer": True}


@dataclass
class Scene:
    """`a` (and `b`) work on a message, `eye` watches."""

    rooms: House
    accepted: MessageAccepted
    eye: Caller

    @property
    def subject(self) -> str:
        return self.accepted.turns[0].turn_id

    @property
    def observer(self) -> str:
        assert self.accepted.supervision is not None
        return self.accepted.supervision.observers[0].turn_id

    async def look(self, look: Look = LOOK) -> WatchResult:
        return await self.rooms.watches.watch(self.eye, look)


def call(number: str, status: str = "in_progress", **more: Any) -> ToolCall:
    return ToolCall(number, f"secret title {number}", "execute", status, **more)  # type: ignore[arg-type]


async def scene(
    rooms: House, *script: Script, to: tuple[str, ...] = ("a",), brief: str | None = None
) -> Scene:
    """Send a watched message; every agent works until its gate is set."""
    gate = rooms.gates.setdefault("a", asyncio.Event())
    rooms.fleet.plan("a", *(script or ([ContentDelta("…"), gate, TurnCompleted("done")],)))
    eye_gate = rooms.gates.setdefault("eye", asyncio.Event())
    rooms.fleet.plan("eye", [ContentDelta("…"), eye_gate, TurnCompleted("seen")])
    rooms.commands += 1
    request = SendMessage(
        client_command_id=f"c{rooms.commands}",
        content="Tidy up.",
        to=list(to),
        supervision=Supervision(observers=["eye"], brief=brief),
    )
    accepted = await rooms.service.send(request, rooms.person)
    assert accepted.supervision is not None
    await rooms.turn_in(accepted.supervision.observers[0].turn_id, "running")
    await rooms.turn_in(accepted.turns[0].turn_id, "running", "completed")
    return Scene(rooms, accepted, rooms.caller("eye"))


def advise(action: str, number: str = "1", content: str = "Not that file.", **more: Any) -> Advise:
    return Advise(number, action, "Wrong file.", content, **more)  # type: ignore[arg-type]


async def refused(code: ErrorCode, work: Awaitable[object]) -> RefusedError:
    with pytest.raises(RefusedError) as found:
        await work
    assert found.value.code is code
    return found.value


def kinds(result: WatchResult) -> list[str]:
    return [step.kind for step in result.steps]


async def all_steps(scene: Scene) -> WatchResult:
    """Look on until the end; every look adds its steps."""
    steps: list[Any] = []
    async with asyncio.timeout(5):
        while True:
            found = await scene.look(Look(timeout_s=5.0))
            steps += found.steps
            if found.terminal and not found.has_more:
                return found.model_copy(update={"steps": tuple(steps)})
