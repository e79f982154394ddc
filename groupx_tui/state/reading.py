"""Reading event bodies tolerantly: what the earlier program or a newer one wrote never raises.

A body that does not fit its model is salvaged: a field of the wrong shape is left out, and a
missing one that this program always writes gets what can be told from the envelope. When that
does not help either, the event is shown as one of unknown type.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import BODY_MODELS, body_of
from groupx_shared.wire.events import Event, EventType


def read_body(event: Event) -> WireModel | None:
    """Return the event's typed body; None when its type is unknown or the body says too little."""
    try:
        return body_of(event)
    except ValidationError as error:
        return _salvaged(event, error)


def _salvaged(event: Event, error: ValidationError) -> WireModel | None:
    wrong = {problem["loc"][0] for problem in error.errors(include_url=False) if problem["loc"]}
    body = {key: value for key, value in event.body.items() if key not in wrong}
    for key, value in _from_envelope(event).items():
        body.setdefault(key, value)
    try:
        return BODY_MODELS[event.type].model_validate(body)
    except ValidationError:
        return None


def _from_envelope(event: Event) -> dict[str, Any]:
    """What the envelope tells about fields that older bodies lack."""
    first_target = event.to[0] if event.to else event.actor.actor_id
    match event.type:
        case EventType.TURN_QUEUED:
            source = event.causation_id or ""
            return {"sourceEventId": source, "targetActorId": first_target, "adapterId": ""}
        case EventType.TURN_DISPATCHED:
            return {"attemptId": "", "targetActorId": first_target}
        case EventType.TURN_STARTED:
            return {"attemptId": ""}
        case EventType.TURN_REASONING_RECORDED:
            return {"terminalStatus": ""}
        case EventType.TOOL_PROGRESS_RECORDED:
            call = {"toolCallId": event.event_id, "nativeType": "tool.completed"}
            return {**call, "details": {}}
        case _ if event.type.startswith("turn."):
            return {"status": event.type.removeprefix("turn.")}
        case _:
            return {}
