"""A ledger connection for tests of transactions: a real file, the real schema, no threads."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import orjson

from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.accept import Accepted, AcceptMessage, accept_message
from groupx_server.ledger.actors import upsert_agent
from groupx_server.ledger.bindings import (
    NewBinding,
    NewInstance,
    insert_binding,
    insert_instance,
)
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.calls import AgentCall, CallKind, CallPlaced, CallStopped, place_call
from groupx_server.ledger.dispatch import (
    Attempt,
    Claim,
    claim_turn,
    mark_native_started,
    mark_prompt_invoked,
)
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.pairs import Watch
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.times import utc_now
from groupx_shared.wire.replies import MessageAccepted

NOW = "2026-01-31T09:15:00.250Z"
LIMITS = Limits()


def open_book(folder: Path, agents: tuple[str, ...] = ("a", "b")) -> sqlite3.Connection:
    """A fresh ledger with these agents, each with a ready session in the main room."""
    path = folder / "groupx.db"
    prepare(path, now=utc_now)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = OFF")  # each statement is a transaction here
    for name in agents:
        actor_id = f"agent:{name}"
        upsert_agent(connection, actor_id, name.upper(), True, NOW)
        insert_instance(connection, NewInstance(f"instance_{name}", actor_id, "acp"), NOW)
        insert_binding(
            connection,
            NewBinding(
                f"binding_{name}",
                f"instance_{name}",
                actor_id,
                "room:main",
                f"native-{name}",
                "acp",
                "1",
                {"cwd": "/w"},
            ),
            NOW,
        )
    return connection


def send(
    connection: sqlite3.Connection,
    content: str = "hello",
    to: tuple[str, ...] = ("a",),
    command_id: str | None = None,
    **more: Any,
) -> Accepted:
    """Accept a message by the local person."""
    count = connection.execute("SELECT count(*) FROM client_commands").fetchone()[0]
    command = AcceptMessage(
        client_command_id=command_id or f"c{count}",
        room_id=more.pop("room_id", "room:main"),
        content=content,
        targets=[Target(f"agent:{name}", "acp") for name in to],
        **more,
    )
    limits = LIMITS
    return accept_message(connection, command, limits, NOW)


def watched(connection: sqlite3.Connection, to: str = "a", observer: str = "b") -> MessageAccepted:
    """Accept a person's message that wakes one agent and has another one watch it."""
    watch = Watch([Target(f"agent:{observer}", "acp")])
    return send(connection, "watched", (to,), watch=watch).reply


def caller(name: str = "a", room_id: str = "room:main") -> Caller:
    """The agent's session of `open_book`."""
    return Caller(f"binding_{name}", f"agent:{name}", room_id)


def call(
    connection: sqlite3.Connection,
    kind: CallKind = "send",
    content: str = "please",
    to: tuple[str, ...] = ("b",),
    by: str = "a",
    command_id: str | None = None,
    limits: Limits = LIMITS,
    **more: Any,
) -> CallPlaced | CallStopped:
    """A call of an agent in its running turn."""
    count = connection.execute("SELECT count(*) FROM client_commands").fetchone()[0]
    targets = [Target(f"agent:{name}", "acp") for name in to]
    made = AgentCall(caller(by), kind, command_id or f"k{count}", content, targets, **more)
    return place_call(connection, made, limits, NOW)


def placed(connection: sqlite3.Connection, *args: Any, **more: Any) -> CallPlaced:
    """A call that must be accepted."""
    result = call(connection, *args, **more)
    assert isinstance(result, CallPlaced), result
    return result


def finish(connection: sqlite3.Connection, turn_id: str, answer: str = "done") -> None:
    """Complete a running turn."""
    end_turn(connection, TurnEnd(turn_id, TurnStatus.COMPLETED, answer=answer), LIMITS, NOW)


def claim(connection: sqlite3.Connection, turn_id: str, name: str = "a") -> Attempt | None:
    """Claim a turn for the agent's session with a packet up to the newest event."""
    (newest,) = connection.execute("SELECT max(seq) FROM events").fetchone()
    request = Claim(turn_id, f"agent:{name}", f"binding_{name}", f"instance_{name}", newest)
    return claim_turn(connection, request, NOW)


def start(connection: sqlite3.Connection, turn_id: str, name: str = "a") -> Attempt:
    """Bring a queued turn to running."""
    attempt = claim(connection, turn_id, name)
    assert attempt is not None
    assert mark_prompt_invoked(connection, attempt, NOW)
    mark_native_started(connection, attempt, None, f"instance_{name}", NOW)
    return attempt


def event_types(connection: sqlite3.Connection) -> list[str]:
    """Types of all events, in order."""
    return [kind for (kind,) in connection.execute("SELECT event_type FROM events ORDER BY seq")]


def bodies(connection: sqlite3.Connection, kind: str) -> list[dict[str, Any]]:
    """Bodies of all events of a type, in order."""
    rows = connection.execute(
        "SELECT body_json FROM events WHERE event_type = ? ORDER BY seq", (kind,)
    )
    return [orjson.loads(text) for (text,) in rows]


def turn_row(connection: sqlite3.Connection, turn_id: str) -> dict[str, Any]:
    """A turn's row."""
    cursor = connection.execute("SELECT * FROM turns WHERE turn_id = ?", (turn_id,))
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone(), strict=True))
