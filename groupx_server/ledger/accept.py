"""Accepting a message: one transaction, or nothing (contract §7).

Receipt, message, one `turn.queued` and one turn for each target, all or none. Only after its
commit may anything be sent to an agent, so no agent ever works on a message that is not on disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groupx_server.domain.causality import check_cycle
from groupx_server.domain.command import canonical_hash
from groupx_server.domain.limits import Limits
from groupx_server.domain.supervision import check_pair
from groupx_server.ledger.commands import find_receipt, store_receipt
from groupx_server.ledger.events import NewEvent, insert_event, unknown_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.lineage import Link, read_chain
from groupx_server.ledger.pairs import Order, Watch, write_pair
from groupx_server.ledger.queueing import Cause, Target, queue_turn
from groupx_server.ledger.rooms import require_open_room
from groupx_server.ledger.rootlimits import enforce_limits
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import BINDING_LOCAL, INSTANCE_LOCAL, USER_WEB, new_id
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import MessageAccepted


@dataclass(frozen=True, slots=True)
class Source:
    """Who sends: always derived from the credential, never from the request."""

    binding_id: str = BINDING_LOCAL
    actor_id: str = USER_WEB
    instance_id: str | None = INSTANCE_LOCAL
    source_kind: str = "web"


@dataclass(frozen=True, slots=True)
class AcceptMessage:
    """What is to be accepted."""

    client_command_id: str
    room_id: str
    content: str
    targets: Sequence[Target]
    reply_to_event_id: str | None = None
    source: Source = field(default_factory=Source)
    command_type: str = "message.send"
    hop_count: int = 0
    parent_turn_id: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    """The turn that this message takes up again (retry, continue)."""
    is_asked: bool = False
    """The parent turn waits for the answers."""
    watch: Watch | None = None
    """Who shall watch the targets."""
    message_kind: str | None = None
    """`kind` of the message's body."""
    event_type: str = EventType.MESSAGE_CREATED
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other keys of the event's body; they follow from the rest and are no part of the hash."""
    forwarded_event_id: str | None = None
    """The event that is passed on with it."""
    existing_event_id: str | None = None
    """No new message: turns for this one, which keeps its author."""

    def hash(self) -> str:
        """Canonical hash over everything that makes it this message."""
        rare = {} if self.watch is None else {"watch": _hashed(self.watch)}
        for key in ("forwarded_event_id", "existing_event_id"):
            # Only where given: receipts of earlier versions stay true.
            rare |= {key: value} if (value := getattr(self, key)) is not None else {}
        return canonical_hash(
            self.command_type,
            {
                **rare,
                "roomId": self.room_id,
                "content": self.content,
                "targets": [target.actor_id for target in self.targets],
                "replyToEventId": self.reply_to_event_id,
                "parentTurnId": self.parent_turn_id,
                "hopCount": self.hop_count,
                "correlationId": self.correlation_id,
                "causationId": self.causation_id,
            },
        )


def _hashed(watch: Watch) -> dict[str, Any]:
    return {"observers": [target.actor_id for target in watch.observers], "brief": watch.brief}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The result; `replayed` when it was accepted before."""

    reply: MessageAccepted
    replayed: bool


def accept_message(
    connection: sqlite3.Connection, command: AcceptMessage, limits: Limits, now: str
) -> Accepted:
    """Write the message with its turns and receipt, or return the first result of the same
    command. Raises: RefusedError; nothing is written then."""
    command_hash = command.hash()
    binding = command.source.binding_id
    stored = find_receipt(
        connection, binding, command.client_command_id, command.command_type, command_hash
    )
    if stored is not None:
        return Accepted(MessageAccepted.model_validate(stored), replayed=True)
    reply = place_message(connection, command, limits, now)
    result = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
    store_receipt(
        connection,
        binding,
        command.client_command_id,
        command.command_type,
        command_hash,
        result,
        now,
    )
    failpoint("accept.before_commit")
    return Accepted(reply, replayed=False)


def place_message(
    connection: sqlite3.Connection, command: AcceptMessage, limits: Limits, now: str
) -> MessageAccepted:
    """Write the message with its turns, without a receipt. Raises: RefusedError before anything is
    written."""
    check_message(connection, command, limits)
    return _write(connection, command, command.correlation_id or new_id("corr"), now)


def check_message(connection: sqlite3.Connection, command: AcceptMessage, limits: Limits) -> None:
    """Raises: RefusedError when the message may not be placed."""
    require_open_room(connection, command.room_id)
    _require_reply(connection, command)
    chain = _chain(connection, command)
    targets = [target.actor_id for target in command.targets]
    if command.is_asked:
        check_cycle(chain, targets)
    if command.watch is not None:
        observers = [target.actor_id for target in command.watch.observers]
        check_pair(targets, observers, command.source.actor_id)
        targets += observers
    enforce_limits(
        connection,
        limits,
        correlation_id=command.correlation_id,
        hop_count=command.hop_count,
        chain=chain,
        targets=targets,
    )


def _chain(connection: sqlite3.Connection, command: AcceptMessage) -> list[str]:
    """The actors above an agent's call, empty for a person's message."""
    if command.parent_turn_id is None or not command.targets:
        return []
    link = Link(
        parent_turn_id=command.parent_turn_id,
        caller_actor_id=command.source.actor_id,
        room_id=command.room_id,
        correlation_id=command.correlation_id or "",
        hop_count=command.hop_count,
    )
    return read_chain(connection, link)


def _require_reply(connection: sqlite3.Connection, command: AcceptMessage) -> None:
    if command.reply_to_event_id is None:
        return
    row = connection.execute(
        "SELECT room_id FROM events WHERE event_id = ?", (command.reply_to_event_id,)
    ).fetchone()
    if row is None or row[0] != command.room_id:
        raise unknown_event(command.reply_to_event_id)


def _write(
    connection: sqlite3.Connection, command: AcceptMessage, correlation_id: str, now: str
) -> MessageAccepted:
    if command.existing_event_id is not None:
        message_id, seq = command.existing_event_id, _existing(connection, command)
    else:
        message_id, seq = write_message(connection, command, correlation_id, now)
    cause = Cause(
        message_id,
        command.room_id,
        correlation_id,
        command.hop_count,
        command.parent_turn_id,
        command.is_asked,
    )
    turns = [queue_turn(connection, target, cause, now) for target in command.targets]
    watched = None
    if command.watch is not None:
        source = command.source
        order = Order(source.actor_id, source.instance_id, turns, cause)
        watched = write_pair(connection, command.watch, order, now)
    return MessageAccepted(
        message_event_id=message_id,
        seq=seq,
        room_id=command.room_id,
        correlation_id=correlation_id,
        turns=tuple(turns),
        supervision=watched,
    )


def write_message(
    connection: sqlite3.Connection,
    command: AcceptMessage,
    correlation_id: str,
    now: str,
    *,
    wakes_nobody: bool = False,
) -> tuple[str, int]:
    """Write the message alone; return its event id and seq."""
    kind = {} if command.message_kind is None else {"kind": command.message_kind}
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=command.room_id,
        type=command.event_type,
        actor_id=command.source.actor_id,
        instance_id=command.source.instance_id,
        correlation_id=correlation_id,
        occurred_at=now,
        body={"content": command.content, **kind, **command.more},
        to=[] if wakes_nobody else [target.actor_id for target in command.targets],
        reply_to_event_id=command.reply_to_event_id,
        causation_id=command.causation_id or command.parent_turn_id,
        provenance={
            "sourceKind": command.source.source_kind,
            "authorActorId": command.source.actor_id,
        },
        forwarded_event_id=command.forwarded_event_id,
    )
    return event.event_id, insert_event(connection, event)


def _existing(connection: sqlite3.Connection, command: AcceptMessage) -> int:
    """Raises: RefusedError (UNKNOWN_EVENT; DUPLICATE_DISPATCH when a target has it already)."""
    event_id = command.existing_event_id or ""
    row = connection.execute(
        "SELECT m.seq FROM events e JOIN room_messages m ON m.room_id = e.room_id AND m.seq = e.seq"
        " WHERE e.event_id = ? AND e.room_id = ?",
        (event_id, command.room_id),
    ).fetchone()
    if row is None:
        raise unknown_event(event_id)
    for target in command.targets:
        known = connection.execute(
            "SELECT turn_id FROM turns WHERE source_event_id = ? AND target_actor_id = ?",
            (event_id, target.actor_id),
        ).fetchone()
        if known is not None:
            raise RefusedError(
                f"{target.actor_id} has this message already ({known[0]}). Retry that turn, or "
                "send a new message.",
                code=ErrorCode.DUPLICATE_DISPATCH,
                details={"turnId": known[0]},
            )
    return int(row[0])
