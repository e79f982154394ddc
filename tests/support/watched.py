"""A room in which Kimi watches Codex, has advised it, and Codex goes on in another turn."""

from __future__ import annotations

from dataclasses import replace

from groupx_tui.state.model import (
    Author,
    Block,
    ClientView,
    MessageBlock,
    NoticeBlock,
    Pair,
    TimelineView,
    ToolView,
)
from groupx_tui.state.streamtext import StreamText
from groupx_tui.state.watching import ADVICE
from support.fake_session import AT, CODEX, KIMI, message, sample_view, turn

KIMI_AUTHOR = Author(KIMI.actor_id, KIMI.name, "agent")
PAIR = Pair("evt_1", "evt_2", (CODEX.actor_id,), (KIMI.actor_id,), ("turn_w",), ("turn_o",))
TOOL = ToolView("call_1", "pytest -q", "execute", "completed", True, duration_ms=1300)


def paired(seq: int) -> NoticeBlock:
    """The line that says who watches whom."""
    text = "kimi-k2 watches codex"
    return NoticeBlock(f"note:evt_{seq}", seq, AT, text, root_id="corr_1", pair=PAIR)


def advice(seq: int) -> MessageBlock:
    """What Kimi advised."""
    text = "Do not touch the public names; the tests of others use them."
    return message(seq, text, KIMI_AUTHOR, to=("Codex",), kind=ADVICE, root_id="corr_1")


def blocks() -> tuple[Block, ...]:
    """All of it."""
    return (
        message(1, "Split the parser into two modules.", to=("Codex",), root_id="corr_1"),
        message(2, "Watch that no public name changes.", to=("Kimi",), kind="supervision.watch"),
        paired(3),
        turn(
            "turn_w", CODEX, "I renamed `parse` to `read`.", order_seq=5, phase="cancelled",
            queued_seq=3, root_id="corr_1", ended_at=AT, tools=(TOOL,),
        ),
        advice(6),
        turn(
            "turn_o", KIMI, "It changes names again.", queued_seq=4, root_id="corr_3",
            started_at=AT, reasoning=StreamText("The diff renames a function."),
        ),
        turn(
            "turn_w2", CODEX, "The names stay. Next: `scanner.py`.", queued_seq=7,
            root_id="corr_1", started_at=AT,
        ),
    )  # fmt: skip


def watched_view() -> ClientView:
    """A view of that room."""
    view = sample_view()
    shown = TimelineView(view.room_id, blocks(), first_seq=1, last_seq=7, total_messages=5)
    open_turns = tuple(b for b in blocks() if getattr(b, "is_open", False))
    return replace(view, timeline=shown, open_turns=open_turns)  # type: ignore[arg-type]
