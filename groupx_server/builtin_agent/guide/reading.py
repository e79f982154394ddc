"""`/last` and `/summary`: the room's messages in order, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from groupx_server.builtin_agent.guide.desk import Desk
from groupx_server.builtin_agent.guide.records import RecordedRoom
from groupx_server.builtin_agent.quoting import heading, one_line, quoted, when
from groupx_server.builtin_agent.room_api import RoomMessage
from groupx_shared.text import safe_line

DEFAULT_LAST: Final = 10
MAX_LAST: Final = 50
SUMMARY_PAGES: Final = 10
"""2,000 messages: a day of a busy room, read in a moment."""
MAX_AUTHORS: Final = 12
LINES_AT_END: Final = 5


async def last(desk: Desk, room: RecordedRoom, argument: str) -> None:
    """Run `/last [N]`. Raises: RoomDataError."""
    if argument and not argument.isdecimal():
        await desk.sink.say(f"`/last` takes a number from 1 to {MAX_LAST}: `/last 20`.\n")
        return
    count = min(max(1, int(argument[:9] or DEFAULT_LAST)), MAX_LAST)
    page = await room.messages(limit=count)
    if not page.messages:
        await desk.sink.say("There are no messages yet.\n")
        return
    head = f"The newest {len(page.messages)} messages of `{room.room_id}`, oldest first:"
    foot = "Older messages exist." if page.has_more_before else "That is the whole room."
    await desk.sink.say("\n\n".join([head, *map(quoted, page.messages), foot]) + "\n")


@dataclass(slots=True)
class Tally:
    """What a summary counts, message by message, from the newest back."""

    messages: int = 0
    by_author: Counter[str] = field(default_factory=Counter)
    oldest: RoomMessage | None = None
    newest: list[RoomMessage] = field(default_factory=list)
    is_whole_room: bool = False

    def add(self, message: RoomMessage) -> None:
        """Count one more message, older than all before it."""
        self.messages += 1
        self.by_author[message.author] += 1
        self.oldest = message
        if len(self.newest) < LINES_AT_END:
            self.newest.append(message)


async def summary(desk: Desk, room: RecordedRoom, _argument: str) -> None:
    """Run `/summary`. Raises: RoomDataError."""
    tally = await _count(room)
    turns = await room.open_turns()
    await desk.sink.say(summary_text(room.room_id, tally, turns))


async def _count(room: RecordedRoom) -> Tally:
    tally = Tally()
    before = None
    for _ in range(SUMMARY_PAGES):
        page = await room.messages(before)
        for message in reversed(page.messages):
            tally.add(message)
        if not page.has_more_before or not page.messages:
            tally.is_whole_room = True
            break
        before = page.messages[0].seq
    return tally


def summary_text(room_id: str, tally: Tally, turns: Sequence[dict[str, Any]]) -> str:
    """Write down a tally; says that it is counted and quoted, not understood."""
    if tally.oldest is None:
        return f"`{room_id}` has no messages yet.\n"
    newest = tally.newest[0]
    extent = "all" if tally.is_whole_room else "the newest; older ones were not read"
    authors = [f"{name} {count}" for name, count in tally.by_author.most_common(MAX_AUTHORS)]
    others = len(tally.by_author) - len(authors)
    lines = [
        f"`{room_id}`, counted and quoted; no model wrote this, so nothing is interpreted.",
        "",
        f"- Messages: {tally.messages} ({extent}), #{tally.oldest.seq}–#{newest.seq}",
        f"- Time: {when(tally.oldest.at)} to {when(newest.at)}",
        f"- Who spoke: {', '.join(authors)}" + (f" and {others} more" if others > 0 else ""),
        f"- Open turns: {_turns(turns)}",
        "",
        "First message read:" if not tally.is_whole_room else "First message:",
        "",
        _line(tally.oldest),
        "",
        "Last messages:",
        "",
        *map(_line, reversed(tally.newest)),
    ]
    return "\n".join(lines) + "\n"


def _line(message: RoomMessage) -> str:
    return f"- {heading(message)}: “{one_line(message)}”"


def _turns(turns: Sequence[dict[str, Any]]) -> str:
    """Open turns by agent; ours (this very one) is among them."""
    if not turns:
        return "none"
    states = [
        safe_line(f"{turn.get('targetActorId')} {turn.get('status')}", 80) for turn in turns[:8]
    ]
    more = f" and {len(turns) - 8} more" if len(turns) > 8 else ""
    return f"{len(turns)} ({', '.join(states)}{more})"
