"""The answer of a turn as it was streamed, kept so that it can be told whole when a part is void.

Owns the pieces, up to a bound. A model's answer that breaks off and is tried again was streamed
already: its part is void, and the end of the turn then gives the answer without it. Invariant:
`whole` is what a reader of the streamed pieces has, with the void parts gone and the corrected
ones corrected; None when both are the same. The counterpart is `claude_messages.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from groupx_server.domain.native import ContentDelta

MAX_KEPT_CHARS: Final = 16 * 1024 * 1024
"""A longer answer is left as it was streamed."""
_PARAGRAPH: Final = "\n\n"


@dataclass(slots=True)
class TextPart:
    """One block of the answer. Parts of the same paragraph follow each other without a break."""

    paragraph: str
    pieces: list[str] = field(default_factory=list)
    chars: int = 0

    @property
    def text(self) -> str:
        """All that was streamed of it."""
        return "".join(self.pieces)


class Answer:
    """All parts of one turn's answer."""

    def __init__(self) -> None:
        self._parts: list[TextPart] = []
        self._chars = 0
        self._differs = False

    @property
    def is_empty(self) -> bool:
        """True while no text that counts was streamed."""
        return not any(part.chars for part in self._parts)

    def open(self, paragraph: str) -> TextPart:
        """Begin a part."""
        part = TextPart(paragraph)
        self._parts.append(part)
        return part

    def add(self, part: TextPart, text: str) -> list[ContentDelta]:
        """Stream a piece of a part."""
        if not text:
            return []
        part.chars += len(text)
        self._chars += len(text)
        if self._is_whole:
            part.pieces.append(text)
        else:
            part.pieces.clear()
        return [ContentDelta(text, part.paragraph)]

    def settle(self, part: TextPart, text: str) -> list[ContentDelta]:
        """The whole text of a part is known now: stream what is missing of it."""
        streamed = part.text
        if not self._is_whole or text.startswith(streamed):
            return self.add(part, text[part.chars :])
        if text.strip() != streamed.strip():
            self._differs = True
            part.pieces[:], part.chars = [text], len(text)
        return []

    def void(self, part: TextPart) -> None:
        """The part does not count: its message broke off and is made again."""
        if part.chars:
            self._differs = True
            part.pieces.clear()
            part.chars = 0

    def whole(self) -> str | None:
        """The answer without its void parts, when it is not what was streamed."""
        if not self._differs or not self._is_whole:
            return None
        texts: list[str] = []
        last = ""
        for part in self._parts:
            if not part.chars:
                continue
            begins = bool(texts) and part.paragraph != last
            texts.append(_PARAGRAPH + part.text.lstrip("\n") if begins else part.text)
            last = part.paragraph
        return "".join(texts)

    @property
    def _is_whole(self) -> bool:
        return self._chars <= MAX_KEPT_CHARS
