"""What becomes a line of the timeline, and what stays silent."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_shared.wire.events import Event
from groupx_tui.state.model import ClientView, NoticeBlock
from groupx_tui.state.reduce import apply_events
from support.room_events import PERSON, agent_actor, event

SESSION = {"agentId": "codex", "actorId": "agent:codex"}


def notices(*events: Event) -> list[NoticeBlock]:
    blocks = apply_events(ClientView(), events).timeline.blocks
    return [block for block in blocks if isinstance(block, NoticeBlock)]


@pytest.mark.parametrize(
    ("event_type", "body", "words"),
    [
        ("room.created", {"title": "Plans"}, "Operator made this room: Plans"),
        (
            "room.renamed",
            {"title": "New", "previousTitle": "Old"},
            "Operator renamed this room: New (was: Old)",
        ),
        ("room.renamed", {"title": "New"}, "Operator renamed this room: New"),
        ("room.archived", {"title": "X"}, "Operator archived this room"),
        ("room.restored", {"title": "X"}, "Operator restored this room from the archive"),
        ("memory.remembered", {"record": {"content": "A\nB"}}, "Operator remembered: A B"),
        ("memory.superseded", {"record": {"content": "C"}}, "Operator corrected a memory: C"),
        ("memory.retracted", {"record": {}}, "Operator took a memory back"),
        (
            "memory.pinned",
            {"record": {}},
            "Operator pinned a memory: it always goes along",
        ),
        ("memory.unpinned", {"record": {}}, "Operator unpinned a memory"),
        (
            "identity.remembered",
            {"record": {"subjectActorId": "agent:codex", "content": "calm"}},
            "Operator noted about codex: calm",
        ),
        ("identity.retracted", {"record": {}}, "Operator took a note about somebody back"),
        ("routing.loop_continued", {"continues": 1}, "Operator let the agents go on"),
        (
            "supervision.paired",
            {
                "pairId": "p",
                "sourceEventId": "e",
                "watchEventId": "w",
                "workers": [{"actorId": "agent:codex", "turnId": "t"}],
                "observers": [{"actorId": "agent:eye", "turnId": "o"}],
            },
            "eye watches codex",
        ),
        (
            "context.reset",
            {"throughSeq": 4, "resetNativeSessions": True},
            "Operator let agents begin anew from here",
        ),
        (
            "content.redacted",
            {"kind": "event", "refId": "evt_1"},
            "Operator had a text removed for good",
        ),
        ("dream.seen", {"record": {}}, "dream.seen · Operator"),
        ("x\x1by", {"content": "said\nsomething"}, "x␛y · Operator · said something"),
        ("turn.queued", {"nonsense": 1}, "turn.queued · Operator"),
    ],
)
def test_an_event_becomes_a_line(event_type: str, body: dict[str, Any], words: str) -> None:
    (notice,) = notices(event(event_type, body, seq=1, actor=PERSON))
    assert (notice.text, notice.tone) == (words, "info")


def test_a_session_that_was_taken_up_again_is_said() -> None:
    body = {**SESSION, "phase": "resumed"}
    (notice,) = notices(event("session.resumed", body, seq=1, actor=agent_actor("codex")))
    assert notice.text == "Codex took up its earlier session again"


def test_a_session_that_took_the_place_of_a_lost_one_is_said() -> None:
    body = {**SESSION, "phase": "ready", "continuity": "new_after_resume_failure"}
    (notice,) = notices(event("session.ready", body, seq=1, actor=agent_actor("codex")))
    assert (notice.text, notice.tone) == (
        "Codex has a new session, with what was said here, for its earlier one is lost",
        "info",
    )


@pytest.mark.parametrize(
    ("phase", "words"),
    [("ready", "works"), ("resumed", "took up its earlier session again; works")],
)
def test_a_session_without_the_room_s_tools_says_why(phase: str, words: str) -> None:
    body = {**SESSION, "phase": phase, "hasTools": False, "toolsProblem": "It takes\nnone."}
    (notice,) = notices(event(f"session.{phase}", body, seq=1, actor=agent_actor("codex")))
    assert (notice.text, notice.tone) == (
        f"Codex {words} without the room's tools: It takes none.",
        "warning",
    )


def test_a_session_that_failed_says_why() -> None:
    body = {**SESSION, "phase": "failed", "errorCode": "X", "errorMessage": "No such\nprogram."}
    (notice,) = notices(event("session.failed", body, seq=1, actor=agent_actor("codex")))
    assert (notice.text, notice.tone) == (
        "Codex could not start a session: No such program.",
        "error",
    )


def test_agents_that_were_stopped_are_a_warning() -> None:
    body = {
        "kind": "ping_pong",
        "limit": 3,
        "message": "Two agents talk in circles.",
        "callerActorId": "agent:codex",
        "callerTurnId": "turn_1",
    }
    (notice,) = notices(event("routing.loop_stopped", body, seq=1))
    assert (notice.text, notice.tone) == ("Two agents talk in circles.", "warning")


STEERED = {"reason": "Wrong\nfile.", "subjectTurnId": "t", "pairId": "p"}
NUDGED = {"messageEventId": "e", "subjectTurnId": "t"}


@pytest.mark.parametrize(
    ("event_type", "body", "words", "tone"),
    [
        (
            "supervision.steered",
            {"action": "nudge", **STEERED},
            "advice by Eye: Wrong file.",
            "info",
        ),
        (
            "supervision.steered",
            {"action": "interrupt", **STEERED, "subjectActorId": "agent:codex"},
            "Eye stopped the turn of codex: Wrong file.",
            "warning",
        ),
        (
            "supervision.nudged",
            {"outcome": "unknown", **NUDGED},
            "whether the advice by Eye arrived is not known; it is not sent again",
            "warning",
        ),
    ],
)
def test_what_an_observer_does_is_shown_as_advice_by_an_agent_with_its_reason(
    event_type: str, body: dict[str, Any], words: str, tone: str
) -> None:
    (notice,) = notices(event(event_type, body, seq=1, actor=agent_actor("eye")))
    assert (notice.text, notice.tone) == (words, tone)


LOOKED = {
    "watchTurnId": "o",
    "subjectTurnId": "t",
    "until": "terminal",
    "timedOut": True,
    "status": "running",
    "cursor": "1-2",
}


@pytest.mark.parametrize(
    "silent",
    [
        event("supervision.observed", LOOKED, seq=1),
        event("supervision.nudged", {"outcome": "taken", **NUDGED}, seq=1),
        event("memory.remembered", {"record": {"sourceKind": "automatic_turn"}}, seq=1),
        event("session.ready", {**SESSION, "phase": "ready"}, seq=1),
        event(
            "turn.content.delta", {"turnId": "t", "chunkIndex": 1, "offset": 0, "text": ""}, seq=1
        ),
        event("session.failed", {**SESSION, "phase": "failed"}),
        event("context.compaction.started", {"phase": "started"}),
        event("dream.seen", {}, seq=0),
    ],
    ids=lambda silent: f"{silent.type}-{silent.seq}",
)
def test_an_event_is_silent(silent: Event) -> None:
    assert apply_events(ClientView(), [silent]).timeline.blocks == ()
