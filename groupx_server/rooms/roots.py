"""Roots as use cases: what one message led to, and ending all of it at once."""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import cast

from groupx_server.ledger.cancel import Cancelled
from groupx_server.ledger.commands import once
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.roots import (
    RootSelection,
    cancel_root,
    list_roots,
    read_root,
    show_root,
)
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.wire.roots import RootCancelled, RootList, RootReply


class Roots:
    """What people see and do of roots."""

    def __init__(self, runtime: Runtime, agents: Agents) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._agents = agents

    async def list(
        self, room_id: str | None, status: str, before: int | None, limit: int
    ) -> RootList:
        """Roots, newest first. Raises: RefusedError (UNKNOWN_ROOM)."""

        def query(connection: sqlite3.Connection) -> RootList:
            if room_id is not None:
                read_room(connection, room_id)
            return list_roots(connection, room_id, cast("RootSelection", status), before, limit)

        return await self._ledger.read(query)

    async def show(self, correlation_id: str) -> RootReply:
        """One root with its turns. Raises: RefusedError (UNKNOWN_EVENT)."""
        return await self._ledger.read(partial(show_root, correlation_id=correlation_id))

    async def cancel(self, correlation_id: str, client_command_id: str) -> RootCancelled:
        """Cancel all open turns of a root.

        Raises: RefusedError (UNKNOWN_EVENT, CLIENT_COMMAND_CONFLICT).
        """
        done: list[Cancelled] = []

        def step(connection: sqlite3.Connection) -> RootCancelled:
            def act() -> dict[str, object]:
                done[:] = cancel_root(
                    connection, correlation_id, self._runtime.limits, self._runtime.clock.now()
                )
                reply = RootCancelled(
                    correlation_id=correlation_id,
                    room_id=read_root(connection, correlation_id).room_id,
                    turns=tuple(cancelled.reply for cancelled in done),
                )
                return reply.model_dump(mode="json", by_alias=True)

            now = self._runtime.clock.now()
            content = {"correlationId": correlation_id}
            stored = once(connection, client_command_id, "root.cancel", content, act, now)
            return RootCancelled.model_validate(stored)

        reply = await self._ledger.write(step)
        for cancelled in done:
            self._agents.cancelled(cancelled)
        return reply
