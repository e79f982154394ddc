"""Details of one turn or message, as facts: what happened when, how sure it is, what went wrong,
its ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from textual.content import Content

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.reader import Reader
from groupx_tui.state.model import MessageBlock, TurnBlock
from groupx_tui.widgets.facts import Fact
from groupx_tui.widgets.timeline.hints import is_uncertain
from groupx_tui.widgets.timeline.words import moment

LABEL_WIDTH: Final = 14
PHASE_WORDS: Final = {
    "queued": "queued: waits for the agent",
    "dispatching": "sent: the agent has not begun to answer",
    "running": "working",
    "cancelling": "asked to stop, not stopped yet",
    "completed": "answered",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}
UNCERTAIN: Final = (
    "uncertain: the agent may have received the message and acted on it. It is not sent again by "
    "itself. A retry may do it twice; look at what was done first."
)


def turn_screen(
    keymap: KeyMap, turn: TurnBlock, offers: Mapping[str, Callable[[], object]] | None = None
) -> Reader:
    """The dialog for `turn`; its copy key copies the id. `offers`: see `Reader`."""
    title, copies = f"Turn of {turn.author.name}", (turn.turn_id, "the id")
    return Reader(keymap, title, turn_facts(turn), LABEL_WIDTH, copies, offers)


def turn_facts(turn: TurnBlock) -> list[Fact]:
    """One row for each known fact."""
    facts = [
        ("state", _state(turn)),
        ("delivery", _certainty(turn)),
        ("error", _error(turn)),
        ("position", _position(turn)),
        ("queued", moment(turn.queued_at)),
        ("started", moment(turn.started_at)),
        ("asked to stop", moment(turn.cancelling_at)),
        ("ended", moment(turn.ended_at)),
        ("stop reason", turn.stop_reason or ""),
        ("answer", f"{len(turn.text):,} characters{' (cut)' if turn.is_cut else ''}"),
        ("reasoning", f"{len(turn.reasoning):,} characters" if len(turn.reasoning) else ""),
        ("plan", _plan(turn)),
        ("tools", str(len(turn.tools)) if turn.tools else ""),
        ("usage", _usage(turn)),
        ("turn", turn.turn_id),
        ("message", turn.source_event_id or ""),
        ("called by", turn.parent_turn_id or ""),
        ("root", turn.root_id),
        ("answer event", turn.response_event_id or ""),
    ]
    return _rows(facts)


def message_screen(
    keymap: KeyMap, message: MessageBlock, offers: Mapping[str, Callable[[], object]] | None = None
) -> Reader:
    """The dialog for a message; its copy key copies the id. `offers`: see `Reader`."""
    facts = [
        ("from", f"{message.author.name} ({message.author.actor_id})"),
        ("to", ", ".join(message.to) or "nobody"),
        ("at", moment(message.at)),
        ("state", _message_state(message)),
        ("length", f"{len(message.text):,} characters"),
        ("number", f"{message.order_seq:,}" if message.order_seq else ""),
        ("event", message.event_id),
        ("answers", message.reply_to_event_id or ""),
        (
            "passes on",
            f"{message.forwarded}, {message.forwarded_event_id}" * bool(message.forwarded),
        ),
        ("written in", message.turn_id or ""),
        ("root", message.root_id),
    ]
    copies = (message.event_id, "the id")
    return Reader(keymap, "Message", _rows(facts), LABEL_WIDTH, copies, offers)


def _message_state(message: MessageBlock) -> str:
    if message.refusal is not None:
        return f"not sent: {message.refusal}"
    return "not confirmed by the server yet" if message.is_pending else "on disk"


def _rows(facts: Iterable[tuple[str, str]]) -> list[Fact]:
    return [
        Fact(Content.styled(label, "$muted"), Content(value)) for label, value in facts if value
    ]


def _certainty(turn: TurnBlock) -> str:
    if turn.certainty == "unknown":
        return UNCERTAIN
    words = {"not_delivered": "the agent never got the message", "delivered": "delivered"}
    return words.get(turn.certainty or "", "")


def _state(turn: TurnBlock) -> str:
    if turn.phase == "interrupted" and is_uncertain(turn):
        return "uncertain: interrupted before its end was known"
    return PHASE_WORDS.get(turn.phase, turn.phase)


def _position(turn: TurnBlock) -> str:
    if not turn.queue_position:
        return ""
    where = turn.behind_room_id
    place = f"{turn.queue_position} before it"
    return f"{place}; the agent works in {where}" if where else place


def _error(turn: TurnBlock) -> str:
    return " · ".join(part for part in (turn.error_code, turn.error_message) if part)


def _plan(turn: TurnBlock) -> str:
    done = sum(entry.get("status") == "completed" for entry in turn.plan)
    return f"{done} of {len(turn.plan)} steps done" if turn.plan else ""


def _usage(turn: TurnBlock) -> str:
    usage = turn.usage or {}
    return ", ".join(f"{key} {value}" for key, value in usage.items() if isinstance(value, int))
