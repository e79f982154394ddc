"""The event envelope and the bodies: what is written can be read, and by older programs too."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from groupx_shared.wire.bodies import BODY_MODELS, TERMINAL_STATUSES, MessageBody, body_of
from groupx_shared.wire.events import TERMINAL_TYPES, TRANSIENT_TYPES, Event, EventActor, EventType
from support.room_events import event


def test_every_type_has_a_body_model() -> None:
    assert set(BODY_MODELS) == set(EventType)


def test_the_terminal_types_are_the_terminal_statuses() -> None:
    assert {kind.removeprefix("turn.") for kind in TERMINAL_TYPES} == TERMINAL_STATUSES
    assert not TERMINAL_TYPES & TRANSIENT_TYPES


def test_keys_are_camel_case_on_the_wire_and_nothing_is_lost() -> None:
    sent = event("message.created", {"content": "hi"}, seq=3, reply_to_event_id="evt_1")
    wire = json.loads(sent.to_wire())
    assert wire["schema"] == "groupx.event/0.1"
    assert (wire["eventId"], wire["roomId"]) == (sent.event_id, "room:main")
    assert wire["replyToEventId"] == "evt_1"
    assert Event.model_validate(wire) == sent


def test_an_unknown_key_is_ignored() -> None:
    wire = json.loads(event("message.created", {"content": "hi"}, seq=1).to_wire())
    wire["newField"] = {"of": "a newer server"}
    wire["body"]["mood"] = "good"
    read = Event.model_validate(wire)
    assert body_of(read) == MessageBody(content="hi")


def test_an_event_cannot_be_changed() -> None:
    sent = event("message.created", {"content": "hi"}, seq=1)
    with pytest.raises(ValidationError, match="frozen"):
        sent.seq = 2  # type: ignore[misc]


def test_a_type_of_a_newer_program_has_no_body_model() -> None:
    assert body_of(event("dream.recorded", {"x": 1}, seq=1)) is None


def test_a_body_that_does_not_fit_its_type_is_refused() -> None:
    with pytest.raises(ValidationError):
        body_of(event("turn.queued", {"turnId": 7}, seq=1))


def test_an_actor_is_a_user_an_agent_or_the_system() -> None:
    with pytest.raises(ValidationError):
        EventActor.model_validate({"actorId": "x", "kind": "robot", "displayName": "X"})
