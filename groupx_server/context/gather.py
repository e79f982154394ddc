"""Reading what a context packet is made of, in one snapshot of the ledger.

Built at dispatch: what was said while the turn waited is in it. The agent's own answers are left
out (its native session remembers them) unless that session is new; so are messages that will
reach the agent as turns of their own.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupx_server.context.packet import SOFT_SHARE, Packet, PacketInput, build_packet
from groupx_server.context.recall import all_records, read_records
from groupx_server.ledger.dispatch import delivered_seq
from groupx_server.ledger.messages import SpokenMessage, newest_between, read_message, said_after
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.turns import open_sources
from groupx_shared.errors import ErrorCode, GroupXError
from groupx_shared.wire.replies import ContextUsage

MAX_REPLY_DEPTH: Final = 64
MAX_DELTA_MESSAGES: Final = 2_000
"""Messages read for one packet; far more than fit a quarter of a million characters of talk."""
ENTRY_OVERHEAD: Final = 160
"""Characters of structure around one message, for the usage estimate."""
FENCE_BYTES: Final = 9


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


def gather_packet(connection: sqlite3.Connection, request: PacketRequest) -> Packet:
    """Read and render the packet. Raises: ContextBudgetError; GroupXError when the source message
    is gone."""
    current = read_message(connection, request.source_event_id)
    if current is None:
        raise GroupXError(
            f"The message {request.source_event_id} of this turn is not in the ledger.",
            code=ErrorCode.STORE_CONFLICT,
        )
    room = read_room(connection, request.room_id)
    after_seq = 0
    if not request.session_is_fresh:
        after_seq = delivered_seq(connection, request.actor_id, request.room_id)
    chain = _reply_chain(connection, current)
    delta = _delta(connection, request, after_seq, room.last_seq, [current, *chain])
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
        records=read_records(connection, request.room_id, request.actor_id),
    )
    return build_packet(source, _fence(source), request.max_chars)


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
    while True:
        fence = secrets.token_urlsafe(FENCE_BYTES)
        if not any(fence in text for text in texts):
            return fence


def context_usage(connection: sqlite3.Connection, room_id: str, max_chars: int) -> ContextUsage:
    """How full a packet over the whole room would be, in constant time: an estimate in
    characters, not tokens."""
    room = read_room(connection, room_id)
    said = said_after(connection, room_id, 0)
    estimate = said.chars + said.messages * ENTRY_OVERHEAD
    return ContextUsage(
        room_id=room_id,
        through_seq=room.last_seq,
        estimated_characters=estimate,
        max_characters=max_chars,
        compaction_trigger_characters=int(max_chars * SOFT_SHARE),
        utilization_percent=round(min(100.0, 100 * estimate / max_chars), 1),
        uncompacted_message_count=said.messages,
    )
