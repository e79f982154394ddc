"""Actors: people, agents, the system. Their names are copied into each event they write."""

from __future__ import annotations

import sqlite3


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


def disable_others(connection: sqlite3.Connection, roster: list[str], now: str) -> None:
    """Mark agents that are not in the roster any more as disabled; their rows stay."""
    marks = ", ".join("?" * len(roster))
    connection.execute(
        "UPDATE actors SET enabled = 0, updated_at = ? WHERE kind = 'agent' AND enabled = 1"
        f" AND actor_id NOT IN ({marks})",
        (now, *roster),
    )
