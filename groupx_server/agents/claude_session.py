"""One room's Claude Code: a process that holds exactly one session.

Owns what differs from a session in a shared process: closing it ends the process, and a further
message can be put into a running turn. The counterpart is `claude_driver.py`, which starts the
process and is told of its end.
"""

from __future__ import annotations

from collections.abc import Callable

from groupx_server.agents.base import AgentSpec
from groupx_server.agents.claude import ClaudeClient
from groupx_server.agents.clock import Clock
from groupx_server.agents.connection import AgentConnection
from groupx_server.agents.flight import Flight
from groupx_server.agents.process import ProcessEnd
from groupx_server.agents.turn_session import TurnSession
from groupx_server.domain.native import Continuity, NativeEvent
from groupx_shared.errors import AgentError

_CLOSED = "its session was closed"


class ClaudeConnection(AgentConnection[ClaudeClient]):
    """The process of one session; `on_gone` is called once when it has ended."""

    def __init__(
        self, spec: AgentSpec, client: ClaudeClient, clock: Clock, on_gone: Callable[[], None]
    ) -> None:
        super().__init__(spec, client, 0.0, clock)  # nothing of a turn follows its result
        self._on_gone = on_gone

    def on_ended(self, end: ProcessEnd) -> None:
        """See `AgentConnection.on_ended`."""
        super().on_ended(end)
        self._on_gone()


class ClaudeSession(TurnSession[ClaudeClient]):
    """A session opened by `ClaudeDriver.open_session`."""

    def __init__(
        self, link: ClaudeConnection, continuity: Continuity, *, mcp_problem: str | None
    ) -> None:
        """`mcp_problem`: why the room's tools are not there, empty when they are; None when
        none were asked for."""
        super().__init__(
            link,
            link.client.session_id,
            continuity,
            has_mcp=mcp_problem == "",
            mcp_problem=mcp_problem or "",
            close_method="end_session",
        )

    @property
    def model(self) -> str:
        """See `Session.model`."""
        return self._link.client.model

    async def steer(self, text: str) -> bool:
        """See `Session.steer`. True once Claude Code has the message; the turn then goes on
        until it was answered. Raises: AgentError when Claude Code does not say that it has it."""
        flight = self.flight
        if flight is None or flight.is_answered or flight.failure is not None:
            return False
        call_id = self._link.client.steer(text)
        if call_id is None:
            return False
        try:
            state = await self._link.call(
                call_id, "a further message", self._link.timeouts.request_s
            )
        except AgentError:
            if self._link.client.is_answered:
                flight.answered()  # it was held back only for this message
            raise  # it was sent: that nobody answers does not say that it was not taken
        return bool(state in ("queued", "started"))

    async def close(self) -> None:
        """End the session and its process. A turn in flight is cancelled; the process then ends
        with it."""
        await super().close()
        if self.flight is None:
            await self._link.end(self._link.timeouts.close_s, _CLOSED)

    async def _land(self, flight: Flight) -> list[NativeEvent]:
        last = await super()._land(flight)
        if self._lost:
            await self._link.end(self._link.timeouts.close_s, _CLOSED)
        return last
