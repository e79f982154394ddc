"""A person lets agents go on that a limit has stopped.

One transaction: the root's limits count once more, what was held is accepted as its author said
it, and a turn that was not sent for its budget is sent again. Either all of that is done or, when
one of the messages is refused again, none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import AcceptMessage, Source, place_message
from groupx_server.ledger.commands import once
from groupx_server.ledger.pairs import Watch
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.stops import Pending, grant, pending_stops, record_continued
from groupx_server.ledger.turns import read_turn
from groupx_server.rooms.again import plan_again
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.roster import Roster
from groupx_server.rooms.turnrunner import Runtime
from groupx_server.rooms.watchorders import targets_of
from groupx_shared.wire.bodies import HeldCall, LoopContinuedBody
from groupx_shared.wire.replies import RootContinued


@dataclass(frozen=True, slots=True)
class _Going:
    """One person's wish to let a root go on."""

    correlation_id: str
    client_command_id: str
    source: Source
    roster: Roster
    limits: Limits
    now: str


class Loops:
    """What a person may do about stopped agents."""

    def __init__(self, runtime: Runtime, agents: Agents) -> None:
        self._runtime = runtime
        self._agents = agents

    async def let_go_on(
        self, correlation_id: str, client_command_id: str, source: Source
    ) -> RootContinued:
        """Let a stopped root go on; idempotent by `client_command_id`.

        Raises: RefusedError (UNKNOWN_EVENT: no such root; STORE_CONFLICT: nothing is stopped; and
        what accepting a held message can refuse).
        """
        runtime = self._runtime
        going = _Going(
            correlation_id,
            client_command_id,
            source,
            self._agents.roster,
            runtime.limits,
            runtime.clock.now(),
        )
        reply, is_new = await runtime.ledger.write(partial(_let_go_on, going=going))
        if is_new:
            self._agents.queued(target for sent in reply.messages for target in targets_of(sent))
        return reply


def _let_go_on(connection: sqlite3.Connection, going: _Going) -> tuple[RootContinued, bool]:
    is_new = False

    def act() -> dict[str, object]:
        nonlocal is_new
        is_new = True
        return _release(connection, going).model_dump(mode="json", by_alias=True, exclude_none=True)

    stored = once(
        connection,
        going.client_command_id,
        "root.continue",
        {"correlationId": going.correlation_id},
        act,
        going.now,
        going.source.binding_id,
    )
    return RootContinued.model_validate(stored), is_new


def _release(connection: sqlite3.Connection, going: _Going) -> RootContinued:
    stops = pending_stops(connection, going.correlation_id)
    room_id = stops[0].room_id
    granted = grant(connection, going.correlation_id, room_id, going.now)
    commands = [_command(connection, stop, going) for stop in stops]
    messages = tuple(
        place_message(connection, command, going.limits, going.now) for command in commands
    )
    body = LoopContinuedBody(
        continues=granted, released_event_ids=tuple(sent.message_event_id for sent in messages)
    )
    record_continued(connection, going.correlation_id, room_id, body, going.now)
    return RootContinued(
        correlation_id=going.correlation_id,
        room_id=room_id,
        continues=granted,
        messages=messages,
    )


def _command(connection: sqlite3.Connection, stop: Pending, going: _Going) -> AcceptMessage:
    if stop.body.held is None:
        return _unsent_turn(connection, stop, going)
    return _held_call(connection, stop, stop.body.held, going)


def _held_call(
    connection: sqlite3.Connection, stop: Pending, held: HeldCall, going: _Going
) -> AcceptMessage:
    """What the agent wanted to say, by the agent; nobody waits for an answer any more."""
    parent = read_turn(connection, stop.body.caller_turn_id)
    author = replace(
        going.source, actor_id=stop.body.caller_actor_id, instance_id=None, source_kind="mcp"
    )
    return AcceptMessage(
        client_command_id=going.client_command_id,
        room_id=stop.room_id,
        content=held.content,
        targets=_targets(going.roster, held.to),
        reply_to_event_id=held.reply_to_event_id,
        source=author,
        hop_count=parent.hop_count + 1,
        parent_turn_id=parent.turn_id,
        correlation_id=going.correlation_id,
        watch=_held_watch(held, going.roster),
    )


def _held_watch(held: HeldCall, roster: Roster) -> Watch | None:
    return Watch(_targets(roster, held.observers), held.brief or "") if held.observers else None


def _unsent_turn(connection: sqlite3.Connection, stop: Pending, going: _Going) -> AcceptMessage:
    """The message of a turn that was not sent, once more, in the same root."""
    turn_id = stop.body.caller_turn_id
    command = plan_again(connection, turn_id, going.client_command_id, "retry", going.source)
    targets = _targets(going.roster, [target.actor_id for target in command.targets])
    return replace(command, targets=targets, correlation_id=going.correlation_id)


def _targets(roster: Roster, names: Sequence[str]) -> list[Target]:
    entries = [roster.resolve(name) for name in names]
    return [Target(entry.actor_id, entry.driver) for entry in entries]
