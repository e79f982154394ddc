"""One session of a running agent: its prompts as streams of native events.

Owns the turn in flight. Invariants: one prompt at a time; the stream ends with exactly one
terminal event; a stream that is closed early or whose consumer is cancelled ends the native turn
first, bounded, and kills the process when the agent does not let go. The counterpart is
`connection.py`, which owns the process and feeds the turn in flight.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Generic

from groupx_server.agents.base import Session
from groupx_server.agents.connection import AgentConnection, ClientT
from groupx_server.agents.flight import Flight
from groupx_server.domain.native import Continuity, NativeEvent, TurnFailed
from groupx_server.logs import get_logger
from groupx_shared.errors import AgentError, ErrorCode

log = get_logger(__name__)


class TurnSession(Session, Generic[ClientT]):
    """A session that a driver opened. `close_method` is the protocol's name for closing one,
    empty when the agent cannot."""

    def __init__(
        self,
        link: AgentConnection[ClientT],
        native_session_id: str,
        continuity: Continuity,
        *,
        has_mcp: bool,
        close_method: str,
        mcp_problem: str = "",
    ) -> None:
        self.native_session_id = native_session_id
        self.continuity = continuity
        self.has_mcp = has_mcp
        self.mcp_problem = mcp_problem
        self.told_model = ""
        self.flight: Flight | None = None
        self._link = link
        self._close_method = close_method
        self._lost = False

    @property
    def model(self) -> str:
        """See `Session.model`."""
        return self.told_model

    @property
    def lost(self) -> bool:
        """See `Session.lost`."""
        return self._lost or self._link.has_ended

    async def prompt(self, turn_id: str, text: str) -> AsyncGenerator[NativeEvent, None]:
        """See `Session.prompt`. Raises: AgentError before anything is sent, when the process is
        gone or a turn is in flight."""
        flight = self._depart(text)
        has_landed = False
        try:
            while not self._is_over(flight):
                events = flight.take()
                for event in events or flight.silence():
                    yield event
                if events:
                    flight.handed_over()
                self._link.relieve()
                await flight.wait()
            last = await self._land(flight)
            has_landed = True
            for event in last:
                yield event
        finally:
            if not has_landed:
                await self._abandon(flight)
            self.flight = None
            self._link.flights.pop(self.native_session_id, None)
            self._link.relieve()

    async def cancel(self) -> None:
        """See `Session.cancel`."""
        if self.flight is not None:
            self._send_cancel(self.flight)

    async def close(self) -> None:
        """See `Session.close`. A turn in flight is only cancelled; its stream ends as usual."""
        if self.flight is not None:
            self._send_cancel(self.flight)
            self._lost = True
            return
        self._lose()
        if not self._close_method or self._link.has_ended:
            return
        call_id = self._link.client.close_session(self.native_session_id)
        try:
            await self._link.call(call_id, self._close_method, self._link.timeouts.request_s)
        except AgentError as error:
            log.info("session_close_failed", reason=error.message)

    def _depart(self, text: str) -> Flight:
        link = self._link
        link.require_alive()
        if self._lost:
            raise AgentError(
                "This session takes no more prompts; open another one.",
                code=ErrorCode.SESSION_NOT_AVAILABLE,
            )
        turn = link.client.prompt(self.native_session_id, text)
        agent = link.client.agent_name
        self.flight = Flight(turn, agent, link.timeouts, link.settle_s, link.clock)
        link.flights[self.native_session_id] = self.flight
        link.flush()
        return self.flight

    def _is_over(self, flight: Flight) -> bool:
        flight.check_limits()
        if flight.given_up is not None and not flight.turn.cancel_asked:
            self._send_cancel(flight)
        return flight.is_landed

    def _send_cancel(self, flight: Flight) -> None:
        self._link.client.cancel(self.native_session_id)
        self._link.flush()
        flight.cancelling()

    async def _land(self, flight: Flight) -> list[NativeEvent]:
        """End the turn; when the session or the process is lost, it is gone before the terminal
        event is given, so nothing goes on behind the reader's back."""
        queued = flight.take()
        if flight.failure is not None:
            return [*queued, *await self._land_failed(flight, flight.failure)]
        ended = [
            flight.as_given_up(event) for event in self._link.client.finish(self.native_session_id)
        ]
        if flight.turn.session_lost:
            self._lose()
            if not flight.turn.process_is_fine:
                await self._link.end(0, "another turn of it broke its session")
        return [*queued, *ended]

    async def _land_failed(self, flight: Flight, failure: TurnFailed) -> list[NativeEvent]:
        if not flight.turn.cancel_asked:
            self._send_cancel(flight)
        self._lose()
        is_stuck = failure.code is ErrorCode.TURN_CANCEL_TIMEOUT or flight.given_up is not None
        grace_s = 0 if is_stuck else self._link.timeouts.close_s
        await self._link.end(grace_s, "another turn of it did not end")
        return flight.turn.fail(failure)

    def _lose(self) -> None:
        self._lost = True
        self._link.client.forget(self.native_session_id)

    async def _abandon(self, flight: Flight) -> None:
        """Nobody listens any more: cancel the native turn and wait for its end, bounded."""
        flight.discard()
        self._link.relieve()
        try:
            if flight.failure is None and not flight.is_answered:
                self._send_cancel(flight)
            while not self._is_over(flight):
                await flight.wait()
            await self._land(flight)
        except BaseException:
            self._lose()
            self._link.kill()
            raise
