"""What is about to be removed is shown as what it is, with its text, cleaned."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_tui.state.doomed import MAX_TEXT_CHARS, doomed_event, doomed_record
from support.fake_records import identity, memory
from support.room_events import PERSON, event


@pytest.mark.parametrize(
    ("kind", "body", "what", "text"),
    [
        ("message.created", {"content": "hi"}, "message", "hi"),
        ("turn.reasoning.recorded", {"content": "so"}, "reasoning", "so"),
        ("turn.failed", {"partialText": "half", "errorMessage": "why"}, "end of a turn", "half"),
        ("memory.remembered", {"record": {"content": "fact"}}, "memory record", "fact"),
        ("identity.remembered", {"record": {"content": "I"}}, "note about an agent", "I"),
        ("room.renamed", {"title": "Secret"}, "title of a room", "Secret"),
        ("of.a.later.version", {"message": "told"}, "event", "told"),
        ("message.created", {"content": "x", "redacted": True}, "message", "[removed]"),
    ],
)
def test_an_event_is_called_what_it_is(kind: str, body: Any, what: str, text: str) -> None:
    doomed = doomed_event(event(kind, body, seq=1, actor=PERSON))
    assert doomed is not None
    assert (doomed.what, doomed.text, doomed.by) == (what, text, "Operator")
    assert doomed.is_gone == (text == "[removed]")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("turn.queued", {"message": "x"}),
        ("content.redacted", {"message": "x"}),
        ("turn.started", {}),
        ("message.created", {"content": "  "}),
    ],
)
def test_what_has_no_text_cannot_be_removed(kind: str, body: Any) -> None:
    assert doomed_event(event(kind, body, seq=1)) is None


def test_a_tool_call_shows_what_went_in_and_out() -> None:
    details = {"title": "cat key", "input": {"file": "key"}, "content": [{"text": "7731"}]}
    doomed = doomed_event(event("tool.progress.recorded", {"details": details}, seq=1))
    assert doomed is not None
    assert [part in doomed.text for part in ("cat key", '"file"', "7731")] == [True] * 3


def test_a_long_and_hostile_text_is_clipped_and_cleaned() -> None:
    said = event("message.created", {"content": "\x1b[31m" + "x" * 9_000}, seq=1)
    doomed = doomed_event(said, is_answer=True)
    assert doomed is not None
    assert doomed.what == "answer"
    assert "\x1b" not in doomed.text
    assert len(doomed.text) <= MAX_TEXT_CHARS
    assert len(doomed.whole) > 9_000


def test_records_are_called_by_whose_they_are() -> None:
    day = memory(1, "worked", place="dated", owner_id="agent:codex")
    whats = [doomed_record(kept, "You") for kept in (memory(1, "a"), day, identity(1, "b", "u"))]
    assert [(d.what, d.is_day) for d in whats] == [
        ("memory record", False),
        ("day of an agent", True),
        ("note about an agent", False),
    ]
