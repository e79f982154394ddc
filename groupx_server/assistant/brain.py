"""The assistant's program: one process, one session, with the operator's tools.

The token for the tools lives as long as the session it was given to. After a restart of the server
the native session is taken up again where its program can do that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from groupx_server.agents.base import AgentInfo, DriverFactory, Session, SessionRequest
from groupx_server.agents.host import AgentHost, HostStatus
from groupx_server.assistant.setup import Setup
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.sidesession import SideSession, read_side_session, write_side_session
from groupx_server.ledger.store import Ledger
from groupx_server.logs import get_logger
from groupx_server.rooms.grants import Grants
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_shared.ids import MAIN_ROOM, USER_ASSISTANT, new_id

CLOSE_WITHIN_S: Final = 20.0
"""For the program to end; its own ladder is shorter."""
_KEY: Final = "assistant"
"""The host's name for the one session."""

log = get_logger(__name__)


class Brain:
    """`run` belongs into a TaskGroup; `close` ends it."""

    def __init__(
        self,
        ledger: Ledger,
        setup: Setup,
        factory: DriverFactory,
        grants: Grants,
        on_status: Callable[[HostStatus], None],
    ) -> None:
        self._ledger = ledger
        self._setup = setup
        self._grants = grants
        self._host = AgentHost(setup.spec, factory, on_status=on_status)
        self._session: Session | None = None
        self._binding_id: str | None = None
        self._is_stale = False
        self.is_fresh = True
        """The session has not been told anything yet."""

    @property
    def info(self) -> AgentInfo | None:
        """What the program said of itself."""
        return self._host.info

    async def run(self) -> None:
        """Keep the program going until `close`."""
        await self._host.run()

    async def session(self) -> Session:
        """The session, opened or taken up again if needed. Raises: AgentError."""
        if self._is_stale:
            self._is_stale = False
            await self.discard()
        resume_id = await self._resume_id()
        caller = Caller(new_id("binding_operator"), USER_ASSISTANT, MAIN_ROOM)
        request = SessionRequest(
            cwd=self._setup.spec.cwd,
            resume_native_id=resume_id,
            mcp=self._grants.issue(caller),
            meta={"groupx": {"roomId": MAIN_ROOM}},
        )
        try:
            session = await self._host.session(_KEY, request)
        except BaseException:
            self._grants.revoke(caller.binding_id)
            raise
        if session is self._session:
            self._grants.revoke(caller.binding_id)  # it goes on with the token it has
            return session
        self._revoke()
        self._session, self._binding_id = session, caller.binding_id
        self.is_fresh = session.continuity != "resumed"
        return session

    async def told(self, session: Session) -> None:
        """The session took a prompt: it is the one to take up after a restart."""
        if not self.is_fresh:
            return
        self.is_fresh = False
        spec = self._setup.spec
        kept = SideSession(
            spec.driver, self._host.protocol, str(spec.cwd), session.native_session_id
        )
        await write_patiently(self._ledger, partial(write_side_session, session=kept))

    def begin_anew(self) -> None:
        """The next request gets a new session; the ledger has forgotten the old one."""
        self._is_stale = True

    async def discard(self) -> None:
        """The session cannot go on: end the program; the next request starts it again."""
        self._revoke()
        self._session = None
        await self._host.discard()

    async def close(self) -> None:
        """End the program, bounded."""
        self._revoke()
        try:
            async with asyncio.timeout(CLOSE_WITHIN_S):
                await self._host.close()
        except TimeoutError:
            log.error("assistant.close_timeout", seconds=CLOSE_WITHIN_S)

    async def _resume_id(self) -> str | None:
        kept = await read_patiently(self._ledger, read_side_session)
        spec = self._setup.spec
        here = (spec.driver, self._host.protocol, str(spec.cwd))
        if kept is None or (kept.driver, kept.protocol, kept.cwd) != here:
            return None
        return kept.native_session_id

    def _revoke(self) -> None:
        if self._binding_id is not None:
            self._grants.revoke(self._binding_id)
            self._binding_id = None
