"""Blocks and views for tests and demos of the timeline, all at fixed times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from groupx_tui.state.model import (
    Author,
    Block,
    MessageBlock,
    NoticeBlock,
    TimelineView,
    ToolView,
    TurnBlock,
)
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.document import is_counted

START = datetime(2026, 3, 3, 14, 3, tzinfo=UTC)
YOU = Author("user:me", "You", "user")
CODEX = Author("agent:codex", "codex", "agent")
CLAUDE = Author("agent:claude", "claude", "agent")
SYSTEM = Author("system:groupx", "GroupX", "system")

ANSWER = """\
The test fails because `parse_line` drops the **last** row. Two things to do:

1. keep the remainder in the buffer
2. flush it in `close()`

```python
def close(self) -> list[str]:
    \"\"\"Return what is left.\"\"\"
    return [self._rest] if self._rest else []
```

| file | lines | 说明 |
|---|---:|:---:|
| reader.py | 12 | 修复缓冲 |
| test_reader.py | 40 | 新测试 🎉 |

> One thing is *uncertain*: the old format.
"""


def at(seconds: float = 0) -> str:
    """Return the ISO time so many seconds after the start."""
    return (START + timedelta(seconds=seconds)).isoformat()


def message(seq: int, text: str = "hello", author: Author = YOU, **fields: Any) -> MessageBlock:
    """Return a message at its seq (a minute each)."""
    return MessageBlock(
        f"msg:evt_{seq}", seq, f"evt_{seq}", author, fields.pop("at", at(seq * 60)), text, **fields
    )


def notice(seq: int, text: str = "codex is ready", **fields: Any) -> NoticeBlock:
    """Return a notice at its seq."""
    return NoticeBlock(f"note:evt_{seq}", seq, at(seq * 60), text, **fields)


def turn(
    seq: int, text: str | StreamText = "", phase: str = "completed", **fields: Any
) -> TurnBlock:
    """Return a turn queued at `seq`; closed 12 s later unless its phase is an open one."""
    is_open = phase in ("queued", "dispatching", "running", "cancelling")
    values: dict[str, Any] = {
        "author": CODEX,
        "queued_at": at(seq * 60),
        "started_at": None if phase == "queued" else at(seq * 60 + 1),
        "ended_at": None if is_open else at(seq * 60 + 13),
        "response_event_id": f"evt_{seq}r" if phase == "completed" else None,
    }
    values.update(fields)
    return TurnBlock(
        block_id=f"turn:turn_{seq}",
        order_seq=None if is_open else seq,
        queued_seq=seq,
        turn_id=f"turn_{seq}",
        phase=phase,  # type: ignore[arg-type]  # tests name phases freely
        text=text if isinstance(text, StreamText) else StreamText(text),
        **values,
    )


def view(*blocks: Block, **fields: Any) -> TimelineView:
    """Return the view of a room with these blocks."""
    seqs = [block.order_seq for block in blocks if block.order_seq]
    values: dict[str, Any] = {
        "first_seq": min(seqs, default=0),
        "last_seq": max(seqs, default=0),
        "total_messages": sum(map(is_counted, blocks)),
        "total_events": max(seqs, default=0),
    }
    values.update(fields)
    return TimelineView(fields.pop("room_id", "room:main"), blocks, **_without_room(values))


def _without_room(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "room_id"}


def long_room(count: int) -> TimelineView:
    """Return a room of `count` messages with texts of different lengths."""
    return view(
        *(
            message(n, f"message {n} " + "lorem ipsum dolor " * (n * 7 % 23), author=author)
            for n, author in zip(
                range(1, count + 1), [YOU, CODEX, CLAUDE] * (count // 3 + 1), strict=False
            )
        )
    )


TOOLS = (
    ToolView(
        "call_1",
        "Read reader.py",
        "read",
        "completed",
        True,
        input={"path": "reader.py"},
        content=({"type": "text", "text": "class Reader:\n    pass\n"},),
        locations=({"path": "reader.py", "line": 12},),
        duration_ms=400,
    ),
    ToolView(
        "call_2",
        "Edit reader.py",
        "edit",
        "completed",
        True,
        input={"path": "reader.py", "mode": "replace"},
        content=(
            {
                "type": "diff",
                "path": "reader.py",
                "oldText": "a\nb\nc\nreturn []\n",
                "newText": "a\nb\nc\nreturn [self._rest]\n# done\n",
            },
        ),
        duration_ms=1_250,
    ),
    ToolView(
        "call_3",
        "pytest -q",
        "execute",
        "failed",
        True,
        input={"command": "pytest -q"},
        content=(
            {
                "type": "terminal",
                "output": "\u241b[32m.\u241b[0m\u241b[31mF\u241b[0m\n1 failed, 1 passed\n",
                "exitCode": 1,
            },
        ),
        duration_ms=75_000,
    ),
    ToolView("call_4", "grep rest", "search", "in_progress", False),
)


def every_kind() -> TimelineView:
    """Return a room with a block of every kind and state."""
    return view(
        message(1, "Please fix the failing test in `reader.py`\nand tell me why.", to=("codex",)),
        turn(
            2,
            ANSWER,
            source_event_id="evt_1",
            reasoning=StreamText("The user wants the test fixed. " * 40),
            reasoning_ms=3_200,
            tools=TOOLS[:3],
            plan=(
                {"content": "Read", "status": "completed"},
                {"content": "Fix", "status": "in_progress"},
                {"content": "Test", "status": "pending"},
            ),
        ),
        notice(4, "codex: session resumed"),
        notice(5, "claude is not signed in: run `claude` once", tone="warning"),
        message(6, "The nightly summary is **ready**.", author=SYSTEM),
        turn(
            7,
            phase="failed",
            author=CLAUDE,
            error_code="AGENT_GONE",
            error_message="claude ended with exit code 1; see groupx logs",
        ),
        turn(8, "I was in the middle of", phase="interrupted", certainty="unknown"),
        turn(9, "Half an answer", phase="cancelled", certainty="delivered"),
        turn(10, "It was cut off", stop_reason="max_tokens"),
        message(11, "and now the docs", to=("codex", "claude")),
        message(12, "not sent", is_pending=True, refusal="The room is archived."),
        turn(
            13,
            "Working on **it",
            phase="running",
            source_event_id="evt_11",
            tools=TOOLS[3:],
        ),
        turn(14, phase="running", author=CLAUDE, silent_s=12.0),
        turn(15, phase="queued", queue_position=2, source_event_id="evt_11"),
    )
