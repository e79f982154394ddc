"""What the timeline tells the app, as Textual messages.

Counterpart: `widget.Timeline`, which posts them and carries them as nested names
(`Timeline.NeedBefore`), so that handlers are called `on_timeline_need_before` and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.message import Message


@dataclass(frozen=True, slots=True)
class Position:
    """Which messages of the room are on the screen: `first`–`last` of `total`, counted from 1.

    All 0 when nothing is shown. `is_exact` is False while neither end of the room is loaded, so
    that the place can only be estimated from the loaded part.
    """

    first: int = 0
    last: int = 0
    total: int = 0
    is_exact: bool = True

    def __str__(self) -> str:
        if not self.last:
            return ""
        about = "" if self.is_exact else "~"
        return f"{about}{self.first:,}–{self.last:,} of {self.total:,}"


class TimelineMessage(Message, namespace="timeline"):
    """Root of what the timeline posts."""


class PositionChanged(TimelineMessage, namespace="timeline"):
    """Other messages are on the screen, or the following, or the number of new ones, changed.

    `side` is the half of the loaded blocks that the reader looks at."""

    def __init__(
        self,
        position: Position,
        is_following: bool,
        new_count: int,
        side: Literal["start", "end"] = "end",
    ) -> None:
        super().__init__()
        self.side = side
        self.position = position
        self.is_following = is_following
        self.new_count = new_count


class NeedBefore(TimelineMessage, namespace="timeline"):
    """The reader is near the top of what is loaded: load the page before `before_seq`.

    Posted once for each `before_seq` (`TimelineView.first_seq`), and again when the reader tries
    to go on at the edge."""

    def __init__(self, room_id: str, before_seq: int) -> None:
        super().__init__()
        self.room_id = room_id
        self.before_seq = before_seq


class NeedAfter(TimelineMessage, namespace="timeline"):
    """The reader is near the bottom of what is loaded: load the page after `after_seq`.

    Posted once for each `after_seq` (`TimelineView.last_seq`), and again when the reader tries to
    go on at the edge."""

    def __init__(self, room_id: str, after_seq: int) -> None:
        super().__init__()
        self.room_id = room_id
        self.after_seq = after_seq


class NeedEnd(TimelineMessage, namespace="timeline"):
    """The reader asked for the end of the room, which is not loaded: load the last page.

    The timeline follows already: the next view is shown at its end."""

    def __init__(self, room_id: str) -> None:
        super().__init__()
        self.room_id = room_id


class BlockActivated(TimelineMessage, namespace="timeline"):
    """A block's header line was clicked, or Enter was pressed on it: show its details."""

    def __init__(self, block_id: str) -> None:
        super().__init__()
        self.block_id = block_id


class CopyRequested(TimelineMessage, namespace="timeline"):
    """Put `text` (logical text, not wrapped, without gutters) on the clipboard.

    `what` names it for a toast: `message`, `answer`, `code`, `tool output`, `selection` …"""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what


class SelectionMade(TimelineMessage, namespace="timeline"):
    """A drag of the mouse ended with `text` selected; `Timeline.action_copy` would copy it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
