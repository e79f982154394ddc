"""Blocks as they are drawn: every kind, every state, folded and unfolded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from groupx_tui.state.model import Block, ToolView, TurnBlock
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.document import Document, Scene
from groupx_tui.widgets.timeline.hints import KeyHints
from support import timelines


def _document(*blocks: Block, width: int = 70) -> Document:
    now = timelines.START + timedelta(minutes=2)
    document = Document(Scene(width=width, tz=UTC, now=now))
    document.show(timelines.view(*blocks))
    return document


def _lines(document: Document, index: int = 0, *, has_lead: bool = False) -> list[str]:
    """Return what is drawn of a block."""
    return [
        row.strip.text.rstrip()
        for part in document.state(index).parts
        if part.is_content or part.key == "gap" or has_lead
        for row in document.layout(part).rows
    ]


def _draw(block: Block, width: int = 70) -> list[str]:
    return _lines(_document(block, width=width))


def test_a_persons_message_is_drawn_as_it_was_typed() -> None:
    block = timelines.message(1, "# not a *heading*\n- x", to=("codex", "claude"))
    assert _draw(block) == ["You · 14:04 → codex, claude", "# not a *heading*", "- x"]


def test_an_agents_message_is_markdown() -> None:
    assert _draw(timelines.message(1, "*hi*\n- x", timelines.CODEX))[1:] == ["hi", "• x"]


def test_a_message_says_that_it_is_on_its_way_or_refused() -> None:
    block = timelines.message(1, "hello", is_pending=True)
    assert _draw(block)[0] == "You · sending"
    refused = replace(block, refusal="The room is archived.")
    assert _draw(refused) == ["You · not sent", "hello", "✗ The room is archived."]


@pytest.mark.parametrize(
    ("fields", "header"),
    [
        ({"phase": "queued"}, "codex · queued"),
        ({"phase": "queued", "queue_position": 0}, "codex · queued"),
        ({"phase": "queued", "queue_position": 1}, "codex · queued · next"),
        ({"phase": "queued", "queue_position": 2}, "codex · queued · 2nd in line"),
        ({"phase": "dispatching"}, "codex · sent · 59 s"),
        ({"phase": "running"}, "codex · working · 59 s"),
        ({"phase": "running", "silent_s": 12.4}, "codex · waiting for the model · 12 s"),
        (
            {"phase": "running", "silent_s": 20.0, "silent_at": timelines.at(105)},
            "codex · waiting for the model · 35 s",
        ),
        (
            {"phase": "dispatching", "silent_s": 20.0, "silent_at": timelines.at(129)},
            "codex · sent · 20 s",
        ),
        (
            {"phase": "queued", "queue_position": 1, "behind_room_id": "room:ideas"},
            "codex · queued · next behind work in the room ideas",
        ),
        ({"phase": "completed"}, "codex · answered · 12 s · 14:04"),
        ({"phase": "cancelled"}, "codex · cancelled · 12 s · 14:04"),
    ],
)
def test_a_turn_says_how_it_stands(fields: dict[str, object], header: str) -> None:
    phase = str(fields.pop("phase"))
    assert _draw(timelines.turn(1, "", phase, **fields)) == [header]


def test_a_queued_turn_names_what_it_waits_for() -> None:
    document = _document(
        timelines.message(1, "fix the tests"),
        timelines.turn(2, "", "running", source_event_id="evt_1"),
        timelines.turn(3, "", "queued", queue_position=1),
    )
    assert _lines(document, 2) == ["codex · queued · next behind “fix the tests”"]


def test_an_answer_to_an_older_message_quotes_it() -> None:
    document = _document(
        timelines.message(1, "the first question, which is a rather long one"),
        timelines.message(2, "the second question"),
        timelines.turn(3, "", source_event_id="evt_1"),
        timelines.turn(4, "", source_event_id="evt_2"),
        timelines.message(5, "I mean this", reply_to_event_id="evt_1"),
        timelines.message(6, "I mean that", reply_to_event_id="evt_unknown"),
        width=100,
    )
    quote = "re “the first question, which is a r…”"
    assert _lines(document, 2) == [f"codex · answered · 12 s · 14:06 · {quote}"]
    assert _lines(document, 3) == ["codex · answered · 12 s · 14:07"]
    assert _lines(document, 4)[0] == f"You · 14:08 · {quote}"
    assert _lines(document, 5)[0] == "You · 14:09"


def test_the_servers_duration_is_believed() -> None:
    assert _draw(timelines.turn(1, "", duration_ms=65_000)) == [
        "codex · answered · 1 m 05 s · 14:04"
    ]


def test_cut_messages_and_tools_say_so() -> None:
    assert _draw(timelines.message(1, "text", is_cut=True))[2:] == [
        "… cut here; the whole text can be loaded"
    ]
    tool = replace(timelines.TOOLS[0], is_cut=True)
    document = _document(timelines.turn(1, tools=(tool,)))
    document.scene.folds.set_kind("tool", is_open=True)
    document.touch()
    assert _lines(document)[-1] == "  … cut here"


def test_a_failed_turn_says_why_in_a_sentence() -> None:
    block = timelines.turn(1, "", "failed", error_code="GONE", error_message="codex ended")
    assert _draw(block)[1:] == ["✗ codex ended (GONE)"]


def test_an_interrupted_turn_says_uncertain_and_keeps_its_text() -> None:
    block = timelines.turn(1, "half", "interrupted", certainty="unknown")
    assert _draw(block) == [
        "codex · uncertain · 12 s · 14:04",
        "half",
        "… the answer ends here; it is not complete",
        "? uncertain: it may have arrived",
    ]
    lost = timelines.turn(1, "", "interrupted", certainty="not_delivered")
    assert _draw(lost) == ["codex · interrupted · 12 s · 14:04", "it did not arrive"]


def test_a_turn_that_is_being_stopped_says_what_it_waits_for_and_how_long() -> None:
    block = timelines.turn(1, "", "cancelling", cancelling_at=timelines.at(110), silent_s=3.0)
    assert _draw(block) == [
        "codex · stopping · 10 s",
        "waits for codex to stop; if it does not, its program is ended",
    ]


def test_the_hint_goes_once_a_later_message_takes_the_turn_up_again() -> None:
    failed = timelines.turn(2, "", "failed", error_message="codex ended")
    document = _document(failed)
    document.scene.keys = KeyHints("R", "C", "ctrl+g")
    document.touch()
    assert _lines(document)[-1] == "R retry"
    again = timelines.message(3, "fix it", again_of="turn_2")
    document.show(timelines.view(failed, again))
    assert _lines(document)[-1] == "taken up again below"


def test_an_answer_that_was_cut_or_stopped_early_says_so() -> None:
    block = timelines.turn(1, "text", stop_reason="max_tokens", is_cut=True)
    assert _draw(block)[2:] == [
        "… cut here; the whole text can be loaded",
        "! stopped: max tokens",
    ]
    assert _draw(timelines.turn(1, "text", stop_reason="end_turn"))[2:] == []


def _busy() -> TurnBlock:
    return timelines.turn(
        1,
        "answer",
        reasoning=StreamText("I think.\nA lot."),
        reasoning_ms=3_200,
        tools=timelines.TOOLS,
        plan=({"content": "Read", "status": "completed"}, {"content": "Fix", "status": "pending"}),
    )


def test_reasoning_plan_and_tools_are_a_line_each() -> None:
    assert _draw(_busy())[1:] == [
        "▸ reasoning · 15 chars · 3.2 s",
        "▸ plan · 1 of 2 done",
        "▸ ✓ Read reader.py · read · done · 0.4 s",
        "▸ ✓ Edit reader.py · edit · done · 1.2 s",
        "▸ ✗ pytest -q · execute · failed · 1 m 15 s",
        "▸ ⚙ grep rest · search · running",
        "",
        "answer",
    ]


def test_unfolded_records_show_what_happened() -> None:
    document = _document(_busy())
    for kind in ("reasoning", "plan", "tool"):
        document.scene.folds.set_kind(kind, is_open=True)
    document.touch()
    assert _lines(document)[1:-2] == [
        "▾ reasoning · 15 chars · 3.2 s",
        "  I think.",
        "  A lot.",
        "▾ plan · 1 of 2 done",
        "  ☑ Read",
        "  ☐ Fix",
        "▾ ✓ Read reader.py · read · done · 0.4 s",
        "  reader.py",
        "  reader.py:12",
        "  class Reader:",
        "      pass",
        "▾ ✓ Edit reader.py · edit · done · 1.2 s",
        '  {"path": "reader.py", "mode": "replace"}',
        "  reader.py  +2 −1",
        "  @@ -1,4 +1,5 @@",
        "   a",
        "   b",
        "   c",
        "  -return []",
        "  +return [self._rest]",
        "  +# done",
        "▾ ✗ pytest -q · execute · failed · 1 m 15 s",
        "  pytest -q",
        "  │ .F",
        "  │ 1 failed, 1 passed",
        "  exit code 1",
        "▾ ⚙ grep rest · search · running",
        "  no details",
    ]


def test_a_plan_says_what_is_being_done_only_while_it_is() -> None:
    plan = ({"content": "Read", "status": "completed"}, {"content": "Fix", "status": "in_progress"})
    working = timelines.turn(1, phase="running", plan=plan)
    assert "▸ plan · 1 of 2 done · Fix" in _draw(working)
    assert "▸ plan · 1 of 2 done" in _draw(timelines.turn(1, "answer", plan=plan))


def test_a_place_that_a_diff_names_is_not_named_twice() -> None:
    diff = {"type": "diff", "path": "a.py", "oldText": "x", "newText": "y"}
    places = ({"path": "a.py"}, {"path": "a.py", "line": 3}, {"path": "b.py"})
    tool = ToolView("c", "Edit", "edit", "completed", True, content=(diff,), locations=places)
    document = _document(timelines.turn(1, tools=(tool,)))
    document.scene.folds.toggle("turn:turn_1", "tool:c")
    document.touch()
    assert _lines(document)[2:4] == ["  a.py:3, b.py", "  a.py  +1 −1"]


def test_a_tool_with_a_strange_id_and_unknown_content_is_drawn() -> None:
    tool = ToolView("a::b", "", "other", "odd", True, content=({"type": "new", "x": 1},))
    document = _document(timelines.turn(1, tools=(tool,)))
    document.scene.folds.toggle("turn:turn_1", "tool:a::b")
    document.touch()
    assert _lines(document)[1:] == ["▾ ⚙ a::b · odd", '  {"type": "new", "x": 1}']


def test_days_and_the_start_of_the_room_are_marked() -> None:
    document = _document(
        timelines.message(1), timelines.message(2, at="2026-03-04T01:00:00Z"), width=40
    )
    first, second = (_lines(document, n, has_lead=True) for n in (0, 1))
    assert "start of the room" in first[0]
    assert "Tuesday 3 March 2026" in first[1]
    assert second[0] == ""
    assert "Wednesday 4 March 2026" in second[1]


def test_notices_in_a_row_stand_together() -> None:
    document = _document(timelines.notice(1), timelines.notice(2, "gone", tone="error"))
    assert _lines(document, 1, has_lead=True) == ["✗ gone · 14:05"]


@pytest.mark.parametrize("width", [17, 20, 33])
def test_every_kind_of_block_fits_narrow_terminals(width: int) -> None:
    document = _document(*timelines.every_kind().blocks, width=width)
    for kind in ("reasoning", "plan", "tool"):
        document.scene.folds.set_kind(kind, is_open=True)
    document.touch()
    for index in range(len(document.blocks)):
        for part in document.state(index).parts:
            assert all(row.strip.cell_length <= width for row in document.layout(part).rows)
