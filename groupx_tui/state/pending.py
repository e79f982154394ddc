"""Own messages on their way: shown at once, then durable or refused.

Pure like `reduce`. The invariant: an own message shows once, whether the reply or the event comes
first; only `drop_pending` takes a refused one away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groupx_shared.text import safe_text
from groupx_shared.wire.replies import MessageAccepted
from groupx_tui.state.builder import ViewBuilder
from groupx_tui.state.clean import clean_id, clean_sentence
from groupx_tui.state.messages import pending_block, pending_id
from groupx_tui.state.model import BlockId, ClientView, MessageBlock, TurnBlock
from groupx_tui.state.streamtext import StreamText


def add_pending(
    view: ClientView,
    client_command_id: str,
    text: str,
    to: Sequence[str] = (),
    *,
    at: str = "",
    reply_to_event_id: str | None = None,
) -> ClientView:
    """Return the view with an own message that is being sent now (`at`: ISO time, UTC)."""
    builder = ViewBuilder(view)
    block = pending_block(client_command_id, text, to, view.agents, at, reply_to_event_id)
    builder.window.pending.append(block)
    builder.window.changed.add(block.block_id)
    return builder.freeze()


def confirm_pending(
    view: ClientView, client_command_id: str, accepted: MessageAccepted
) -> ClientView:
    """Return the view in which the message has its place in the ledger. When its event has come
    already, or its room is not shown any more, nothing is left to do."""
    builder = ViewBuilder(view)
    window = builder.window
    pending = _take_out(builder, pending_id(client_command_id))
    is_shown = clean_id(accepted.room_id) == window.room_id
    if pending is None or not is_shown or not window.covers(accepted.seq):
        return builder.freeze()
    event_id = clean_id(accepted.message_event_id)
    block = replace(
        pending,
        block_id=f"msg:{event_id}",
        event_id=event_id,
        order_seq=accepted.seq,
        is_pending=False,
    )
    if window.at(accepted.seq) is None:
        window.put(block)
    return builder.freeze()


def refuse_pending(view: ClientView, client_command_id: str, reason: str) -> ClientView:
    """Return the view in which the message says why the server did not take it."""
    builder = ViewBuilder(view)
    for index, block in enumerate(builder.window.pending):
        if block.block_id == pending_id(client_command_id):
            refused = replace(block, refusal=clean_sentence(reason))
            builder.window.pending[index] = refused
            builder.window.changed.add(refused.block_id)
    return builder.freeze()


def drop_pending(view: ClientView, block_id: BlockId) -> ClientView:
    """Return the view without an own message that is not on disk."""
    builder = ViewBuilder(view)
    _take_out(builder, block_id)
    return builder.freeze()


def with_full_text(view: ClientView, block_id: BlockId, text: str) -> ClientView:
    """Return the view in which a cut block has its whole text."""
    builder = ViewBuilder(view)
    for block in builder.window.closed:
        if block.block_id != block_id:
            continue
        if isinstance(block, MessageBlock):
            builder.window.put(replace(block, text=safe_text(text), is_cut=False))
        elif isinstance(block, TurnBlock):
            builder.window.put(replace(block, text=StreamText(safe_text(text)), is_cut=False))
        break
    return builder.freeze()


def _take_out(builder: ViewBuilder, block_id: BlockId) -> MessageBlock | None:
    pending = builder.window.pending
    for index, block in enumerate(pending):
        if block.block_id == block_id:
            return pending.pop(index)
    return None
