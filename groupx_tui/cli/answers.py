"""What is known of the turns that one message led to: a pure fold over events.

Text is kept as it came; whoever prints it cleans it. The counterpart that prints is `blocks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

ENDED: Final = frozenset({"completed", "failed", "cancelled", "interrupted"})
_STATUS_OF_TYPE: Final = {
    "turn.dispatched": "dispatching",
    "turn.started": "running",
    "turn.cancelling": "cancelling",
    **{f"turn.{status}": status for status in ENDED},
}


@dataclass(slots=True)
class Answer:
    """One turn. `received` characters of its text have come in order, from the beginning."""

    turn_id: str
    target: str
    status: str = "queued"
    received: int = 0
    pieces: list[str] = field(default_factory=list)
    messages: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """Messages that the turn has written: event id -> content and whether that is cut."""
    content: str | None = None
    is_cut: bool = False
    response_event_id: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    certainty: str | None = None
    """Did the agent get the message? Known of turns that did not complete."""

    @property
    def has_ended(self) -> bool:
        """Whether the turn is over."""
        return self.status in ENDED

    @property
    def is_uncertain(self) -> bool:
        """Whether nobody knows how it went on, or whether it began."""
        return self.status == "interrupted" or (
            self.status == "failed" and self.certainty == "unknown"
        )

    @property
    def text(self) -> str | None:
        """The answer, or what is known of it."""
        return self.content if self.content is not None else "".join(self.pieces) or None

    def to_json(self) -> dict[str, Any]:
        """The turn as `send --json` prints it."""
        return {
            "turnId": self.turn_id,
            "target": self.target,
            "status": self.status,
            "content": self.text,
            "responseEventId": self.response_event_id,
            "errorCode": self.error_code,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """What an event meant. piece: `text` follows what was received · gap: pieces before this one
    are missing · ended: the turn is over."""

    kind: Literal["piece", "gap", "ended"]
    answer: Answer
    text: str = ""


class Answers:
    """The turns of one message, by id, in the order of its targets."""

    def __init__(self, turns: Iterable[dict[str, Any]]) -> None:
        self.by_id = {
            str(turn["turnId"]): Answer(str(turn["turnId"]), str(turn["target"])) for turn in turns
        }

    @property
    def open(self) -> list[Answer]:
        """Turns that have not ended."""
        return [answer for answer in self.by_id.values() if not answer.has_ended]

    def apply(self, event: dict[str, Any]) -> Change | None:
        """Take one event in; None when it changes nothing that is printed."""
        body = event.get("body") or {}
        answer = self.by_id.get(str(body.get("turnId")))
        if answer is None or answer.has_ended:
            return None
        kind = event.get("type")
        if kind == "turn.content.delta":
            return _piece(answer, int(body.get("offset") or 0), str(body.get("text") or ""))
        if kind == "message.created":
            message = (str(body.get("content") or ""), bool(body.get("cut")))
            answer.messages[str(event.get("eventId"))] = message
            return None
        return _status(answer, _STATUS_OF_TYPE.get(str(kind)), body)

    def apply_snapshot(self, answer: Answer, turn: dict[str, Any]) -> Change | None:
        """Take in a turn as the server shows it: its text so far, when that is more."""
        text = turn.get("content") or turn.get("partialText") or ""
        return None if answer.has_ended else _piece(answer, 0, str(text))


def _piece(answer: Answer, offset: int, text: str) -> Change | None:
    if answer.status in ("queued", "dispatching"):
        answer.status = "running"
    if offset > answer.received:
        return Change("gap", answer)
    new = text[answer.received - offset :]
    if not new:
        return None
    answer.pieces.append(new)
    answer.received += len(new)
    return Change("piece", answer, new)


def _status(answer: Answer, status: str | None, body: dict[str, Any]) -> Change | None:
    if status is None:
        return None
    answer.status = status
    if status not in ENDED:
        return None
    answer.error_code = body.get("errorCode")
    answer.error_message = body.get("errorMessage") or body.get("reason")
    answer.certainty = body.get("deliveryCertainty")
    _choose_content(answer, body)
    return Change("ended", answer)


def _choose_content(answer: Answer, body: dict[str, Any]) -> None:
    """The response is the message that the turn's end names; without one, what came so far."""
    answer.response_event_id = body.get("responseEventId")
    response = answer.messages.get(str(answer.response_event_id))
    partial = str(body.get("partialText") or "")
    if response is not None:
        answer.content, answer.is_cut = response
    elif len(partial) > answer.received:
        answer.content = partial
