"""Ledgers of any size, as months of use leave them: many rooms, people and agents that talk.

Rows are made here and put in in batches, because the product's own way takes a commit each. What
they must hold is the product's to say: a test asks its `verify` of a small one. Half of all events
are in the main room. The same count gives the same content. Files are kept and used again; one
that other migrations made is made anew, and upgraded when only newer ones came.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from groupx_server.ledger.migrate import load_migrations, prepare
from groupx_server.ledger.searchindex import backlog, index_some, is_outdated
from groupx_server.ledger.times import to_iso, utc_now
from groupx_shared.version import EVENT_SCHEMA

AGENTS = ("bot", "codex", "claude", "gemini")
SIDE_ROOMS = 49
UNSUMMED = 10
"""Messages of a room behind its summary."""
BATCH = 20_000
START = datetime(2026, 1, 5, 8, tzinfo=UTC)
GENERATION = 2
"""Counted up when this module makes other rows than before."""


def _words(text: str) -> list[str]:
    return text.split()


SMALL_WORDS = _words("the of and to in is that it for on with as this are be we was by not or")
SYLLABLES = _words("ba ke mi lo tu ra sen dor vi pan gal ter nox fi zu har em ost lin qua")

Row = tuple[Any, ...]


def mark_of_today() -> list[str]:
    """What made a ledger: these rows, and the migrations as they are now."""
    return [f"generation {GENERATION}", *(sha256_of(step.sql) for step in load_migrations())]


def sha256_of(text: str) -> str:
    """As hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def ledger_folder(count: int, shelf: Path, tell: Callable[[str], None] = lambda _: None) -> Path:
    """A folder whose `.groupx/groupx.db` holds `count` events, from `shelf` or made now."""
    folder = shelf / f"ledger-{count}"
    path = folder / ".groupx" / "groupx.db"
    done, mark = folder / "complete", mark_of_today()
    made_by = done.read_text().splitlines() if done.exists() else []
    if made_by and made_by == mark[: len(made_by)]:
        if made_by != mark or _has_old_index(path):
            tell(f"upgrading the ledger of {count:,} events")
            upgrade(path)
            done.write_text("\n".join(mark))
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".groupx").mkdir(mode=0o700, parents=True)
    tell(f"making a ledger of {count:,} events; it is kept in {shelf}")
    make(path, count, tell)
    done.write_text("\n".join(mark))
    return folder


def _has_old_index(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as book:
        return is_outdated(book)


def upgrade(path: Path) -> None:
    """Bring it to this program's schema, as a server would, without keeping a copy."""
    report = prepare(path, now=utc_now)
    if report.backup_path is not None:
        report.backup_path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("PRAGMA synchronous=OFF")
        _index(book)


def make(path: Path, count: int, tell: Callable[[str], None] = lambda _: None) -> None:
    """Write a ledger of at least `count` events (by less than one exchange), indexed for search."""
    prepare(path, now=utc_now)
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("PRAGMA synchronous=OFF")
        book.execute("PRAGMA cache_size=-200000")
        _found(book)
        talk = Talk()
        while talk.seq < count:
            talk.exchange()
            if len(talk.events) >= BATCH or talk.seq >= count:
                _flush(book, talk)
                if talk.seq % 100_000 < BATCH:
                    tell(f"  {talk.seq:,} events")
        _count(book, talk)
        sum_up(book)
        tell("  the search index")
        _index(book)
        book.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _found(book: sqlite3.Connection) -> None:
    """Rooms, agents and their sessions."""
    now = to_iso(START)
    book.execute("BEGIN")
    for number in range(SIDE_ROOMS):
        book.execute(
            "INSERT INTO rooms(room_id, title, created_at, updated_at) VALUES (?, ?, ?, ?)",
            (f"room:side-{number}", f"Side {number}", now, now),
        )
    for name in AGENTS:
        book.execute(
            "INSERT OR IGNORE INTO actors VALUES (?, 'agent', ?, 1, ?, ?)",
            (f"agent:{name}", name.title(), now, now),
        )
        book.execute(
            "INSERT INTO agent_instances VALUES (?, ?, 'acp', ?, ?, 'stopped', 'structured')",
            (f"instance:{name}", f"agent:{name}", now, now),
        )
        book.execute(
            "INSERT INTO session_bindings(binding_id, instance_id, actor_id, protocol, status,"
            " capabilities_json, created_at, closed_at, transport, room_id)"
            " VALUES (?, ?, ?, 'acp', 'closed', '{}', ?, ?, 'structured', 'room:main')",
            (f"binding:{name}", f"instance:{name}", f"agent:{name}", now, now),
        )
    book.execute("COMMIT")


EVENTS_SQL = (
    "INSERT INTO events(event_id, schema_version, room_id, event_type, actor_id, actor_kind,"
    " actor_display_name, targets_json, reply_to_event_id, causation_id, correlation_id,"
    " idempotency_key, occurred_at, body_json)"
    f" VALUES (?, '{EVENT_SCHEMA}', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
MESSAGES_SQL = "INSERT INTO room_messages VALUES (?, ?, ?, ?, ?, ?, ?)"
TURNS_SQL = (
    "INSERT INTO turns(turn_id, source_event_id, target_actor_id, adapter_id, binding_id,"
    " root_correlation_id, hop_count, queued_event_id, enqueue_seq, status, response_event_id,"
    " terminal_event_id, queued_at, started_at, terminal_at, transport, room_id, usage_json)"
    " VALUES (?, ?, ?, 'acp', ?, ?, 0, ?, ?, 'completed', ?, ?, ?, ?, ?, 'structured', ?, ?)"
)
ATTEMPTS_SQL = (
    "INSERT INTO turn_attempts(attempt_id, turn_id, binding_id, instance_id, context_through_seq,"
    " claimed_at, started_at, terminal_at, delivery_certainty, dispatch_phase, prompt_invoked_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'delivered', 'terminal', ?)"
)
COMMANDS_SQL = "INSERT INTO client_commands VALUES (?, 'binding:web', ?, 'message.send', ?, ?, ?)"


def _flush(book: sqlite3.Connection, talk: Talk) -> None:
    book.execute("BEGIN")
    book.executemany(EVENTS_SQL, talk.events)
    book.executemany(MESSAGES_SQL, talk.messages)
    book.executemany(TURNS_SQL, talk.turns)
    book.executemany(ATTEMPTS_SQL, talk.attempts)
    book.executemany(COMMANDS_SQL, talk.commands)
    book.execute("COMMIT")
    for rows in (talk.events, talk.messages, talk.turns, talk.attempts, talk.commands):
        rows.clear()


def _count(book: sqlite3.Connection, talk: Talk) -> None:
    """Counters of the rooms, and how far each agent was told."""
    book.execute("BEGIN")
    book.execute(
        "UPDATE rooms SET (last_seq, event_count) = (SELECT COALESCE(MAX(seq), 0), count(*)"
        " FROM events e WHERE e.room_id = rooms.room_id)"
    )
    book.executemany(
        "UPDATE rooms SET message_count = ?, message_chars = ? WHERE room_id = ?",
        [(count, chars, room) for room, (count, chars) in talk.totals.items()],
    )
    book.executemany(
        "INSERT INTO delivery_cursors VALUES (?, ?, ?, NULL, ?)",
        [(actor, room, seq, talk.now) for (actor, room), seq in talk.delivered.items()],
    )
    _sum_usage(book)
    book.execute("COMMIT")


def _sum_usage(book: sqlite3.Connection) -> None:
    """Fill the kept sums as the migration does that brought them."""
    for step in load_migrations():
        if step.name == "usage_totals" and _has_table(book, step.name):
            for statement in step.statements():
                if statement.lstrip().startswith("INSERT"):
                    book.execute(statement)


def _has_table(book: sqlite3.Connection, name: str) -> bool:
    sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return book.execute(sql, (name,)).fetchone() is not None


def sum_up(book: sqlite3.Connection) -> None:
    """The summary of each room that use would have left, up to its newest messages."""
    book.execute("BEGIN")
    book.execute(
        "INSERT INTO summaries SELECT 'summary_' || r.room_id, r.room_id, 1, m.seq, ?, 'agent:bot',"
        " 'active', r.updated_at FROM rooms r JOIN room_messages m ON m.room_id = r.room_id"
        f" WHERE m.total_count = r.message_count - {UNSUMMED}",
        ("What was said and decided so far. " * 40,),
    )
    book.execute("COMMIT")


def _index(book: sqlite3.Connection) -> None:
    while not backlog(book).is_empty:
        book.execute("BEGIN")
        for _ in range(50):
            index_some(book)
        book.execute("COMMIT")


@dataclass
class Talk:
    """Makes exchanges, and keeps their rows until they are put in."""

    seq: int = 0
    now: str = ""
    events: list[Row] = field(default_factory=list)
    messages: list[Row] = field(default_factory=list)
    turns: list[Row] = field(default_factory=list)
    attempts: list[Row] = field(default_factory=list)
    commands: list[Row] = field(default_factory=list)
    totals: dict[str, tuple[int, int]] = field(default_factory=dict)
    delivered: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(2026)
        self._sentences = list(self._make_sentences(4_000))
        self._at = START

    def exchange(self) -> None:
        """A person asks one agent or two; each works and answers."""
        draw = self._random
        is_main = draw.random() < 0.5
        room = "room:main" if is_main else f"room:side-{draw.randrange(SIDE_ROOMS)}"
        names = draw.sample(AGENTS, 2 if draw.random() < 0.15 else 1)
        root = f"corr_{self.seq:032x}"
        targets = json.dumps([f"agent:{name}" for name in names])
        asked = {"content": self._text(1, 4)}
        source = self._event(room, "message.created", "user:web", root, asked, targets=targets)
        self._say(room, source, "user:web", asked["content"])
        queued = [(name, *self._queue(room, name, root, source)) for name in names]
        turns = [{"turnId": turn_id} for _, turn_id, _, _ in queued]
        receipt = {"messageEventId": source, "seq": self.seq, "roomId": room, "turns": turns}
        key = source.replace("evt", "cmd")
        self.commands.append((key, key, "0" * 64, json.dumps(receipt), self.now))
        for name, turn_id, event_id, seq in queued:
            self._work(room, name, root, source, turn_id, event_id, seq)

    def _queue(self, room: str, name: str, root: str, source: str) -> tuple[str, str, int]:
        turn_id = f"turn_{self.seq:032x}"
        body = {
            "turnId": turn_id,
            "sourceEventId": source,
            "targetActorId": f"agent:{name}",
            "adapterId": "acp",
            "hopCount": 0,
            "asked": False,
        }
        targets = f'["agent:{name}"]'
        event_id = self._event(
            room, "turn.queued", "system:groupx", root, body, targets=targets, cause=source
        )
        return turn_id, event_id, self.seq

    def _work(
        self, room: str, name: str, root: str, source: str, turn: str, queued: str, at: int
    ) -> None:
        actor, attempt = f"agent:{name}", turn.replace("turn", "attempt")
        begun, through = self.now, at - 1
        told = {"turnId": turn, "attemptId": attempt}
        body = told | {"targetActorId": actor}
        self._event(room, "turn.dispatched", "system:groupx", root, body, cause=source)
        self._event(room, "turn.started", actor, root, told, cause=source)
        if self._random.random() < 0.3:
            thought = {
                "turnId": turn,
                "content": self._text(1, 6),
                "terminalStatus": "completed",
                "cut": False,
            }
            self._event(room, "turn.reasoning.recorded", actor, root, thought, cause=turn)
        for number in range(self._random.choice((0, 0, 0, 0, 1, 2, 4))):
            self._event(
                room, "tool.progress.recorded", actor, root, self._tool(turn, number), cause=turn
            )
        said = {"turnId": turn, "content": self._text(1, 16), "cut": False}
        key = f"turn:{turn}:response"
        answer = self._event(
            room, "message.created", actor, root, said, cause=turn, reply=source, key=key
        )
        self._say(room, answer, actor, str(said["content"]))
        end = {
            "turnId": turn,
            "status": "completed",
            "responseEventId": answer,
            "durationMs": self._random.randrange(900, 90_000),
        }
        key = f"turn:{turn}:terminal"
        ended = self._event(room, "turn.completed", actor, root, end, cause=turn, key=key)
        self._close(room, name, root, source, turn, queued, at, begun, answer, ended)
        self.delivered[actor, room] = max(through, self.delivered.get((actor, room), 0))

    def _close(
        self, room: str, name: str, root: str, source: str, turn: str, queued: str, at: int,
        begun: str, answer: str, ended: str,
    ) -> None:  # fmt: skip
        """The rows of a turn and of its one attempt."""
        tokens = self._random.randrange(500, 60_000)
        usage = json.dumps({"inputTokens": tokens, "outputTokens": tokens // 20})
        binding, actor = f"binding:{name}", f"agent:{name}"
        self.turns.append(
            (turn, source, actor, binding, root, queued, at, answer, ended, begun, begun, self.now,
             room, usage)
        )  # fmt: skip
        attempt = turn.replace("turn", "attempt")
        self.attempts.append(
            (attempt, turn, binding, f"instance:{name}", at - 1, begun, begun, self.now, begun)
        )

    def _event(
        self,
        room: str,
        kind: str,
        actor: str,
        root: str,
        body: dict[str, Any],
        *,
        targets: str = "[]",
        cause: str | None = None,
        reply: str | None = None,
        key: str | None = None,
    ) -> str:
        self.seq += 1
        self._at += timedelta(milliseconds=self._random.randrange(20, 20_000))
        self.now = to_iso(self._at)
        event_id = f"evt_{self.seq:032x}"
        who = {"user": "You", "system": "GroupX"}
        actor_kind, _, name = actor.partition(":")
        self.events.append(
            (event_id, room, kind, actor, actor_kind, who.get(actor_kind, name.title()), targets,
             reply, cause, root, key, self.now, json.dumps(body))
        )  # fmt: skip
        return event_id

    def _say(self, room: str, event_id: str, actor: str, text: str) -> None:
        count, chars = self.totals.get(room, (0, 0))
        count, chars = count + 1, chars + len(text)
        self.totals[room] = count, chars
        self.messages.append((room, self.seq, event_id, actor, len(text), count, chars))

    def _tool(self, turn: str, number: int) -> dict[str, Any]:
        details = {
            "title": "Read reader.py",
            "kind": "read",
            "status": "completed",
            "content": [{"type": "text", "text": self._text(2, 8)}],
            "durationMs": 400,
        }
        call = f"call_{number}"
        return {
            "turnId": turn,
            "toolCallId": call,
            "nativeType": "tool.completed",
            "details": details,
        }

    def _text(self, fewest: int, most: int) -> str:
        """Some sentences, and a word that no other text has."""
        chosen = self._random.choices(self._sentences, k=self._random.randint(fewest, most))
        return " ".join(chosen) + f" (note {rare_word(self.seq + 1)})"

    def _make_sentences(self, count: int) -> Iterator[str]:
        draw = self._random
        words = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(6_000)]
        weights = [1 / rank for rank in range(1, len(words) + 1)]
        for _ in range(count):
            rare = draw.choices(words, weights, k=draw.randint(3, 9))
            small = draw.choices(SMALL_WORDS, k=draw.randint(3, 8))
            mixed = rare + small
            draw.shuffle(mixed)
            yield " ".join(mixed).capitalize() + "."


def rare_word(seq: int) -> str:
    """The word that only the text of this event has."""
    digits = []
    while seq:
        seq, digit = divmod(seq, 26)
        digits.append(chr(97 + digit))
    return "zq" + "".join(digits)
