"""The answer of one Codex turn: its messages, and whether what was streamed may stand.

Owns the text of the turn's agent messages. Invariants: a message is streamed at most once; what
its completed item says is the truth, streamed pieces are provisional; a message that was cut off
by a retry is left out, since the retry says it again under another id; one that was cut off by a
steer or a cancel stays, since it was said. `replacement` is the whole answer when the stream does
not show it, else None. Memory is bounded: past `MAX_KEPT_CHARS` the stream stands as it is.
The counterpart is `codex_turn.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from groupx_server.domain.native import ContentDelta

MAX_KEPT_CHARS: Final = 4 * 1024 * 1024
_PARAGRAPH: Final = "\n\n"


@dataclass(slots=True)
class _Message:
    pieces: list[str] = field(default_factory=list)
    is_complete: bool = False
    is_dropped: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class CodexAnswer:
    """All agent messages of one turn, in the order in which they began."""

    def __init__(self) -> None:
        self._messages: dict[str, _Message] = {}
        self._chars = 0
        self._differs = False

    @property
    def has_text(self) -> bool:
        """True once anything was said that stands."""
        return any(m.pieces for m in self._messages.values() if not m.is_dropped)

    def grow(self, item_id: str, delta: str) -> list[ContentDelta]:
        """A piece of a message came."""
        message = self._messages.setdefault(item_id, _Message())
        if not delta or message.is_complete:
            return []
        self._chars += len(delta)
        if self._is_kept:
            message.pieces.append(delta)
        return [ContentDelta(delta, item_id)]

    def complete(self, item_id: str, text: str) -> list[ContentDelta]:
        """A message ended with this text; what was not streamed of it is given now."""
        message = self._messages.setdefault(item_id, _Message())
        if message.is_complete:
            return []
        message.is_complete, message.is_dropped = True, False
        if not self._is_kept:
            return []
        streamed, message.pieces = message.text, [text] if text else []
        if not text.startswith(streamed):
            self._differs = True
            return []
        rest = text[len(streamed) :]
        self._chars += len(rest)
        return [ContentDelta(rest, item_id)] if rest else []

    def drop_open(self) -> None:
        """The model is asked again: what it had begun to say will be said anew."""
        for message in self._messages.values():
            if message.pieces and not message.is_complete:
                message.is_dropped = self._differs = True

    def replacement(self) -> str | None:
        """The whole answer, when it is not what the stream showed."""
        if not self._differs or not self._is_kept:
            return None
        kept = (m.text for m in self._messages.values() if not m.is_dropped)
        return _PARAGRAPH.join(text for text in kept if text)

    @property
    def _is_kept(self) -> bool:
        return self._chars <= MAX_KEPT_CHARS
