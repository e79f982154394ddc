"""What must hold in every ledger, as queries that return the rows which break it.

Each rule says from which schema version on it can be asked; those of version 1 hold in the files
of the earlier program too. `verify.py` asks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.turns import OPEN_SQL


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence, and the SQL that finds what contradicts it; `since` is the schema version that
    brought the last column it needs."""

    name: str
    sql: str
    since: int = 1


_TERMINALS: Final = "('turn.completed', 'turn.failed', 'turn.cancelled', 'turn.interrupted')"
_TURN_ID: Final = "json_extract(e.body_json, '$.turnId')"
_MESSAGE_ID: Final = "json_extract(c.result_json, '$.messageEventId')"

RULES: Final = (
    Rule(
        "what is stored as JSON is JSON",
        """SELECT event_id FROM events WHERE NOT (json_valid(body_json)
            AND json_valid(targets_json) AND json_valid(COALESCE(provenance_json, '{}')))""",
    ),
    # Once and only once.
    Rule(
        "an ended turn has its terminal event",
        f"""SELECT t.turn_id FROM turns t WHERE t.status NOT IN {OPEN_SQL} AND NOT EXISTS (
            SELECT 1 FROM events e WHERE e.event_id = t.terminal_event_id
            AND e.event_type = 'turn.' || t.status AND {_TURN_ID} = t.turn_id)""",
    ),
    Rule(
        "the end of a turn has the turn's key",
        f"""SELECT t.turn_id FROM turns t WHERE t.status NOT IN {OPEN_SQL} AND NOT EXISTS (
            SELECT 1 FROM events e WHERE e.event_id = t.terminal_event_id
            AND e.idempotency_key = 'turn:' || t.turn_id || ':terminal')""",
        since=10,
    ),
    Rule(
        "a turn has at most one terminal event",
        f"""SELECT {_TURN_ID} FROM events e WHERE e.event_type IN {_TERMINALS}
            AND {_TURN_ID} IS NOT NULL GROUP BY 1 HAVING count(*) > 1""",
    ),
    Rule(
        "an open turn has no terminal event",
        f"""SELECT t.turn_id FROM turns t JOIN events e ON e.correlation_id = t.root_correlation_id
            WHERE t.status IN {OPEN_SQL} AND e.event_type IN {_TERMINALS}
            AND {_TURN_ID} = t.turn_id""",
    ),
    Rule(
        "an ended turn has no open attempt",
        f"""SELECT a.attempt_id FROM turn_attempts a JOIN turns t ON t.turn_id = a.turn_id
            WHERE a.terminal_at IS NULL AND t.status NOT IN {OPEN_SQL}""",
    ),
    Rule(
        "a turn under way has one open attempt, a waiting one has none",
        f"""SELECT t.turn_id FROM turns t WHERE t.status IN {OPEN_SQL}
            AND (t.status <> 'queued') <> (SELECT count(*) FROM turn_attempts a
            WHERE a.turn_id = t.turn_id AND a.terminal_at IS NULL)""",
    ),
    Rule(
        "a turn is sent to its agent at most once",
        """SELECT turn_id FROM turn_attempts WHERE prompt_invoked_at IS NOT NULL
            GROUP BY turn_id HAVING count(*) > 1""",
        since=2,
    ),
    # Nothing lost.
    Rule(
        "every message's target has its turn",
        """SELECT e.event_id FROM events e, json_each(e.targets_json) target
            WHERE e.event_type = 'message.created' AND target.value LIKE 'agent:%'
            AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.source_event_id = e.event_id
            AND t.target_actor_id = target.value)""",
    ),
    Rule(
        "the message of an accepted command is there",
        f"""SELECT c.client_command_id FROM client_commands c WHERE {_MESSAGE_ID} IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM events e WHERE e.event_id = {_MESSAGE_ID})""",
    ),
    Rule(
        "the turns of an accepted command are there",
        """SELECT c.client_command_id FROM client_commands c, json_each(c.result_json, '$.turns') q
            WHERE NOT EXISTS (SELECT 1 FROM turns t
            WHERE t.turn_id = json_extract(q.value, '$.turnId'))""",
    ),
    Rule(
        "a completed turn has an answer and was delivered",
        """SELECT t.turn_id FROM turns t WHERE t.status = 'completed' AND NOT (EXISTS (
            SELECT 1 FROM events e WHERE e.event_id = t.response_event_id
            AND e.event_type = 'message.created') AND EXISTS (SELECT 1 FROM turn_attempts a
            WHERE a.turn_id = t.turn_id AND a.delivery_certainty IN ('delivered', 'terminal')))""",
    ),
    Rule(
        "a turn that did not complete has no answer",
        """SELECT turn_id FROM turns
            WHERE status <> 'completed' AND response_event_id IS NOT NULL""",
    ),
    Rule(
        "a delivery cursor is not ahead of what was delivered",
        # The earlier program forgot at a crash that an attempt was delivered, not that it began.
        """SELECT c.actor_id FROM delivery_cursors c WHERE c.last_delivered_seq > COALESCE(
            (SELECT MAX(a.context_through_seq) FROM turn_attempts a
            JOIN turns t ON t.turn_id = a.turn_id JOIN events e ON e.event_id = t.source_event_id
            WHERE t.target_actor_id = c.actor_id AND e.room_id = c.room_id
            AND (a.delivery_certainty IN ('delivered', 'terminal')
            OR a.started_at IS NOT NULL)), 0)""",
    ),
    # Order.
    Rule(
        "an agent works on one turn at a time",
        """SELECT target_actor_id FROM turns
            WHERE status IN ('dispatching', 'running', 'cancelling')
            GROUP BY target_actor_id HAVING count(*) > 1""",
    ),
    Rule(
        "an agent takes its turns in the order in which they were accepted",
        f"""SELECT turn_id FROM (SELECT t.turn_id, t.enqueue_seq,
            LAG(t.enqueue_seq) OVER (PARTITION BY t.target_actor_id ORDER BY e.seq) AS before
            FROM events e JOIN turns t ON t.turn_id = {_TURN_ID}
            WHERE e.event_type = 'turn.dispatched') WHERE before > enqueue_seq""",
    ),
    Rule(
        "question, answer and end stand in this order",
        """SELECT t.turn_id FROM turns t JOIN events source ON source.event_id = t.source_event_id
            JOIN events ending ON ending.event_id = t.terminal_event_id
            LEFT JOIN events answer ON answer.event_id = t.response_event_id
            WHERE NOT (source.seq < t.enqueue_seq AND t.enqueue_seq < ending.seq
            AND COALESCE(answer.seq BETWEEN t.enqueue_seq AND ending.seq, 1))""",
    ),
    # Who caused what.
    Rule(
        "a call is one hop below its caller's turn, in the same root and room",
        """SELECT c.turn_id FROM turns c LEFT JOIN turns p ON p.turn_id = c.parent_turn_id
            WHERE c.parent_turn_id IS NOT NULL AND (p.turn_id IS NULL OR (p.root_correlation_id,
            p.room_id, p.hop_count + 1) <> (c.root_correlation_id, c.room_id, c.hop_count))""",
        since=10,
    ),
    Rule(
        "a call was made by the agent whose turn is above it",
        """SELECT c.turn_id FROM turns c JOIN turns p ON p.turn_id = c.parent_turn_id
            JOIN events e ON e.event_id = c.source_event_id
            WHERE json_extract(e.provenance_json, '$.sourceKind') IN ('mcp', 'supervision')
            AND e.actor_id <> p.target_actor_id""",
        since=10,
    ),
    # Who watches whom.
    Rule(
        "a watched turn and its observers are in the pair's root and room",
        """SELECT p.turn_id FROM supervision_pair_turns p
            JOIN supervision_pairs s ON s.pair_id = p.pair_id
            JOIN turns t ON t.turn_id = p.turn_id WHERE t.target_actor_id <> p.actor_id
            OR (t.root_correlation_id, t.room_id) <> (s.correlation_id, s.room_id)""",
        since=16,
    ),
    Rule(
        "every steer is counted and has its message",
        """SELECT e.event_id FROM events e WHERE e.event_type = 'supervision.steered'
            AND json_extract(e.body_json, '$.messageEventId') IS NOT NULL AND NOT (EXISTS (
            SELECT 1 FROM events m
            WHERE m.event_id = json_extract(e.body_json, '$.messageEventId')) AND EXISTS (
            SELECT 1 FROM supervision_steer_counts c
            WHERE c.subject_turn_id = json_extract(e.body_json, '$.subjectTurnId')
            AND c.steer_count >= json_extract(e.body_json, '$.steerCount')))""",
        since=16,
    ),
    Rule(
        "advice that was not taken is a turn, other advice is none",
        """SELECT n.message_event_id FROM supervision_nudges n
            WHERE (n.state = 'queued') <> EXISTS (
            SELECT 1 FROM turns t WHERE t.source_event_id = n.message_event_id)""",
        since=16,
    ),
    Rule(
        "what a person said into a turn and was not taken is a turn, else it is none",
        """SELECT a.message_event_id FROM turn_advice a
            WHERE (a.state = 'queued') <> EXISTS (
            SELECT 1 FROM turns t WHERE t.source_event_id = a.message_event_id)""",
        since=26,
    ),
    Rule(
        "a watched turn that ended has its end as its last step",
        f"""SELECT t.turn_id FROM turns t JOIN watched_steps w ON w.turn_id = t.turn_id
            WHERE t.status NOT IN {OPEN_SQL} AND w.number = (SELECT MAX(x.number)
            FROM watched_steps x WHERE x.turn_id = t.turn_id) AND w.kind <> 'turn.ended'""",
        since=16,
    ),
    # What is kept beside the events agrees with them.
    Rule(
        "an ended turn keeps no pieces",
        f"""SELECT p.turn_id FROM turn_partials p JOIN turns t ON t.turn_id = p.turn_id
            WHERE t.status NOT IN {OPEN_SQL}""",
        since=10,
    ),
    Rule(
        "what turns cost in all counts every turn",
        """SELECT t.room_id FROM (SELECT room_id, target_actor_id AS actor_id, count(*) AS turns,
            count(usage_json) AS told FROM turns GROUP BY 1, 2) t
            WHERE (t.turns, t.told) <> (SELECT COALESCE(SUM(u.turns), 0),
            COALESCE(SUM(u.reported_turns), 0) FROM usage_totals u
            WHERE u.room_id = t.room_id AND u.actor_id = t.actor_id)""",
        since=18,
    ),
    Rule(
        "every event is in a room",
        "SELECT event_id FROM events WHERE room_id NOT IN (SELECT room_id FROM rooms)",
        since=10,
    ),
    Rule(
        "a room's counters are true",
        """SELECT r.room_id FROM rooms r WHERE (r.event_count, r.last_seq) <> (
            SELECT count(*), COALESCE(MAX(seq), 0) FROM events e WHERE e.room_id = r.room_id)
            OR r.message_count <> (
            SELECT count(*) FROM room_messages m WHERE m.room_id = r.room_id)""",
        since=10,
    ),
    Rule(
        "the message index has true totals",
        """SELECT seq FROM (SELECT seq, total_count, total_chars,
            ROW_NUMBER() OVER room AS count, SUM(chars) OVER room AS sum FROM room_messages
            WINDOW room AS (PARTITION BY room_id ORDER BY seq))
            WHERE (total_count, total_chars) <> (count, sum)""",
        since=10,
    ),
    # Search, memory, what was removed.
    Rule(
        "every row of the search index has its words, and no words are left of others",
        """SELECT row_id FROM search_rows WHERE row_id NOT IN (SELECT id FROM search_fts_docsize)
            UNION ALL SELECT id FROM search_fts_docsize
            WHERE id NOT IN (SELECT row_id FROM search_rows)""",
        since=13,
    ),
    Rule(
        "the search index holds no record that is history",
        """SELECT r.ref_id FROM search_rows r JOIN memory_records m ON m.memory_id = r.ref_id
            WHERE r.kind = 'memory' AND m.status <> 'active' AND NOT EXISTS (
            SELECT 1 FROM search_queue q WHERE q.ref_id = r.ref_id)""",
        since=13,
    ),
    Rule(
        "no vector is left of what is not in the search index",
        """SELECT row_id FROM search_vectors
            WHERE row_id NOT IN (SELECT row_id FROM search_rows)""",
        since=22,
    ),
    Rule(
        "a removed text is a tombstone",
        """SELECT d.ref_id FROM redactions d JOIN events e ON e.event_id = d.ref_id
            WHERE d.kind = 'event' AND json_extract(e.body_json, '$.redacted') IS NOT 1
            UNION ALL SELECT d.ref_id FROM redactions d JOIN memory_records m
            ON m.memory_id = d.ref_id WHERE d.kind = 'memory' AND m.content <> '[removed]'
            UNION ALL SELECT d.ref_id FROM redactions d JOIN assistant_conversation_messages a
            ON a.message_id = d.ref_id WHERE d.kind = 'side' AND a.content <> '[removed]'""",
        since=14,
    ),
    Rule(
        "a summary covers messages of its room",
        """SELECT summary_id FROM summaries s WHERE status = 'active' AND NOT EXISTS (
            SELECT 1 FROM room_messages m WHERE m.room_id = s.room_id AND m.seq = s.through_seq)""",
        since=14,
    ),
    Rule(
        "a day counts the turns that wait of it",
        """SELECT d.actor_id FROM agent_dated_memory_rollups d WHERE d.pending_turns <> (
            SELECT count(*) FROM agent_dated_memory_sources s WHERE s.room_id = d.room_id
            AND s.actor_id = d.actor_id AND s.local_date = d.local_date
            AND s.processed_at IS NULL)""",
        since=14,
    ),
    Rule(
        "a request to the assistant has at most one answer, and only when it has ended",
        """SELECT a.request_id FROM assistant_conversation_messages a
            JOIN assistant_conversation_messages r ON r.message_id = a.request_id
            WHERE a.role = 'assistant' GROUP BY a.request_id
            HAVING count(*) > 1 OR min(r.status) IN ('queued', 'running')""",
        since=15,
    ),
    Rule(
        "what the assistant did is an event by it",
        """SELECT act_id FROM assistant_acts a WHERE NOT EXISTS (
            SELECT 1 FROM events e WHERE e.event_id = a.event_id
            AND e.actor_id = 'user:assistant')""",
        since=15,
    ),
    Rule(
        "the original of what was passed on is there",
        """SELECT event_id FROM events e WHERE forwarded_event_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM events o WHERE o.event_id = e.forwarded_event_id)""",
        since=15,
    ),
)
