"""No event, however malformed, raises, and none brings a control character into the view."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groupx_shared.text import safe_text
from groupx_shared.wire.bodies import BODY_MODELS
from groupx_shared.wire.events import Event, EventActor
from groupx_shared.wire.replies import EventPage
from groupx_tui.state.model import ClientView
from groupx_tui.state.reduce import apply_events, apply_page
from groupx_tui.state.streamtext import StreamText
from support.hostile_bodies import HOSTILE, hostile_bodies
from support.room_events import event

EXAMPLES = int(os.environ.get("GROUPX_TEST_EXAMPLES", "60"))
TEXTS = st.sampled_from(
    [
        "a",
        "turn_1",
        "agent:x",
        "\x1b[2J",
        "\x9b0m",
        "",
        " ",
        "\u202e",
        "\r\n",
        "a\u200bb",
        "z" * 300,
    ]
)
NUMBERS = st.one_of(st.integers(-5, 40), st.integers(), st.floats(), st.booleans())
VALUES = st.recursive(
    st.one_of(st.none(), TEXTS, NUMBERS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
KEYS = sorted(
    {field.alias or "" for model in BODY_MODELS.values() for field in model.model_fields.values()}
)
BODIES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.one_of(st.sampled_from(KEYS), TEXTS), VALUES, max_size=8
)
TYPES = st.one_of(st.sampled_from(sorted(BODY_MODELS)), TEXTS)


RIGHT: dict[str, st.SearchStrategy[Any]] = {
    "turnId": st.sampled_from(["turn_1", "turn_2", "\x1b"]),
    "nativeType": st.sampled_from(["tool.started", "tool.completed"]),
    "kind": st.sampled_from(["waiting", "plan", "usage"]),
    "status": st.sampled_from(["completed", "running"]),
    "phase": st.sampled_from(["ready", "resumed", "failed"]),
    "details": st.fixed_dictionaries(
        {},
        optional={
            "title": TEXTS,
            "kind": TEXTS,
            "status": TEXTS,
            "input": VALUES,
            "content": st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=2),
            "locations": st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=2),
        },
    ),
    "entries": st.lists(st.dictionaries(TEXTS, TEXTS, max_size=2), max_size=2),
    "usage": st.dictionaries(TEXTS, VALUES, max_size=2),
    "offset": st.integers(-3, 30),
    "chunkIndex": st.integers(-3, 30),
}


def plausible(event_type: str) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies that fit their type, so that the inner paths are reached too."""
    fields = BODY_MODELS[event_type].model_fields.values()
    needed = {field.alias or "" for field in fields if field.is_required()}
    allowed = {field.alias or "" for field in fields} - needed
    return st.fixed_dictionaries(
        {key: RIGHT.get(key, TEXTS) for key in needed},
        optional={key: RIGHT.get(key, TEXTS) for key in allowed},
    )


def events_of(event_type: str, bodies: st.SearchStrategy[dict[str, Any]]) -> Any:
    return st.builds(
        Event,
        event_id=TEXTS,
        seq=st.one_of(st.none(), st.integers(1, 30), st.integers(1, 30), st.integers()),
        room_id=st.sampled_from(["room:main", "room:main", "room:main", "room:other", "\x1b"]),
        type=st.just(event_type),
        actor=st.builds(
            EventActor,
            actor_id=TEXTS,
            kind=st.sampled_from(["user", "agent", "system"]),
            display_name=TEXTS,
        ),
        to=st.lists(TEXTS, max_size=3).map(tuple),
        reply_to_event_id=st.one_of(st.none(), TEXTS),
        correlation_id=TEXTS,
        occurred_at=TEXTS,
        body=bodies,
    )


EVENTS = st.one_of(
    TYPES.flatmap(lambda kind: events_of(kind, BODIES)),
    st.sampled_from(sorted(BODY_MODELS)).flatmap(lambda kind: events_of(kind, plausible(kind))),
)


def strings_in(value: Any) -> list[str]:
    """Every string that a widget could draw."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, StreamText):
        return [str(value)]
    if dataclasses.is_dataclass(value):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return [text for field in fields for text in strings_in(field)]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings_in(part)]
    if isinstance(value, list | tuple | set | frozenset):
        return [text for item in value for text in strings_in(item)]
    return []


TEXT_TYPES = sorted(BODY_MODELS)
TURN_IDS = ("turn_1", HOSTILE)


@pytest.mark.parametrize("event_type", TEXT_TYPES)
@pytest.mark.parametrize("seq", [None, 9], ids=["live", "durable"])
def test_hostile_text_is_cleaned_in_every_field_of_every_body(
    event_type: str, seq: int | None
) -> None:
    author = EventActor(actor_id=HOSTILE, kind="agent", display_name=HOSTILE)
    for turn_id in TURN_IDS:
        queued = {"turnId": turn_id, "sourceEventId": HOSTILE, "targetActorId": HOSTILE}
        first = event("turn.queued", {**queued, "adapterId": "a"}, seq=1, to=(HOSTILE,))
        for body in hostile_bodies(BODY_MODELS[event_type], turnId=turn_id):
            second = event(event_type, body, seq=seq, actor=author, to=(HOSTILE,))
            view = apply_events(ClientView(), [first, second])
            assert [text for text in strings_in(view) if safe_text(text) != text] == []


@pytest.mark.parametrize("event_type", ["message.created", "operator.dispatch", "dream.seen"])
def test_hostile_text_is_cleaned_in_messages_and_unknown_events(event_type: str) -> None:
    author = EventActor(actor_id=HOSTILE, kind="user", display_name=HOSTILE)
    body = {"content": HOSTILE, HOSTILE: HOSTILE, "turnId": None}
    sent = event(event_type, body, seq=1, actor=author, reply_to_event_id=HOSTILE, room="room:main")
    view = apply_events(ClientView(), [sent])
    assert len(view.timeline.blocks) == 1
    assert [text for text in strings_in(view) if safe_text(text) != text] == []


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(EVENTS, max_size=12))
def test_hostile_events_never_raise_and_leave_nothing_unclean(events: list[Event]) -> None:
    view = apply_events(ClientView(), events)
    assert [text for text in strings_in(view) if safe_text(text) != text] == []
    again = apply_events(view, [each for each in events if each.seq is not None])
    assert [block.block_id for block in again.timeline.blocks] == [
        block.block_id for block in view.timeline.blocks
    ]


@settings(max_examples=EXAMPLES // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(EVENTS, max_size=8), st.sampled_from(["before", "after", "replace"]))
def test_hostile_pages_never_raise(events: list[Event], direction: Any) -> None:
    page = EventPage(
        room_id="room:main", events=tuple(events), has_more_before=True, has_more_after=True
    )
    view = apply_page(ClientView(), page, direction)
    orders = [block.order_seq for block in view.timeline.blocks if block.order_seq]
    assert orders == sorted(set(orders))
