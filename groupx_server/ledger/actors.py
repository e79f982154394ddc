"""Actors: people, agents, the system. Their names are copied into each event they write."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence


def upsert_agent(
    connection: sqlite3.Connection, actor_id: str, display_name: str, enabled: bool, now: str
) -> None:
    """Make the roster's agent known, or bring its name and switch up to date."""
    connection.execute(
        "INSERT INTO actors(actor_id, kind, display_name, enabled, created_at, updated_at)"
        " VALUES (?, 'agent', ?, ?, ?, ?)"
        " ON CONFLICT(actor_id) DO UPDATE SET display_name = excluded.display_name,"
        " enabled = excluded.enabled, updated_at = excluded.updated_at"
        " WHERE display_name <> excluded.display_name OR enabled <> excluded.enabled",
        (actor_id, display_name, int(enabled), now, now),
    )


def name_actor(
    connection: sqlite3.Connection, actor_id: str, display_name: str, enabled: bool, now: str
) -> None:
    """Bring the name and switch of an actor that is always there up to date."""
    connection.execute(
        "UPDATE actors SET display_name = ?, enabled = ?, updated_at = ? WHERE actor_id = ?"
        " AND (display_name <> ? OR enabled <> ?)",
        (display_name, int(enabled), now, actor_id, display_name, int(enabled)),
    )


def disable_others(connection: sqlite3.Connection, roster: list[str], now: str) -> None:
    """Mark agents that are not in the roster any more as disabled; their rows stay."""
    marks = ", ".join("?" * len(roster))
    connection.execute(
        "UPDATE actors SET enabled = 0, updated_at = ? WHERE kind = 'agent' AND enabled = 1"
        f" AND actor_id NOT IN ({marks})",
        (now, *roster),
    )


def display_name(connection: sqlite3.Connection, actor_id: str) -> str:
    """What an actor is called now; its id when it is not known."""
    row = connection.execute(
        "SELECT display_name FROM actors WHERE actor_id = ?", (actor_id,)
    ).fetchone()
    return actor_id if row is None else str(row[0])


def author_names(connection: sqlite3.Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """What the authors of events were called when they wrote them."""
    rows = connection.execute(
        "SELECT event_id, actor_display_name FROM events WHERE event_id IN"
        f" ({', '.join('?' * len(event_ids))})",
        event_ids,
    )
    return dict(rows.fetchall())
