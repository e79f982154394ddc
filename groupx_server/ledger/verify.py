"""What must hold in every ledger, as queries that find what breaks it.

Used by crash tests after each kill, and by whoever wants to prove a file. Each rule returns rows
only when it is broken.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.turns import OPEN_SQL

_TERMINALS: Final = "('turn.completed', 'turn.failed', 'turn.cancelled', 'turn.interrupted')"

RULES: Final[dict[str, str]] = {
    "an ended turn has its terminal event": f"""
        SELECT t.turn_id FROM turns t WHERE t.status NOT IN {OPEN_SQL} AND NOT EXISTS (
            SELECT 1 FROM events e WHERE e.event_id = t.terminal_event_id
            AND e.event_type = 'turn.' || t.status
            AND e.idempotency_key = 'turn:' || t.turn_id || ':terminal')""",
    "a turn has at most one terminal event": f"""
        SELECT json_extract(body_json, '$.turnId') FROM events WHERE event_type IN {_TERMINALS}
            GROUP BY 1 HAVING count(*) > 1""",
    "an open turn has no terminal event": f"""
        SELECT t.turn_id FROM turns t JOIN events e ON e.room_id = t.room_id
            AND e.idempotency_key = 'turn:' || t.turn_id || ':terminal'
            WHERE t.status IN {OPEN_SQL}""",
    "a completed turn has an answer and was delivered": """
        SELECT t.turn_id FROM turns t WHERE t.status = 'completed' AND (
            t.response_event_id IS NULL OR NOT EXISTS (SELECT 1 FROM turn_attempts a
            WHERE a.turn_id = t.turn_id AND a.delivery_certainty IN ('delivered', 'terminal')))""",
    "a turn that did not complete has no answer": """
        SELECT turn_id FROM turns WHERE status <> 'completed' AND response_event_id IS NOT NULL""",
    "every message's target has its turn": """
        SELECT e.event_id FROM events e, json_each(e.targets_json) target
            WHERE e.event_type = 'message.created' AND NOT EXISTS (SELECT 1 FROM turns t
            WHERE t.source_event_id = e.event_id AND t.target_actor_id = target.value)""",
    "an ended turn has no open attempt": f"""
        SELECT a.attempt_id FROM turn_attempts a JOIN turns t ON t.turn_id = a.turn_id
            WHERE a.terminal_at IS NULL AND t.status NOT IN {OPEN_SQL}""",
    "a turn is sent to its agent at most once": """
        SELECT turn_id FROM turn_attempts WHERE prompt_invoked_at IS NOT NULL
            GROUP BY turn_id HAVING count(*) > 1""",
    "an agent works on one turn at a time": """
        SELECT target_actor_id FROM turns
            WHERE status IN ('dispatching', 'running', 'cancelling')
            GROUP BY target_actor_id HAVING count(*) > 1""",
    "a delivery cursor is not ahead of what was delivered": """
        SELECT c.actor_id FROM delivery_cursors c WHERE c.last_delivered_seq > COALESCE(
            (SELECT MAX(a.context_through_seq) FROM turn_attempts a
            JOIN turns t ON t.turn_id = a.turn_id WHERE t.target_actor_id = c.actor_id
            AND t.room_id = c.room_id AND a.delivery_certainty IN ('delivered', 'terminal')), 0)""",
    "an ended turn keeps no pieces": f"""
        SELECT p.turn_id FROM turn_partials p JOIN turns t ON t.turn_id = p.turn_id
            WHERE t.status NOT IN {OPEN_SQL}""",
    "a room's counters are true": """
        SELECT r.room_id FROM rooms r WHERE (r.event_count, r.last_seq) <> (
            SELECT count(*), COALESCE(MAX(seq), 0) FROM events e WHERE e.room_id = r.room_id)
            OR r.message_count <> (
            SELECT count(*) FROM room_messages m WHERE m.room_id = r.room_id)""",
    "the message index has true totals": """
        SELECT m.seq FROM room_messages m WHERE (m.total_count, m.total_chars) <> (
            SELECT count(*), SUM(o.chars) FROM room_messages o
            WHERE o.room_id = m.room_id AND o.seq <= m.seq)""",
    "every event is in a room": """
        SELECT event_id FROM events WHERE room_id NOT IN (SELECT room_id FROM rooms)""",
}
SHOWN: Final = 5
"""Examples listed of each broken rule."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule with some of the rows that break it."""

    rule: str
    rows: tuple[str, ...]


def find_violations(connection: sqlite3.Connection) -> list[Violation]:
    """Check everything: SQLite's own integrity, foreign keys, and each rule. Grows with the
    ledger; never called while serving."""
    found: list[Violation] = []
    integrity = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    if integrity != ["ok"]:
        found.append(Violation("SQLite's integrity check passes", tuple(integrity[:SHOWN])))
    for name, sql in {**RULES, "foreign keys hold": "PRAGMA foreign_key_check"}.items():
        rows = connection.execute(sql).fetchmany(SHOWN)
        if rows:
            found.append(Violation(name, tuple(str(row[0]) for row in rows)))
    return found
