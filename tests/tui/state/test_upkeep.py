"""How a summing up stands: told live, asked for, never older than what is known."""

from __future__ import annotations

from typing import Any

from groupx_shared.wire.context import CompactionInfo
from groupx_tui.state.model import ClientView
from groupx_tui.state.reduce import apply_bootstrap, apply_event, with_upkeep
from support.room_events import RoomScript, agent_info, event

STARTED: dict[str, Any] = {
    "operationId": "op_1",
    "phase": "started",
    "messageCount": 18,
    "sourceCharacters": 21_340,
    "generatorActorId": "agent:codex",
    "startedAt": "2026-11-30T09:15:00.000Z",
    "roomId": "room:main",
}
KIND = "context.compaction.started"


def shown() -> ClientView:
    script = RoomScript()
    script.say("hello")
    return apply_bootstrap(ClientView(), script.bootstrap(agents=(agent_info("codex"),)))


def test_a_live_event_of_the_shown_room_is_taken_in_with_the_writers_name() -> None:
    view = apply_event(shown(), event(KIND, {**STARTED, "errorMessage": "\x1b[2Jno"}))
    assert view.upkeep is not None
    assert (view.upkeep.writer, view.upkeep.messages, view.upkeep.is_running) == ("Codex", 18, True)
    assert "\x1b" not in view.upkeep.problem
    elsewhere = apply_event(view, event(KIND, {**STARTED, "roomId": "room:other", "part": 2}))
    assert elsewhere is view


def test_another_room_starts_without_one() -> None:
    view = apply_event(shown(), event(KIND, STARTED))
    reply = RoomScript().bootstrap()
    other = reply.room.model_copy(update={"room_id": "room:other"})
    elsewhere = apply_bootstrap(view, reply.model_copy(update={"room": other}))
    assert (elsewhere.room_id, elsewhere.upkeep) == ("room:other", None)
    assert apply_bootstrap(view, reply).upkeep == view.upkeep


def test_what_was_asked_for_is_taken_unless_more_is_known() -> None:
    running = CompactionInfo.model_validate({k: v for k, v in STARTED.items() if k != "roomId"})
    view = with_upkeep(shown(), "room:main", running)
    assert view.upkeep is not None
    assert with_upkeep(view, "room:main", running) is view
    assert with_upkeep(view, "room:other", None) is view
    done = running.model_copy(update={"phase": "completed"})
    ended = with_upkeep(view, "room:main", done)
    assert ended.upkeep is not None
    assert ended.upkeep.phase == "completed"
    assert with_upkeep(ended, "room:main", running) is ended  # the answer was on its way
    earlier = running.model_copy(update={"operation_id": "op_0", "started_at": "2026-11-29"})
    assert with_upkeep(view, "room:main", earlier) is view
    assert with_upkeep(view, "room:main", None).upkeep is None
