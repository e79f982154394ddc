"""The generic `acp` driver: any program that speaks the Agent Client Protocol on its stdio.

Owns the way from a configured command to an open session: handshake, new or resumed session, the
room's tools, the steps that let the agent work without asking. Invariant: what is done follows
what the agent reported; what one vendor needs beyond the protocol is data in `spec.options`
(`acp_setup.AcpOptions`). The process is `process_driver.py`'s, the bytes are `connection.py`'s,
prompts are `turn_session.py`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from groupx_server.agents.acp import AcpClient
from groupx_server.agents.acp_errors import read_refusal
from groupx_server.agents.acp_facts import PROTOCOL_VERSION, Capabilities, SessionFacts
from groupx_server.agents.acp_setup import AcpOptions, plan_steps
from groupx_server.agents.base import AgentInfo, AgentSpec, Recalled, Session, SessionRequest
from groupx_server.agents.clock import Clock
from groupx_server.agents.connection import agent_label
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.process_driver import ProcessDriver
from groupx_server.agents.turn_session import TurnSession
from groupx_server.agents.watchdog import Guard
from groupx_server.domain.native import Continuity
from groupx_server.logs import get_logger
from groupx_shared.errors import AgentError, ErrorCode

_MAX_QUIET_WAIT_S: Final = 5.0
"""A replay that goes on longer than this after its answer is not waited for."""
_MAX_TOOLS_WAIT_S: Final = 10.0
"""Tools that are not connected by then are not waited for."""
_NOTICE_S: Final = 0.02

log = get_logger(__name__)


class AcpDriver(ProcessDriver[AcpClient]):
    """One agent process that speaks ACP."""

    def __init__(self, spec: AgentSpec, guard: Guard, clock: Clock | None = None) -> None:
        """Raises: ConfigError when `spec.options` holds something the driver does not know."""
        self.options = AcpOptions.read(spec.options)
        label = agent_label(spec)
        client = AcpClient(label, self.options.quirks)
        if self.options.close_grace_s is not None:
            limits = replace(spec.timeouts, close_s=self.options.close_grace_s)
            spec = replace(spec, timeouts=limits)
        super().__init__(spec, client, guard, clock, settle_s=self.options.settle_s)
        self.capabilities = Capabilities(name=label)

    async def open_session(self, request: SessionRequest) -> Session:
        """See `Driver.open_session`."""
        self._link.require_alive()
        servers = self._mcp_servers(request)
        session_id, facts, continuity = await self._open(request, servers)
        self._link.client.adopt(session_id)
        try:
            await self._set_up(session_id, facts)
            if servers:
                await self._wait_for_tools(session_id)
        except AgentError:
            self._link.client.forget(session_id)
            raise
        session = TurnSession(
            self._link,
            session_id,
            continuity,
            has_mcp=bool(servers),
            mcp_problem=self._mcp_problem(request, servers),
            close_method="session/close" if self.capabilities.can_close else "",
        )
        session.told_model = facts.model
        return session

    async def recall(
        self,
        request: SessionRequest,
        native_turn_id: str | None,
        is_ours: Callable[[str], bool],
    ) -> Recalled | None:
        """See `Driver.recall`: an agent that loads a session repeats what it was sent."""
        self._link.require_alive()
        client, session_id = self._link.client, request.resume_native_id
        if session_id is None or not self.capabilities.can_load:
            return None
        call_id = client.open_session(
            "session/load", request.cwd.absolute(), [], session_id, request.meta
        )
        replay = client.record_replay(session_id)
        try:
            limit_s = self.spec.timeouts.session_s
            answer = await self._link.call(call_id, "session/load", limit_s)
            if isinstance(answer, ErrorResponse):
                raise self._refused(answer)
            await self._wait_for_quiet(session_id)
        finally:
            client.forget(session_id)
        return Recalled(end=None) if any(map(is_ours, replay.prompts())) else None

    # --- handshake --------------------------------------------------------------------------

    async def _shake_hands(self) -> AgentInfo:
        limit_s = self.options.handshake_s or self.spec.timeouts.handshake_s
        answer = await self._link.call(self._link.client.initialize(), "initialize", limit_s)
        if isinstance(answer, ErrorResponse):
            raise self._refused(answer)
        found = Capabilities.read(answer, self._link.label)
        if found.protocol_version != PROTOCOL_VERSION:
            raise AgentError(
                f"{found.name} speaks version {found.protocol_version} of the Agent Client "
                f"Protocol, GroupX speaks {PROTOCOL_VERSION}. Install a version of it that does.",
                code=ErrorCode.PROTOCOL_INVALID_MESSAGE,
            )
        self.capabilities = found
        self._link.client.agent_name = found.name
        return AgentInfo(found.name, found.version, "acp", str(PROTOCOL_VERSION), found.raw)

    # --- opening a session ------------------------------------------------------------------

    async def _open(
        self, request: SessionRequest, servers: list[dict[str, Any]]
    ) -> tuple[str, SessionFacts, Continuity]:
        wanted = request.resume_native_id
        if wanted is not None:
            resumed = await self._resume(wanted, request, servers)
            if resumed is not None:
                return resumed
        answer = await self._session_call("session/new", request, servers)
        if isinstance(answer, ErrorResponse):
            raise self._refused(answer)
        facts = SessionFacts.read(answer)
        if facts.session_id is None:
            raise AgentError(
                f"{self.capabilities.name} answered session/new without a sessionId.",
                code=ErrorCode.PROTOCOL_INVALID_MESSAGE,
            )
        return facts.session_id, facts, "new" if wanted is None else "new_after_resume_failure"

    async def _resume(
        self, wanted: str, request: SessionRequest, servers: list[dict[str, Any]]
    ) -> tuple[str, SessionFacts, Continuity] | None:
        """Take up an earlier session; None when the agent cannot or does not know it."""
        methods = (
            ("session/resume", self.capabilities.can_resume),
            ("session/load", self.capabilities.can_load),
        )
        for method, is_offered in methods:
            if not is_offered:
                continue
            try:
                answer = await self._session_call(method, request, servers, wanted)
            except AgentError as error:
                if error.code is not ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT:
                    raise
                self._not_resumed(wanted, method, error.message)
                continue
            if isinstance(answer, ErrorResponse):
                reason = read_refusal(self.capabilities.name, answer).message
                self._not_resumed(wanted, method, reason)
                continue
            if method == "session/load":
                await self._wait_for_quiet(wanted)
            return self._resumed(wanted, answer)
        return None

    def _not_resumed(self, wanted: str, method: str, reason: str) -> None:
        log.info("resume_failed", agent=self.spec.actor_id, method=method, reason=reason)
        self._link.client.forget(wanted)

    def _resumed(self, wanted: str, answer: Any) -> tuple[str, SessionFacts, Continuity]:
        """An agent that did not find the session may have opened another one and say so."""
        facts, found = SessionFacts.read(answer), answer
        for key in self.options.session_id_path:
            found = as_dict(found).get(key)
        told = as_text(found) if self.options.session_id_path else (facts.session_id or wanted)
        if not told or told == wanted:
            return wanted, facts, "resumed"
        self._link.client.forget(wanted)
        return told, facts, "new_after_resume_failure"

    async def _session_call(
        self,
        method: str,
        request: SessionRequest,
        servers: list[dict[str, Any]],
        session_id: str | None = None,
    ) -> Any:
        cwd = request.cwd.absolute()
        call_id = self._link.client.open_session(method, cwd, servers, session_id, request.meta)
        return await self._link.call(call_id, method, self.spec.timeouts.session_s)

    async def _set_up(self, session_id: str, facts: SessionFacts) -> None:
        """Set mode and settings. Raises: AgentError (NATIVE_POLICY_BLOCKED) when refused."""
        for step in plan_steps(self.options, facts, self.capabilities.name):
            call_id = self._link.client.apply(session_id, step)
            answer = await self._link.call(call_id, step.method, self.spec.timeouts.request_s)
            if isinstance(answer, ErrorResponse):
                refusal = read_refusal(self.capabilities.name, answer)
                wanted = ", ".join(str(value) for value in step.params.values())
                raise AgentError(
                    f"{refusal.message} GroupX wanted to set {wanted}, so that the agent works "
                    "without asking.",
                    code=ErrorCode.NATIVE_POLICY_BLOCKED,
                    details=refusal.details,
                )

    async def _wait_for_tools(self, session_id: str) -> None:
        """Wait until the agent has connected the session's tools, bounded: a prompt does not wait
        for them. What it says is looked at again and again; there is no event of ours."""
        never, end = asyncio.Event(), self._clock.now() + _MAX_TOOLS_WAIT_S
        while not self._link.client.has_tools(session_id) and not self._link.has_ended:
            now = self._clock.now()
            if now >= end:
                log.info("tools_not_ready", agent=self.spec.actor_id, waited_s=_MAX_TOOLS_WAIT_S)
                return
            await self._clock.wait(never, min(end, now + _NOTICE_S))

    async def _wait_for_quiet(self, session_id: str) -> None:
        """Wait until a replay that follows its answer has ended, bounded."""
        never = asyncio.Event()
        end = self._clock.now() + _MAX_QUIET_WAIT_S
        since = self._clock.now()
        while (until := min(end, since + self.options.load_quiet_s)) > self._clock.now():
            await self._clock.wait(never, until)
            since = max(since, self._link.active_at.get(session_id, since))

    def _mcp_servers(self, request: SessionRequest) -> list[dict[str, Any]]:
        """The room's tools as the protocol wants them, or none when the agent takes none."""
        if request.mcp is None:
            return []
        if not (self.capabilities.http_mcp or self.options.assume_http_mcp):
            log.info("mcp_not_offered", agent=self.spec.actor_id)
            return []
        bearer = {"name": "Authorization", "value": f"Bearer {request.mcp.token}"}
        return [
            {
                "type": "http",
                "name": request.mcp.name,
                "url": request.mcp.url,
                "headers": [bearer],
            }
        ]

    def _mcp_problem(self, request: SessionRequest, servers: list[dict[str, Any]]) -> str:
        """Why the room's tools are not attached although they were asked for."""
        if request.mcp is None or servers:
            return ""
        return f"{self.capabilities.name} does not take tools over HTTP."

    def _refused(self, answer: ErrorResponse) -> AgentError:
        sign_in = self.options.quirks.sign_in or self.capabilities.sign_in
        refusal = read_refusal(self.capabilities.name, answer, sign_in)
        details = dict(refusal.details)
        if details.get("authRequired") and self.capabilities.auth_methods:
            details["authMethods"] = list(self.capabilities.auth_methods)
        return AgentError(refusal.message, code=refusal.code, details=details)
