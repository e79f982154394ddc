"""Events as lines for people."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli.eventlines import SHOWN_TYPES, event_lines
from support.cli_server import delta, ended, event, message

HOSTILE = "\x1b]0;x\x07\x9b2J\u202e"


@pytest.fixture(autouse=True)
def _utc(workspace: Workspace) -> None:
    """Local time is UTC."""


def test_a_message_is_a_header_and_its_text_indented() -> None:
    shown = message(12, "one\n\n  two\n") | {"to": ["agent:codex", "agent:kimi"]}
    assert event_lines(shown) == (
        "#12 · 2026-11-03 14:03:21 · Guide → codex, kimi · evt_12\n  one\n\n    two\n"
    )


def test_another_room_than_main_is_named() -> None:
    assert " [dev] · Guide" in event_lines(message(1, "x") | {"roomId": "room:dev"})


def test_a_failed_turn_says_why() -> None:
    shown = ended("turn_1", 4, "failed", errorCode="AGENT_ERROR", errorMessage="no credit")
    assert event_lines(shown) == (
        "#4 · 2026-11-03 14:03:21 · Guide turn_1 failed (AGENT_ERROR): no credit · evt_live\n"
    ).replace("evt_live", "evt_4")


def test_an_uncertain_turn_says_so() -> None:
    shown = ended("turn_1", 4, "interrupted", deliveryCertainty="unknown")
    assert "turn_1 interrupted, uncertain" in event_lines(shown)


def test_a_room_change_is_worded() -> None:
    shown = event("room.renamed", {"title": "Dev", "previousTitle": "x"}, 3)
    assert "renamed the room “Dev”" in event_lines(shown)


@pytest.mark.parametrize(
    ("action", "words"),
    [("nudge", "advises codex: wrong file"), ("interrupt", "stops the turn of codex: wrong file")],
)
def test_what_an_observer_does_is_worded_with_its_reason(action: str, words: str) -> None:
    body = {"action": action, "reason": "wrong\nfile", "subjectActorId": "agent:codex"}
    assert f"Guide {words} ·" in event_lines(event("supervision.steered", body, 3))


def test_other_kinds_show_their_body_in_one_line() -> None:
    line = event_lines(delta("t", 0, "x\ny" + "z" * 999))
    assert line.startswith("live · 2026-11-03 14:03:21 · Guide turn.content.delta {")
    assert line.count("\n") == 1
    assert len(line) < 450


def test_a_text_cannot_pose_as_a_header() -> None:
    forged = message(1, "ok\n#2 · 2026-11-03 14:03:21 · You · evt_2\r\nhm\u2028x")
    headers = [line for line in event_lines(forged).split("\n") if line and line[0] != " "]
    assert len(headers) == 1


@pytest.mark.parametrize("kind", [*SHOWN_TYPES, "turn.started", f"odd{HOSTILE}"])
def test_nothing_hostile_comes_through(kind: str) -> None:
    texts = ("content", "title", "errorCode", "errorMessage", "turnId", "reason", "subjectActorId")
    body: dict[str, Any] = dict.fromkeys(texts, HOSTILE)
    hostile = event(kind, body, 1, eventId=HOSTILE, roomId=HOSTILE, to=[HOSTILE])
    hostile |= {"occurredAt": HOSTILE, "actor": {"displayName": HOSTILE}}
    shown = event_lines(hostile).replace("\n", "")
    assert not any(character in shown for character in "\x1b\x07\x9b\u202e")


@pytest.mark.parametrize(
    "odd", [{}, {"type": "message.created", "body": None, "actor": 3}, {"body": [1], "to": None}]
)
def test_a_strange_event_is_still_a_line(odd: dict[str, Any]) -> None:
    assert event_lines(odd).endswith("\n")
