"""The native sessions of one agent, with their rows in the ledger.

A session is opened when a room's first turn needs it, in the host's one process; its binding and
its `session.ready|resumed` event are written before the first prompt. Nothing has been sent while
a session opens, so opening may be tried again.
"""

from __future__ import annotations

import asyncio
import sqlite3
from functools import partial
from typing import Final

from groupx_server.agents.base import McpEndpoint, Session, SessionRequest
from groupx_server.agents.host import AgentHost
from groupx_server.ledger.bindings import (
    NewBinding,
    NewInstance,
    end_instance,
    insert_binding,
    insert_instance,
    native_session_to_resume,
)
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.turnrunner import Binding, Runtime
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.ids import new_id
from groupx_shared.settings import BUILTIN_DRIVER
from groupx_shared.text import safe_line
from groupx_shared.wire.bodies import SessionBody
from groupx_shared.wire.events import EventType

OPEN_ATTEMPTS: Final = 3
FIRST_PAUSE_S: Final = 0.4
RETRYABLE: Final = frozenset(
    {
        ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT,
        ErrorCode.PROTOCOL_INVALID_MESSAGE,
        ErrorCode.SESSION_NOT_AVAILABLE,
        ErrorCode.TURN_INTERRUPTED,
    }
)


class SessionBook:
    """Sessions of one agent by room."""

    def __init__(self, runtime: Runtime, host: AgentHost, entry: RosterEntry) -> None:
        self._ledger = runtime.ledger
        self._clock = runtime.clock
        self._grants = runtime.grants
        self._host = host
        self._entry = entry
        self._bindings: dict[str, Binding] = {}
        self._instance_id: str | None = None
        self._stale: set[str] = set()

    def forget(self, room_id: str) -> None:
        """Open the room's session anew, for its next turn."""
        self._stale.add(room_id)

    def adopt(self, entry: RosterEntry) -> None:
        """Take over another name or identity of the same agent."""
        self._entry = entry

    def open_one(self, room_id: str) -> Binding | None:
        """The room's session when it can take a prompt as it is."""
        known = self._bindings.get(room_id)
        if known is None or room_id in self._stale or known.session.lost:
            return None
        is_same = known.instance_id == self._host.instance_id
        return known if is_same and self._host.keeps(room_id, known.session) else None

    async def acquire(self, room_id: str) -> Binding:
        """The room's session, opened if needed. Raises: AgentError after bounded tries; the room
        then has a `session.failed`."""
        for number in range(1, OPEN_ATTEMPTS + 1):
            try:
                return await self._open(room_id)
            except AgentError as error:
                if error.code not in RETRYABLE or number == OPEN_ATTEMPTS:
                    await self._record_failure(room_id, error)
                    raise
            await asyncio.sleep(FIRST_PAUSE_S * 2 ** (number - 1))
        raise AssertionError("unreachable")

    async def _open(self, room_id: str) -> Binding:
        if room_id in self._stale:
            await self._host.forget(room_id)
            self._stale.discard(room_id)
        known = self._bindings.get(room_id)
        resume_id = None
        if known is None or known.session.lost or known.instance_id != self._host.instance_id:
            resume_id = await self._resume_id(room_id)
        caller = Caller(new_id(f"binding_{self._entry.handle}"), self._entry.actor_id, room_id)
        request = SessionRequest(
            cwd=self._entry.spec.cwd,
            resume_native_id=resume_id,
            mcp=self._tools_for(caller),
            meta={"groupx": {"roomId": room_id}},
        )
        try:
            session = await self._host.session(room_id, request)
            if known is None or known.session is not session:
                return await self._record(caller, session)
        except BaseException:
            self._revoke(caller.binding_id)
            raise
        self._revoke(caller.binding_id)  # the open session goes on with the token it has
        return known

    def _tools_for(self, caller: Caller) -> McpEndpoint | None:
        """The room's tools. The built-in agent reads the room by itself and takes none: that is no
        trouble to tell of."""
        if self._grants is None or self._entry.driver == BUILTIN_DRIVER:
            return None
        return self._grants.issue(caller)

    def _revoke(self, binding_id: str) -> None:
        if self._grants is not None:
            self._grants.revoke(binding_id)

    async def _resume_id(self, room_id: str) -> str | None:
        query = partial(
            native_session_to_resume,
            actor_id=self._entry.actor_id,
            room_id=room_id,
            protocol=self._host.protocol,
            cwd=str(self._entry.spec.cwd),
        )
        return await read_patiently(self._ledger, query)

    async def _record(self, caller: Caller, session: Session) -> Binding:
        room_id = caller.room_id
        instance_id = self._host.instance_id
        assert instance_id is not None
        info = self._host.info
        assert info is not None
        binding = Binding(
            session=session,
            binding_id=caller.binding_id,
            instance_id=instance_id,
            is_fresh=session.continuity != "resumed",
        )
        row = NewBinding(
            binding_id=binding.binding_id,
            instance_id=instance_id,
            actor_id=self._entry.actor_id,
            room_id=room_id,
            native_session_id=session.native_session_id,
            protocol=info.protocol,
            protocol_version=info.protocol_version,
            capabilities={
                "transport": "structured",
                "access": "unrestricted",
                "cwd": str(self._entry.spec.cwd),
                "continuity": session.continuity,
                "currentTurnMcp": session.has_mcp,
            },
        )
        body = SessionBody(
            phase="resumed" if session.continuity == "resumed" else "ready",
            agent_id=self._entry.handle,
            actor_id=self._entry.actor_id,
            continuity=session.continuity,
            error_code=ErrorCode.MCP_UNAVAILABLE if session.mcp_problem else None,
            agent_name=safe_line(info.name, 80),
            agent_version=safe_line(info.version, 40),
            has_tools=session.has_mcp,
            tools_problem=safe_line(session.mcp_problem, 300) or None,
        )
        before = self._instance_id
        now = self._clock.now()

        def step(connection: sqlite3.Connection) -> None:
            if before is not None and before != instance_id:
                end_instance(connection, before, "interrupted", now)
            if before != instance_id:
                instance = NewInstance(instance_id, self._entry.actor_id, self._entry.driver)
                insert_instance(connection, instance, now)
            insert_binding(connection, row, now)
            insert_event(connection, self._event(room_id, body, now))

        await write_patiently(self._ledger, step)
        self._instance_id = instance_id
        for room, old in self._bindings.items():
            if room == room_id or old.instance_id != instance_id:
                self._revoke(old.binding_id)
        self._bindings[room_id] = binding
        return binding

    async def close_ended(self) -> None:
        """Close the rows of a process that is gone; one that runs is left alone."""
        if self._instance_id != self._host.instance_id:
            await self.close("interrupted")

    async def close(self, status: str) -> None:
        """Close the process's rows. `status`: stopped, failed or interrupted."""
        for binding in self._bindings.values():
            self._revoke(binding.binding_id)
        self._bindings.clear()
        instance_id, self._instance_id = self._instance_id, None
        if instance_id is not None:
            step = partial(
                end_instance, instance_id=instance_id, status=status, now=self._clock.now()
            )
            await write_patiently(self._ledger, step)

    async def _record_failure(self, room_id: str, error: AgentError) -> None:
        body = SessionBody(
            phase="failed",
            agent_id=self._entry.handle,
            actor_id=self._entry.actor_id,
            error_code=error.code,
            error_message=safe_line(error.message, 1024),
        )
        event = self._event(room_id, body, self._clock.now())
        await write_patiently(self._ledger, partial(insert_event, event=event))

    def _event(self, room_id: str, body: SessionBody, now: str) -> NewEvent:
        kinds = {
            "ready": EventType.SESSION_READY,
            "resumed": EventType.SESSION_RESUMED,
            "failed": EventType.SESSION_FAILED,
        }
        return NewEvent(
            event_id=new_id("evt"),
            room_id=room_id,
            type=kinds[body.phase],
            actor_id=self._entry.actor_id,
            correlation_id=new_id("corr"),
            occurred_at=now,
            body=body.model_dump(by_alias=True, exclude_none=True),
        )
