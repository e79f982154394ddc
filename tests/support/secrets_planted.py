"""Texts of words that stand nowhere else, planted in all the ways a ledger can come to hold one.

`plant` writes one text with what comes of it, `words_left` looks for its words in bytes. Each way
leaves something that must stay (`kept`), to see that a removal takes no more than it should.
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.identity_records import NewIdentity, remember_identity
from groupx_server.ledger.memory import NewMemory, remember, supersede
from groupx_server.ledger.records import Author
from groupx_server.ledger.redaction import Kind
from groupx_server.ledger.summaries import NewSummary, active_summary, save_summary
from groupx_shared.ids import new_id
from groupx_shared.wire.memory import MemoryScope

NOW = "2026-01-31T09:15:00.250Z"
ROOM = "room:main"
YOU = Author("user:web", "web")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD_CHARS = 14
TAIL_CHARS = 12
"""Looked for of each word: an index stores a word without the beginning that it shares with the
one before, and without its ending."""


@dataclass
class Planted:
    """What is to be removed, its words, and a word of a neighbour that must stay."""

    kind: Kind
    ref_id: str
    words: list[str] = field(default_factory=list)
    kept: str = ""


class Planter:
    """Plants one text after the other, each in the next way."""

    def __init__(self, connection: sqlite3.Connection, seed: int, agent: str = "agent:a") -> None:
        self._book = connection
        self._random = random.Random(seed)
        self._agent = agent
        self._count = 0

    def plant(self) -> Planted:
        """Write one text, with what comes of it."""
        way = WAYS[self._count % len(WAYS)]
        self._count += 1
        words = [self.word() for _ in range(self._random.choice((6, 12, 60, 400)))]
        planted = way(self, " ".join(words))
        planted.words = words
        return planted

    def word(self) -> str:
        """A word that is nowhere."""
        return "".join(self._random.choices(LETTERS, k=WORD_CHARS))

    def say(self, text: str, **more: str) -> str:
        """A message by a person."""
        return self.event("message.created", {"content": text}, **more)

    def event(self, kind: str, body: dict[str, object], **more: str) -> str:
        """Any event."""
        event_id = new_id("evt")
        actor = more.pop("actor_id", "user:web")
        insert_event(
            self._book,
            NewEvent(event_id, ROOM, kind, actor, new_id("corr"), NOW, body, **more),  # type: ignore[arg-type]  # all texts
        )
        return event_id

    def quoted(self, text: str) -> Planted:
        """A message that a reply quotes and that was passed on."""
        said, kept = self.say(text), self.word()
        self.say(f"You wrote: {text}. {kept}", reply_to_event_id=said)
        self.say(f"Passed on:\n> {text}", forwarded_event_id=said)
        return Planted("event", said, kept=kept)

    def remembered(self, text: str) -> Planted:
        """A message from which records were made, in several versions."""
        said, kept = self.say(text), self.word()
        scope = MemoryScope(type="room", id=ROOM)
        made = remember(
            self._book, NewMemory(scope, "fact", text[:90], YOU, source_event_id=said), NOW
        )
        supersede(self._book, made.memory_id, text[-90:], YOU, NOW)
        identity = NewIdentity(self._agent, "note", text[:60], YOU, source_event_id=said)
        remember_identity(self._book, identity, NOW)
        remember(self._book, NewMemory(scope, "fact", f"Of another: {kept}", YOU), NOW)
        return Planted("event", said, kept=kept)

    def read_by_a_tool(self, text: str) -> Planted:
        """A message that an agent read through a tool, whose result is JSON in a string."""
        said, kept = self.say(f"{text} “密码” \\ end"), self.word()
        result = json.dumps({"messages": [{"content": f"{text} “密码” \\ end"}], "note": kept})
        details = {"content": [{"type": "text", "text": result}], "status": "completed"}
        body: dict[str, object] = {
            "turnId": "t",
            "toolCallId": "c",
            "nativeType": "tool",
            "details": details,
        }
        self.event("tool.progress.recorded", body, actor_id=self._agent)
        return Planted("event", said, kept=kept)

    def told_the_assistant(self, text: str) -> Planted:
        """A message that the room assistant was asked to send."""
        said, kept = self.say(text, actor_id="user:assistant"), self.word()
        number = new_id("side")
        self._book.execute(
            "INSERT INTO assistant_conversation_messages(message_id, role, content, created_at,"
            " status) VALUES (?, 'user', ?, ?, 'completed')",
            (number, f"{kept}: send {text}", NOW),
        )
        self._book.execute(
            "INSERT INTO assistant_acts VALUES (?, ?, 'send', ?, ?, ?, ?)",
            (new_id("act"), number, f"sent: {text[:40]}", ROOM, said, NOW),
        )
        return Planted("event", said, kept=kept)

    def summed_up(self, text: str) -> Planted:
        """A message that the room's summary speaks of."""
        said = self.say(text)
        first, last = self._book.execute(
            "SELECT MIN(seq), MAX(seq) FROM room_messages WHERE room_id = ?", (ROOM,)
        ).fetchone()
        old = active_summary(self._book, ROOM)
        content = "- " + text[:80]
        previous = None if old is None else old.summary_id
        summary = NewSummary(ROOM, first, last, content, self._agent, previous)
        save_summary(self._book, summary, NOW)
        return Planted("event", said)

    def answered_at_length(self, text: str) -> Planted:
        """An answer of which the event holds a part and the rest stands beside it."""
        said = self.event("message.created", {"content": text[:50]}, actor_id=self._agent)
        for number in range(1, 4):
            self._book.execute(
                "INSERT INTO event_texts VALUES (?, 'content', ?, ?)", (said, number, text)
            )
        return Planted("event", said)

    def record(self, text: str) -> Planted:
        """A record alone, with the receipt of the command that wrote it."""
        scope = MemoryScope(type="room", id=ROOM)
        made = remember(self._book, NewMemory(scope, "fact", text, YOU), NOW)
        receipt = orjson.dumps({"memory": made.model_dump(mode="json", by_alias=True)}).decode()
        self._book.execute(
            "INSERT INTO client_commands VALUES (?, 'binding:web', ?, 'memory.remember', ?, ?, ?)",
            (new_id("cmd"), new_id("c"), "hash", receipt, NOW),
        )
        return Planted("memory", made.memory_id)

    def unfinished(self, text: str) -> Planted:
        """What had arrived of an answer when its turn failed."""
        body: dict[str, object] = {"turnId": new_id("turn"), "partialText": text}
        return Planted("event", self.event("turn.failed", body, actor_id=self._agent))


WAYS: tuple[Callable[[Planter, str], Planted], ...] = (
    Planter.quoted, Planter.remembered, Planter.read_by_a_tool, Planter.told_the_assistant,
    Planter.summed_up, Planter.answered_at_length, Planter.record, Planter.unfinished,
)  # fmt: skip


def words_left(words: Iterable[str], files: Iterable[Path]) -> set[str]:
    """Those words of which the greater part stands in the bytes of a file."""
    tails = {word[-TAIL_CHARS - 1 : -1].encode(): word for word in words}
    left = set()
    for file in files:
        for run in re.finditer(rb"[a-z]{%d,}" % TAIL_CHARS, file.read_bytes()):
            left |= {tails[tail] for tail in _tails(run.group()) if tail in tails}
    return left


def _tails(run: bytes) -> Iterator[bytes]:
    return (run[at : at + TAIL_CHARS] for at in range(len(run) - TAIL_CHARS + 1))
