"""A whole turn with one agent, in a scratch room of its own: the real driver, the real lane.

Owns a ledger in a temporary folder that is gone at the end. Invariants: nothing of the person's
rooms is read or written; the agent works in an empty folder; every wait is bounded; a failure is a
report. The prompt is tiny, and it is the only thing that costs.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from groupx_server.agents.leftovers import MARK, sweep
from groupx_server.agents.registry import DriverRegistry
from groupx_server.agents.watchdog import Guard
from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import Source
from groupx_server.ledger.startup import RosterRow, settle_at_start
from groupx_server.ledger.store import Ledger
from groupx_server.probe.report import Report
from groupx_server.probe.subjects import Subject
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_server.rooms.service import RoomService
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.text import safe_line
from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.bodies import TERMINAL_STATUSES
from groupx_shared.wire.replies import TurnInfo
from groupx_shared.wire.requests import SendMessage

PROMPT: Final = "This is a test of the connection. Answer with the one word: ready"
_SIGNS: Final = ("turn.content.delta", "turn.reasoning.delta", "tool.progress")


class _Watch:
    """When what happened; takes the live events as the fan-out would."""

    def __init__(self) -> None:
        self.marks: dict[str, float] = {}
        self.tools: set[str] = set()
        self.reason = ""
        """What the agent last said that it waits for."""

    def publish_transient(
        self, data: bytes, room_id: str | None, merge_key: str | None = None
    ) -> None:
        event: dict[str, Any] = orjson.loads(data)
        if event["type"] == "agent.status":
            self._status(event["body"]["status"])
        elif event["type"] in _SIGNS:
            self.marks.setdefault("sign", time.monotonic())
        elif event["type"] == "turn.progress":
            self.reason = event["body"].get("reason") or self.reason
        if event["type"] == "tool.progress":
            self.tools.add(event["body"]["toolCallId"])

    def turn_ended(self, turn_id: str) -> None:
        """Nothing is kept of it."""

    def _status(self, status: str) -> None:
        """Whatever follows on “starting” means that it has started, or that it will not."""
        if status == "starting":
            self.marks.setdefault("starting", time.monotonic())
        elif "starting" in self.marks:
            self.marks.setdefault("started", time.monotonic())


async def run_turn(
    report: Report, subject: Subject, scratch: Path, guard: Guard, limit_s: float
) -> None:
    """Complete `report` by one turn in `scratch`, an empty folder; at most `limit_s` for it."""
    work = scratch / "work"
    work.mkdir()
    watch = _Watch()
    async with await Ledger.open(scratch / "groupx.db") as ledger:
        entry = _entry_in(subject, work, ledger.ledger_id)
        clock = Clock()
        row = RosterRow(entry.actor_id, entry.display_name, True)
        await ledger.write(lambda book: settle_at_start(book, [row], Limits(), clock.now()))
        runtime = Runtime(ledger, watch, Limits(), clock)
        agents = Agents(runtime, Roster([entry], entry.actor_id), DriverRegistry(guard))
        service = RoomService(runtime, agents)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(agents.run())
            sent_at = time.monotonic()
            try:
                turn = await _one_turn(service, ledger, entry, limit_s)
                _tell(report, turn, watch, sent_at, agents.board.info(entry))
            except TimeoutError:
                report.state = "failed"
                waits = f" It waits: {watch.reason}" if watch.reason else ""
                report.problem = f"The turn did not end within {limit_s:g} s.{waits}"
            finally:
                stopping_at = time.monotonic()
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running
                report.stop_s = time.monotonic() - stopping_at
        if left := sweep(ledger.ledger_id):
            report.advice = f"It left {len(left)} of its processes behind, now ended."


def _entry_in(subject: Subject, work: Path, ledger_id: str) -> RosterEntry:
    """The agent as configured, working in the scratch folder; a program named by a relative path
    is still found where it is."""
    spec = subject.entry.spec
    argv = list(spec.argv)
    if argv and "/" in argv[0]:
        argv[0] = str(spec.cwd / argv[0])
    spec = replace(spec, argv=argv, cwd=work, env={MARK: ledger_id, **spec.env})
    return replace(subject.entry, spec=spec, enabled=True)


async def _one_turn(
    service: RoomService, ledger: Ledger, entry: RosterEntry, limit_s: float
) -> TurnInfo:
    request = SendMessage(client_command_id="self-test", content=PROMPT, to=[entry.actor_id])
    accepted = await service.send(request, Source())
    async with asyncio.timeout(limit_s):
        while True:
            seen = ledger.last_seq
            turn = await service.turn(accepted.turns[0].turn_id)
            if turn.status in TERMINAL_STATUSES:
                return turn
            await ledger.changed(seen)


def _tell(report: Report, turn: TurnInfo, watch: _Watch, sent_at: float, card: AgentInfo) -> None:
    marks = watch.marks
    report.turn_s = time.monotonic() - sent_at
    if "started" in marks:
        report.start_s = marks["started"] - marks["starting"]
    if "sign" in marks:
        report.first_event_s = marks["sign"] - sent_at
    report.version = card.agent_version or report.version
    report.steps = len(watch.tools)
    if turn.status == "completed":
        report.state = "ready"
        report.answer = safe_line(turn.content or "", 200)
    else:
        report.state = "failed"
        if card.status in ("needs_login", "rate_limited"):
            report.state = card.status
        report.problem = safe_line(turn.error_message or f"The turn ended {turn.status}.", 600)
