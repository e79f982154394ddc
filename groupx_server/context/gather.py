"""Reading what a context packet is made of, in one snapshot of the ledger.

Built at dispatch: what was said while the turn waited is in it. The agent's own answers are left
out (its native session remembers them) unless that session is new; so are messages that will
reach the agent as turns of their own. What the room's summary covers is told by the summary.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupx_server.context.fences import fence_for
from groupx_server.context.packet import (
    SOFT_SHARE,
    Checkpoint,
    Packet,
    PacketInput,
    Watched,
    build_packet,
)
from groupx_server.context.recall import all_records, read_records
from groupx_server.ledger.dispatch import delivered_seq
from groupx_server.ledger.messages import SpokenMessage, newest_between, read_message, said_after
from groupx_server.ledger.pairs import pair_of
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.summaries import Summary, active_summary, reset_floor
from groupx_server.ledger.turns import open_sources
from groupx_shared.errors import ErrorCode, GroupXError
from groupx_shared.wire.replies import ContextUsage

MAX_REPLY_DEPTH: Final = 64
MAX_DELTA_MESSAGES: Final = 2_000
"""Messages read for one packet; far more than fit a quarter of a million characters of talk."""
ENTRY_OVERHEAD: Final = 160
"""Characters of structure around one message, for the usage estimate."""


@dataclass(frozen=True, slots=True)
class PacketRequest:
    """Which turn the packet is for."""

    room_id: str
    source_event_id: str
    actor_id: str
    actor_name: str
    identity: str | None
    session_is_fresh: bool
    max_chars: int
    turn_id: str = ""
    soft_share: float = SOFT_SHARE
    draft: SpokenMessage | None = None
    """For a preview: the message that is not sent yet, in place of `source_event_id`."""


def gather_packet(connection: sqlite3.Connection, request: PacketRequest) -> Packet:
    """Read and render the packet. Raises: ContextBudgetError; GroupXError when the source message
    is gone."""
    current = request.draft or _source_message(connection, request.source_event_id)
    room = read_room(connection, request.room_id)
    after_seq = reset_floor(connection, request.room_id)
    if not request.session_is_fresh:
        after_seq = max(after_seq, delivered_seq(connection, request.actor_id, request.room_id))
    summary = active_summary(connection, request.room_id)
    if summary is not None and summary.through_seq <= after_seq:
        summary = None
    told_seq = after_seq if summary is None else summary.through_seq
    chain = _reply_chain(connection, current)
    delta = _delta(connection, request, told_seq, room.last_seq, [current, *chain])
    source = PacketInput(
        room_id=request.room_id,
        room_title=room.title,
        target_actor_id=request.actor_id,
        target_name=request.actor_name,
        after_seq=after_seq,
        through_seq=max(room.last_seq, current.seq),
        current=current,
        reply_chain=chain,
        delta=delta.messages,
        delta_total=delta.total,
        identity=request.identity,
        session_is_fresh=request.session_is_fresh,
        records=read_records(
            connection, request.room_id, request.actor_id, current.content, current.correlation_id
        ),
        watched=_watched(connection, request.turn_id),
        checkpoint=None if summary is None else _checkpoint(summary),
    )
    return build_packet(source, _fence(source), request.max_chars, request.soft_share)


def _source_message(connection: sqlite3.Connection, event_id: str) -> SpokenMessage:
    current = read_message(connection, event_id)
    if current is None:
        raise GroupXError(
            f"The message {event_id} of this turn is not in the ledger.",
            code=ErrorCode.STORE_CONFLICT,
        )
    return current


def _checkpoint(summary: Summary) -> Checkpoint:
    return Checkpoint(
        summary.summary_id,
        summary.generator_actor_id,
        summary.from_seq,
        summary.through_seq,
        summary.created_at,
        summary.content,
    )


def _watched(connection: sqlite3.Connection, turn_id: str) -> list[Watched]:
    pair = pair_of(connection, turn_id)
    if pair is None:
        return []
    return [Watched(s.turn_id, s.actor_id, pair.task_event_id) for s in pair.subjects]


@dataclass(frozen=True, slots=True)
class _Delta:
    messages: list[SpokenMessage]
    total: int


def _delta(
    connection: sqlite3.Connection,
    request: PacketRequest,
    after_seq: int,
    through_seq: int,
    shown: Sequence[SpokenMessage],
) -> _Delta:
    hidden = {message.event_id for message in shown}
    hidden |= open_sources(connection, request.actor_id, request.room_id)
    messages = newest_between(
        connection, request.room_id, after_seq, through_seq, MAX_DELTA_MESSAGES
    )
    kept = [
        message
        for message in messages
        if message.event_id not in hidden
        and (request.session_is_fresh or message.actor_id != request.actor_id)
    ]
    in_range = said_after(connection, request.room_id, after_seq).messages
    unread = max(0, in_range - len(messages))
    return _Delta(kept, len(kept) + unread)


def _reply_chain(connection: sqlite3.Connection, current: SpokenMessage) -> list[SpokenMessage]:
    """The messages that `current` answers, oldest first; a ring or a very long chain ends it."""
    chain: list[SpokenMessage] = []
    seen = {current.event_id}
    parent = current.reply_to_event_id
    while parent is not None and parent not in seen and len(chain) < MAX_REPLY_DEPTH:
        seen.add(parent)
        message = read_message(connection, parent)
        if message is None:
            break
        chain.append(message)
        parent = message.reply_to_event_id
    chain.reverse()
    return chain


def _fence(source: PacketInput) -> str:
    """A word that occurs nowhere in the packet's texts."""
    texts = [source.identity or "", source.current.content]
    texts += [message.content for message in (*source.reply_chain, *source.delta)]
    texts += [record.content for record in all_records(source.records)]
    texts += [] if source.checkpoint is None else [source.checkpoint.content]
    return fence_for(texts)


def context_usage(connection: sqlite3.Connection, room_id: str, max_chars: int) -> ContextUsage:
    """How full a packet over the whole room would be, in constant time: an estimate in
    characters, not tokens."""
    room = read_room(connection, room_id)
    floor, summary = reset_floor(connection, room_id), active_summary(connection, room_id)
    said = said_after(connection, room_id, floor if summary is None else summary.through_seq)
    estimate = said.chars + said.messages * ENTRY_OVERHEAD
    if summary is not None:
        estimate += len(summary.content) + ENTRY_OVERHEAD
    return ContextUsage(
        room_id=room_id,
        through_seq=room.last_seq,
        estimated_characters=estimate,
        max_characters=max_chars,
        compaction_trigger_characters=int(max_chars * SOFT_SHARE),
        utilization_percent=round(100 * estimate / max_chars, 1),
        uncompacted_message_count=said.messages,
        summary_through_seq=None if summary is None else summary.through_seq,
        summary_characters=None if summary is None else len(summary.content),
        reset_through_seq=floor or None,
    )
