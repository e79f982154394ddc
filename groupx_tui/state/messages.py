"""Messages that are not an agent's answer, and own messages that are not on disk yet.

The invariant: an own message shows from the moment it is sent, once, and its place does not jump
when it becomes durable. Which of the reply and the event comes first does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable

from groupx_shared.ids import USER_WEB
from groupx_shared.text import safe_text
from groupx_shared.wire.bodies import MessageBody
from groupx_shared.wire.events import Event
from groupx_tui.state.clean import author_of, clean_id, clean_name, optional_line
from groupx_tui.state.model import AgentView, Author, BlockId, MessageBlock


def message_block(
    event: Event, body: MessageBody, seq: int, names: Iterable[AgentView]
) -> MessageBlock:
    """Return the block of a durable message."""
    return MessageBlock(
        block_id=f"msg:{clean_id(event.event_id)}",
        order_seq=seq,
        event_id=clean_id(event.event_id),
        author=author_of(event.actor),
        at=optional_line(event.occurred_at) or "",
        text=safe_text(body.content),
        to=display_names(event.to, names),
        reply_to_event_id=optional_line(event.reply_to_event_id),
        is_cut=body.cut,
        again_of=optional_line(event.causation_id) if event.actor.kind == "user" else None,
        root_id=clean_id(event.correlation_id),
        turn_id=optional_line(event.causation_id) if event.actor.kind == "agent" else None,
        forwarded="" if body.forwarded is None else clean_name(body.forwarded.display_name),
        forwarded_event_id=optional_line(event.forwarded_event_id),
        kind=optional_line(body.kind),
    )


def pending_id(client_command_id: str) -> BlockId:
    """Block id of an own message until the ledger has given it an event id."""
    return f"msg:{clean_id(client_command_id)}"


def pending_block(
    client_command_id: str,
    text: str,
    to: Iterable[str],
    names: Iterable[AgentView],
    at: str,
    reply_to_event_id: str | None,
) -> MessageBlock:
    """Return the block of an own message that is being sent."""
    return MessageBlock(
        block_id=pending_id(client_command_id),
        order_seq=0,
        event_id="",
        author=Author(USER_WEB, "You", "user"),
        at=at,
        text=safe_text(text),
        to=display_names(to, names),
        reply_to_event_id=reply_to_event_id,
        is_pending=True,
    )


def is_same_message(pending: MessageBlock, durable: MessageBlock) -> bool:
    """Whether `durable` may be what `pending` became: same person, same words, same targets."""
    return (
        pending.is_pending
        and pending.refusal is None
        and pending.author.actor_id == durable.author.actor_id
        and pending.text == durable.text
        and set(pending.to) == set(durable.to)
    )


def display_names(actor_ids: Iterable[str], agents: Iterable[AgentView]) -> tuple[str, ...]:
    """Return what to show for targets: the cards' names, else the id's last part."""
    names = {agent.actor_id: agent.name for agent in agents}
    return tuple(display_name(actor_id, names) for actor_id in actor_ids)


def display_name(actor_id: str, names: dict[str, str]) -> str:
    """Return the name on the card of `actor_id`, else the last part of the id."""
    known = names.get(actor_id) or names.get(f"agent:{actor_id}")
    return known or clean_name(actor_id.rpartition(":")[2])
