"""A few rows of every table, as each schema version held them, and what an upgrade makes of them.

`ROWS` holds the rows with all columns of version 9. A file of an older version holds the columns
it had (`rows_of`). After an upgrade a column must hold what the row had, or, where the column was
not there yet, what `FILLED` says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

Row = Mapping[str, Any]

_T: Final = "2025-03-04T05:06:0{}.{}00Z"


def _at(step: int) -> str:
    return _T.format(step // 10, step % 10)


def _json(**body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _actor(actor_id: str, name: str, enabled: int = 1) -> Row:
    return {
        "actor_id": actor_id,
        "kind": actor_id.partition(":")[0],
        "display_name": name,
        "enabled": enabled,
        "created_at": _at(0),
        "updated_at": _at(0),
    }


def _instance(instance_id: str, actor_id: str, adapter: str, **more: Any) -> Row:
    return {
        "instance_id": instance_id,
        "actor_id": actor_id,
        "adapter_id": adapter,
        "process_started_at": _at(1),
        "process_ended_at": None,
        "status": "ready",
        "transport": None,
    } | more


def _binding(binding_id: str, instance_id: str, actor_id: str, **more: Any) -> Row:
    return {
        "binding_id": binding_id,
        "instance_id": instance_id,
        "actor_id": actor_id,
        "native_session_id": None,
        "protocol": "acp",
        "protocol_version": None,
        "status": "ready",
        "capabilities_json": _json(access="unrestricted"),
        "created_at": _at(1),
        "last_ready_at": None,
        "closed_at": None,
        "transport": None,
    } | more


def _event(seq: int, kind: str, actor_id: str, body: str, **more: Any) -> Row:
    return {
        "seq": seq,
        "event_id": f"evt_{seq}",
        "schema_version": "groupx.event/0.1",
        "room_id": "room:main",
        "event_type": kind,
        "actor_id": actor_id,
        "actor_kind": actor_id.partition(":")[0],
        "actor_display_name": actor_id.partition(":")[2],
        "instance_id": None,
        "targets_json": "[]",
        "reply_to_event_id": None,
        "causation_id": None,
        "correlation_id": "corr_1",
        "idempotency_key": None,
        "occurred_at": _at(seq),
        "body_json": body,
        "provenance_json": None,
    } | more


def _turn(name: str, source: int, queued: int, target: str, status: str, **more: Any) -> Row:
    return {
        "turn_id": f"turn_{name}",
        "source_event_id": f"evt_{source}",
        "target_actor_id": target,
        "adapter_id": target.partition(":")[2],
        "binding_id": None,
        "native_turn_id": None,
        "parent_turn_id": None,
        "root_correlation_id": "corr_1",
        "hop_count": 0,
        "queued_event_id": f"evt_{queued}",
        "enqueue_seq": queued,
        "status": status,
        "partial_text": None,
        "response_event_id": None,
        "terminal_event_id": None,
        "error_code": None,
        "queued_at": _at(queued),
        "started_at": None,
        "terminal_at": None,
        "transport": "structured",
    } | more


def _attempt(name: str, certainty: str, phase: str, **more: Any) -> Row:
    return {
        "attempt_id": f"attempt_{name}",
        "turn_id": f"turn_{name}",
        "binding_id": "binding_codex_1",
        "instance_id": "instance_codex_1",
        "context_through_seq": 1,
        "native_turn_id": None,
        "claimed_at": _at(3),
        "started_at": None,
        "terminal_at": None,
        "delivery_certainty": certainty,
        "dispatch_phase": phase,
        "prompt_invoked_at": None,
        "summary_through_seq": None,
    } | more


def _memory(name: str, scope: str, scope_id: str, content: str, **more: Any) -> Row:
    return {
        "memory_id": f"mem_{name}",
        "scope_type": scope,
        "scope_id": scope_id,
        "kind": "fact",
        "author_actor_id": "user:web",
        "subject_actor_id": None,
        "content": content,
        "source_event_id": "evt_1",
        "source_kind": "web",
        "status": "active",
        "supersedes_memory_id": None,
        "created_at": _at(4),
        "retracted_at": None,
        "agent_memory_type": "core" if scope == "agent" else None,
    } | more


ROWS: Final[Mapping[str, tuple[Row, ...]]] = {
    "actors": (
        _actor("user:web", "You"),
        _actor("user:assistant", "房间助理", enabled=0),
        _actor("agent:codex", "Codex"),
        _actor("agent:kimi", "Kimi"),
        _actor("system:groupx", "GroupX"),
    ),
    "agent_instances": (
        _instance("instance:web", "user:web", "web"),
        _instance(
            "instance_codex_1",
            "agent:codex",
            "codex",
            process_ended_at=_at(9),
            status="interrupted",
            transport="structured",
        ),
    ),
    "session_bindings": (
        _binding("binding:web", "instance:web", "user:web", protocol="local-rest"),
        _binding(
            "binding_codex_1",
            "instance_codex_1",
            "agent:codex",
            native_session_id="session-1",
            protocol_version="1",
            status="interrupted",
            last_ready_at=_at(2),
            closed_at=_at(9),
            transport="structured",
        ),
    ),
    "client_commands": (
        {
            "command_id": "cmd_1",
            "source_binding_id": "binding:web",
            "client_command_id": "client-1",
            "command_type": "message.send",
            "canonical_hash": "0" * 64,
            "result_json": _json(messageEventId="evt_1"),
            "accepted_at": _at(1),
        },
    ),
    "events": (
        _event(
            1,
            "message.created",
            "user:web",
            _json(content="hello 👋 你好"),
            instance_id="instance:web",
            targets_json='["agent:codex","agent:kimi"]',
            provenance_json=_json(sourceKind="web"),
        ),
        _event(2, "turn.queued", "system:groupx", _json(turnId="turn_done"), causation_id="evt_1"),
        _event(3, "turn.queued", "system:groupx", _json(turnId="turn_lost"), causation_id="evt_1"),
        _event(4, "operator.dispatch", "user:assistant", _json(content="look at it")),
        _event(5, "turn.queued", "system:groupx", _json(turnId="turn_open"), causation_id="evt_4"),
        _event(
            6,
            "message.created",
            "system:groupx",
            _json(content="watch them", kind="supervision.watch"),
        ),
        _event(7, "turn.queued", "system:groupx", _json(turnId="turn_wait"), causation_id="evt_6"),
        _event(
            8,
            "message.created",
            "agent:codex",
            _json(turnId="turn_done", content="done"),
            reply_to_event_id="evt_1",
            causation_id="turn_done",
        ),
        _event(9, "turn.completed", "agent:codex", _json(turnId="turn_done", status="completed")),
        _event(10, "turn.interrupted", "system:groupx", _json(turnId="turn_lost")),
        _event(
            12,  # 11 was rolled back once; numbers are not used again
            "message.created",
            "user:web",
            "not json: an old bug",
            room_id="room:side",
            correlation_id="corr_2",
        ),
        _event(
            13,
            "turn.queued",
            "system:groupx",
            _json(turnId="turn_side"),
            room_id="room:side",
            correlation_id="corr_2",
        ),
    ),
    "turns": (
        _turn(
            "done",
            1,
            2,
            "agent:codex",
            "completed",
            binding_id="binding_codex_1",
            native_turn_id="native-1",
            response_event_id="evt_8",
            terminal_event_id="evt_9",
            started_at=_at(4),
            terminal_at=_at(9),
        ),
        _turn(
            "lost",
            1,
            3,
            "agent:kimi",
            "interrupted",
            binding_id="binding_codex_1",
            partial_text="half an ans",
            terminal_event_id="evt_10",
            error_code="TURN_INTERRUPTED",
            started_at=_at(4),
            terminal_at=_at(10),
        ),
        _turn("open", 4, 5, "agent:codex", "running", parent_turn_id="turn_done", hop_count=1),
        _turn("wait", 6, 7, "agent:kimi", "dispatching"),
        _turn("side", 12, 13, "agent:kimi", "queued", root_correlation_id="corr_2"),
    ),
    "turn_attempts": (
        _attempt(
            "done",
            "delivered",
            "terminal",
            native_turn_id="native-1",
            started_at=_at(4),
            terminal_at=_at(9),
            prompt_invoked_at=_at(3),
            summary_through_seq=0,
        ),
        _attempt("lost", "unknown", "terminal", started_at=_at(4), terminal_at=_at(10)),
        _attempt("open", "delivered", "native_started", started_at=_at(6)),
        _attempt("wait", "not_delivered", "prepared"),
    ),
    "approval_requests": (
        {
            "approval_id": "approval_1",
            "turn_id": "turn_open",
            "binding_id": "binding_codex_1",
            "native_request_id": "native-request-1",
            "request_json": _json(command="ls"),
            "status": "pending",
            "decision_json": None,
            "requested_at": _at(6),
            "resolved_at": None,
        },
    ),
    "delivery_cursors": (
        {
            "actor_id": "agent:codex",
            "room_id": "room:main",
            "last_delivered_seq": 4,
            "last_summary_seq": None,
            "updated_at": _at(6),
        },
    ),
    "memory_records": (
        _memory("room", "room", "room:main", "the build uses hatchling"),
        _memory("agent", "agent", "agent:codex", "prefers small commits"),
        _memory(
            "old", "correlation", "corr_1", "superseded words", status="superseded", kind="note"
        ),
        _memory(
            "new",
            "correlation",
            "corr_1",
            "新的内容 newer words",
            supersedes_memory_id="mem_old",
            subject_actor_id="agent:kimi",
        ),
    ),
    "identity_records": (
        {
            "identity_id": "identity_1",
            "subject_actor_id": "agent:codex",
            "author_actor_id": "user:web",
            "kind": "role",
            "content": "reviews the code",
            "source_event_id": None,
            "source_kind": "web",
            "status": "active",
            "supersedes_identity_id": None,
            "created_at": _at(5),
            "retracted_at": None,
        },
    ),
    "summaries": (
        {
            "summary_id": "summary_1",
            "room_id": "room:main",
            "from_seq": 1,
            "through_seq": 1,
            "content": "they greeted",
            "generator_actor_id": "agent:codex",
            "status": "superseded",
            "created_at": _at(6),
        },
        {
            "summary_id": "summary_2",
            "room_id": "room:main",
            "from_seq": 1,
            "through_seq": 4,
            "content": "they greeted and looked",
            "generator_actor_id": "agent:codex",
            "status": "active",
            "created_at": _at(7),
        },
    ),
    "agent_dated_memory_rollups": (
        {
            "room_id": "room:main",
            "actor_id": "agent:codex",
            "local_date": "2025-03-04",
            "memory_id": None,
            "summarized_through_seq": 0,
            "pending_through_seq": 8,
            "pending_turns": 1,
            "pending_chars": 14,
            "first_pending_at": _at(9),
            "last_pending_at": _at(9),
            "failure_count": 0,
            "last_attempt_at": None,
            "next_attempt_at": None,
            "last_error_code": None,
            "updated_at": _at(9),
        },
    ),
    "agent_dated_memory_sources": (
        {
            "turn_id": "turn_done",
            "room_id": "room:main",
            "actor_id": "agent:codex",
            "local_date": "2025-03-04",
            "source_event_id": "evt_1",
            "source_seq": 1,
            "response_event_id": "evt_8",
            "response_seq": 8,
            "source_chars": 14,
            "terminal_at": _at(9),
            "processed_at": None,
            "memory_id": None,
        },
    ),
    "supervision_pairs": (
        {
            "pair_id": "pair_1",
            "room_id": "room:main",
            "correlation_id": "corr_1",
            "source_event_id": "evt_4",
            "watch_event_id": "evt_6",
            "pair_event_id": "evt_7",
            "mode": "live_steer",
            "created_at": _at(7),
        },
    ),
    "supervision_pair_turns": (
        {
            "turn_id": "turn_wait",
            "pair_id": "pair_1",
            "role": "observer",
            "actor_id": "agent:kimi",
            "created_at": _at(7),
        },
    ),
    "supervision_steer_counts": ({"subject_turn_id": "turn_open", "steer_count": 2},),
    "assistant_conversation_messages": (
        {
            "message_id": "asst_1",
            "role": "user",
            "content": "what goes on?",
            "created_at": _at(8),
            "client_command_id": "client-2",
        },
    ),
    "context_resets": (
        {
            "reset_id": "reset_1",
            "room_id": "room:main",
            "through_seq": 0,
            "reset_native_sessions": 1,
            "created_at": _at(8),
        },
    ),
}

FILLED: Final[Mapping[tuple[str, str], Mapping[str, Any]]] = {
    # (table, column): {first column of the row: value}; rows not named hold null
    ("agent_instances", "transport"): {"instance_codex_1": "structured"},
    ("session_bindings", "transport"): {"binding_codex_1": "structured"},
    ("session_bindings", "room_id"): {"binding_codex_1": "room:main"},
    ("turns", "transport"): dict.fromkeys(
        ("turn_done", "turn_lost", "turn_open", "turn_wait", "turn_side"), "structured"
    ),
    ("turns", "room_id"): dict.fromkeys(
        ("turn_done", "turn_lost", "turn_open", "turn_wait"), "room:main"
    )
    | {"turn_side": "room:side"},
    ("turns", "asked"): dict.fromkeys(
        ("turn_done", "turn_lost", "turn_open", "turn_wait", "turn_side"), 0
    ),
    ("turn_attempts", "dispatch_phase"): {
        "attempt_done": "terminal",
        "attempt_lost": "terminal",
        "attempt_open": "native_started",
        "attempt_wait": "prompt_invoked",  # may have been sent: never sent again by itself
    },
    ("memory_records", "agent_memory_type"): {"mem_agent": "core"},
    ("assistant_conversation_messages", "cut"): {"asst_1": 0},
}

ADDED: Final = {"agent_instances": 1, "session_bindings": 1}
"""Rows that an upgrade adds behind the old ones: the room assistant's own."""

NEW_KEYS: Final = {8: "turn:turn_done:response", 9: "turn:turn_done:terminal"} | {
    10: "turn:turn_lost:terminal"
}
"""seq -> events.idempotency_key given by version 10."""


def rows_of(columns: Mapping[str, tuple[str, ...]]) -> dict[str, list[Row]]:
    """Return the rows a file with these tables and columns holds."""
    return {
        table: [{name: row[name] for name in columns[table] if name in row} for row in rows]
        for table, rows in ROWS.items()
        if table in columns
    }


def expected_row(table: str, row: Row, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return what `row` of an old file must be after the upgrade to a table with `columns`."""
    key = next(iter(row.values()))
    expected = {
        column: row[column] if column in row else FILLED.get((table, column), {}).get(key)
        for column in columns
    }
    if table == "events" and (given := NEW_KEYS.get(row["seq"])) is not None:
        expected["idempotency_key"] = given
    return expected
