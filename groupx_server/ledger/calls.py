"""A call of one agent to others: a message with turns below the caller's, in one transaction.

Everything that says who called follows from the caller's turn: author, room, root, parent, hop.
A refusal by a limit is written down for the people in the room and given back, not raised, so
that it is kept; any other refusal is raised and leaves nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import AcceptMessage, Source, accept_message
from groupx_server.ledger.callers import Caller, CallerTurn, require_turn
from groupx_server.ledger.pairs import Watch, pair_of
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.stops import Stop, Stopped, is_limit, record_stop
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.bodies import HeldCall
from groupx_shared.wire.replies import MessageAccepted

CallKind = Literal["send", "publish", "ask"]


@dataclass(frozen=True, slots=True)
class AgentCall:
    """What an agent wants to say. `command_id` need only differ from others of the same turn."""

    caller: Caller
    kind: CallKind
    command_id: str
    content: str
    targets: Sequence[Target] = ()
    reply_to_event_id: str | None = None
    """None: the message that the caller's turn answers."""
    watch: Watch | None = None
    """Who shall watch the targets."""


@dataclass(frozen=True, slots=True)
class CallPlaced:
    """It is on disk; `is_new` is false when it was before."""

    turn: CallerTurn
    reply: MessageAccepted
    is_new: bool


@dataclass(frozen=True, slots=True)
class CallStopped:
    """A limit refused it; people see `stopped`."""

    error: RefusedError
    stopped: Stopped


def place_call(
    connection: sqlite3.Connection, call: AgentCall, limits: Limits, now: str
) -> CallPlaced | CallStopped:
    """Accept the call, or write down by which limit it was stopped.

    Raises: RefusedError (MCP_BINDING_MISMATCH, SUPERVISION_STEER_REQUIRED, CAUSAL_CYCLE,
    UNKNOWN_EVENT, ROOM_ARCHIVED, CLIENT_COMMAND_CONFLICT, STORE_CONFLICT).
    """
    turn = require_turn(connection, call.caller)
    _require_no_subject(connection, call, turn)
    command = _command(call, turn)
    try:
        accepted = accept_message(connection, command, limits, now)
    except RefusedError as error:
        if not is_limit(error):
            raise
        stop = stop_of(command, call.caller, turn, error)
        return CallStopped(error, record_stop(connection, stop, now))
    return CallPlaced(turn, accepted.reply, not accepted.replayed)


def _command(call: AgentCall, turn: CallerTurn) -> AcceptMessage:
    source = Source(call.caller.binding_id, call.caller.actor_id, turn.instance_id, "mcp")
    return AcceptMessage(
        client_command_id=f"{turn.turn_id}/{call.command_id}",
        room_id=call.caller.room_id,
        content=call.content,
        targets=call.targets,
        reply_to_event_id=call.reply_to_event_id or turn.source_event_id,
        source=source,
        command_type=f"mcp.{call.kind}",
        hop_count=turn.hop_count + 1,
        parent_turn_id=turn.turn_id,
        correlation_id=turn.correlation_id,
        is_asked=call.kind == "ask",
        watch=call.watch if call.targets else None,
    )


def stop_of(command: AcceptMessage, caller: Caller, turn: CallerTurn, error: RefusedError) -> Stop:
    """The stop that people see, with what the agent wanted to say."""
    targets = tuple(target.actor_id for target in command.targets)
    watch = command.watch
    return Stop(
        room_id=caller.room_id,
        correlation_id=turn.correlation_id,
        caller_actor_id=caller.actor_id,
        caller_turn_id=turn.turn_id,
        error=error,
        targets=targets,
        held=HeldCall(
            content=command.content,
            to=targets,
            reply_to_event_id=command.reply_to_event_id,
            observers=() if watch is None else tuple(t.actor_id for t in watch.observers),
            brief=None if watch is None else watch.brief or None,
        ),
    )


def _require_no_subject(connection: sqlite3.Connection, call: AgentCall, turn: CallerTurn) -> None:
    """An observer advises; it does not work with those it watches."""
    pair = pair_of(connection, turn.turn_id)
    if pair is None:
        return
    watched = {subject.actor_id for subject in pair.subjects}
    for target in call.targets:
        if target.actor_id in watched:
            raise RefusedError(
                f"You watch {target.actor_id}, so you cannot send to it or ask it. Use “steer” to "
                "advise it or to stop it.",
                code=ErrorCode.SUPERVISION_STEER_REQUIRED,
            )
