"""What the fake model does, by a mark in the newest marked message of the person.

| mark | answer |
|---|---|
| `[[say TEXT]]` | the text, in pieces; nothing is said for an unmarked request but a short title |
| `[[nonce]]` | a word that nobody said before |
| `[[think TEXT]]` | reasoning, then `Thought.` |
| `[[shell COMMAND]]` | a call of the agent's own shell tool |
| `[[room TOOL JSON]]` | a call of a tool of the room, after a look for it where it is hidden |
| `[[empty]]` | nothing at all |
| `[[long COUNT]]` | a text of so many characters |
| `[[cut TEXT]]` | the text, and that the model's limit was reached |
| `[[endless]]` | begins to speak, and then nothing until the client goes away |
| `[[fail STATUS]]` | an HTTP error |

A request that wants its answer to end with a line (a text for the server) gets that line after what
is said, but for one that is cut. After a call, its result is answered with `The tool said: …`. The
dialects read requests into `Ask` and speak through `Voice`; `play` is what happens between,
`server` joins them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from support.loopback_http import Responder


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the agent offers."""

    name: str
    schema: dict[str, Any] = field(default_factory=dict)
    namespace: str | None = None

    @property
    def full_name(self) -> str:
        return f"{self.namespace or ''}{self.name}"


@dataclass(frozen=True, slots=True)
class Said:
    """One piece of the conversation, in order."""

    by: Literal["user", "agent", "call", "tool"]
    """A `call` holds the name of the tool; a dialect may leave calls out."""
    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to the model, without its dialect."""

    said: Sequence[Said]
    tools: Sequence[Tool]
    is_streamed: bool = True


class Voice(ABC):
    """Speaks one streamed answer in a dialect."""

    def __init__(self, responder: Responder) -> None:
        self.responder = responder

    @abstractmethod
    async def say(self, text: str, *, is_whole: bool = True) -> None:
        """Stream a text; one that is not whole has no end, where the dialect marks ends."""

    @abstractmethod
    async def think(self, text: str) -> None:
        """Stream reasoning."""

    @abstractmethod
    async def call(self, tool: Tool, arguments: dict[str, Any]) -> None:
        """Call a tool."""

    @abstractmethod
    async def end(self, *, is_cut: bool = False) -> None:
        """End the answer; one that is cut, as at the model's limit."""

    @abstractmethod
    async def refuse(self, status: int, message: str) -> None:
        """Answer with an HTTP error instead."""

    @abstractmethod
    async def whole(self, text: str) -> None:
        """Answer a request that wants no stream."""


def pieces(text: str, count: int = 4) -> list[str]:
    """A text cut into about so many deltas."""
    size = max(1, -(-len(text) // count))
    return [text[start : start + size] for start in range(0, len(text), size)]


def flat(content: Any) -> str:
    """The text of a message: a string, or a list of parts with `text` or `content`."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return flat(content.get("text") or content.get("content") or content.get("output") or "")
    if isinstance(content, list):
        return "\n".join(filter(None, map(flat, content)))
    return ""


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data)
    return f"{head}data: {text}\n\n".encode()
