"""Receipts of client commands: the same command twice is done once (contract §7.2)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from groupx_server.domain.command import canonical_hash
from groupx_server.ledger.failpoints import failpoint
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import BINDING_LOCAL, new_id

REDACTED: Final = "redacted"
"""In the place of the hash when what the command said was removed for good: a short text could be
guessed from its hash. Any content then counts as the same."""


def find_receipt(
    connection: sqlite3.Connection,
    binding_id: str,
    client_command_id: str,
    command_type: str,
    command_hash: str,
) -> dict[str, Any] | None:
    """Return the stored result of this very command, or None when it is new.

    Raises: RefusedError (CLIENT_COMMAND_CONFLICT) when the id was used for something else.
    """
    row = connection.execute(
        "SELECT command_type, canonical_hash, result_json FROM client_commands"
        " WHERE source_binding_id = ? AND client_command_id = ?",
        (binding_id, client_command_id),
    ).fetchone()
    if row is None:
        return None
    if row[0] != command_type or row[1] not in (command_hash, REDACTED):
        raise RefusedError(
            "This clientCommandId was used for another command before. Use a fresh id for each "
            "new command; repeat an id only to repeat the same command.",
            code=ErrorCode.CLIENT_COMMAND_CONFLICT,
        )
    result: dict[str, Any] = orjson.loads(row[2]) if row[2] else {}
    return result


def store_receipt(
    connection: sqlite3.Connection,
    binding_id: str,
    client_command_id: str,
    command_type: str,
    command_hash: str,
    result: dict[str, Any],
    now: str,
) -> None:
    """Keep the result of a command for its repetition."""
    connection.execute(
        "INSERT INTO client_commands(command_id, source_binding_id, client_command_id,"
        " command_type, canonical_hash, result_json, accepted_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            new_id("cmd"),
            binding_id,
            client_command_id,
            command_type,
            command_hash,
            orjson.dumps(result).decode(),
            now,
        ),
    )
    failpoint("receipt.before_commit")


def once(
    connection: sqlite3.Connection,
    client_command_id: str,
    command_type: str,
    content: Mapping[str, Any],
    act: Callable[[], dict[str, Any]],
    now: str,
    binding_id: str = BINDING_LOCAL,
) -> dict[str, Any]:
    """Do `act` and keep its result, or return the first result of the same command.

    Raises: RefusedError (CLIENT_COMMAND_CONFLICT, and whatever `act` refuses).
    """
    command_hash = canonical_hash(command_type, content)
    stored = find_receipt(connection, binding_id, client_command_id, command_type, command_hash)
    if stored is not None:
        return stored
    result = act()
    store_receipt(
        connection, binding_id, client_command_id, command_type, command_hash, result, now
    )
    return result
