"""Instances (processes) and bindings (native sessions) of agents.

A binding ties one native session of one agent process to one room. Native session ids never leave
the server. The newest binding of an agent in a room that has a native id is what a new process
tries to resume.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final

import orjson

from groupx_server.ledger.failpoints import failpoint

RESUMABLE: Final = ("ready", "interrupted", "closed")


@dataclass(frozen=True, slots=True)
class NewInstance:
    """A process that just shook hands."""

    instance_id: str
    actor_id: str
    adapter_id: str


@dataclass(frozen=True, slots=True)
class NewBinding:
    """A native session that just opened."""

    binding_id: str
    instance_id: str
    actor_id: str
    room_id: str
    native_session_id: str
    protocol: str
    protocol_version: str
    capabilities: dict[str, Any]


def insert_instance(connection: sqlite3.Connection, instance: NewInstance, now: str) -> None:
    """Record a started process."""
    connection.execute(
        "INSERT INTO agent_instances(instance_id, actor_id, adapter_id, process_started_at,"
        " status, transport) VALUES (?, ?, ?, ?, 'ready', 'structured')",
        (instance.instance_id, instance.actor_id, instance.adapter_id, now),
    )


def insert_binding(connection: sqlite3.Connection, binding: NewBinding, now: str) -> None:
    """Record an opened session; an older open one of the same agent and room is closed."""
    connection.execute(
        "UPDATE session_bindings SET status = 'closed', closed_at = ? WHERE actor_id = ?"
        " AND room_id = ? AND status = 'ready'",
        (now, binding.actor_id, binding.room_id),
    )
    connection.execute(
        "INSERT INTO session_bindings(binding_id, instance_id, actor_id, room_id,"
        " native_session_id, protocol, protocol_version, status, capabilities_json, created_at,"
        " last_ready_at, transport) VALUES (?, ?, ?, ?, ?, ?, ?, 'ready', ?, ?, ?, 'structured')",
        (
            binding.binding_id,
            binding.instance_id,
            binding.actor_id,
            binding.room_id,
            binding.native_session_id,
            binding.protocol,
            binding.protocol_version,
            orjson.dumps(binding.capabilities).decode(),
            now,
            now,
        ),
    )
    failpoint("session.before_commit")


def end_instance(connection: sqlite3.Connection, instance_id: str, status: str, now: str) -> None:
    """A process ended: it and its open bindings get `status` (stopped, failed, interrupted)."""
    connection.execute(
        "UPDATE agent_instances SET status = ?, process_ended_at = ? WHERE instance_id = ?"
        " AND process_ended_at IS NULL",
        (status, now, instance_id),
    )
    binding_status = "closed" if status == "stopped" else "interrupted"
    connection.execute(
        "UPDATE session_bindings SET status = ?, closed_at = ? WHERE instance_id = ?"
        " AND status IN ('starting', 'ready')",
        (binding_status, now, instance_id),
    )
    failpoint("session_end.before_commit")


def interrupt_leftovers(connection: sqlite3.Connection, now: str) -> None:
    """At start: nothing of an earlier server runs any more; say so of its agents' rows."""
    connection.execute(
        "UPDATE session_bindings SET status = 'interrupted', closed_at = ?"
        " WHERE status IN ('starting', 'ready') AND actor_id LIKE 'agent:%'",
        (now,),
    )
    connection.execute(
        "UPDATE agent_instances SET status = 'interrupted', process_ended_at = ?"
        " WHERE process_ended_at IS NULL AND actor_id LIKE 'agent:%'",
        (now,),
    )


def native_session_to_resume(
    connection: sqlite3.Connection, actor_id: str, room_id: str, protocol: str, cwd: str
) -> str | None:
    """Native id of the agent's newest session in this room that saw a turn, if it was opened with
    the same protocol and folder; None when there is none (a session without a turn is not worth
    resuming) or when the room's context was reset since."""
    row = connection.execute(
        "SELECT b.native_session_id, b.protocol, b.capabilities_json FROM session_bindings b"
        " WHERE b.actor_id = ? AND b.room_id = ? AND b.native_session_id IS NOT NULL"
        " AND b.transport = 'structured'"
        " AND EXISTS (SELECT 1 FROM turn_attempts a WHERE a.binding_id = b.binding_id"
        " AND a.delivery_certainty IN ('delivered', 'terminal'))"
        " AND b.created_at > COALESCE((SELECT MAX(r.created_at) FROM context_resets r"
        " WHERE r.room_id = b.room_id AND r.reset_native_sessions = 1), '')"
        " ORDER BY b.created_at DESC LIMIT 1",
        (actor_id, room_id),
    ).fetchone()
    if row is None or row[1] != protocol:
        return None
    capabilities = orjson.loads(row[2])
    return str(row[0]) if capabilities.get("cwd") == cwd else None
