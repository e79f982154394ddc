"""The `codex` driver: `codex app-server` over its stdio, many threads in one process.

Owns the way from a configured command to an open thread: handshake, the question whether a policy
is in the way, a new or resumed thread, the room's tools, the wait for the person's own. Invariant:
every thread works without asking, or it is not used. The process is `process_driver.py`'s, the
protocol `codex.py`'s, prompts are `turn_session.py`'s.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from groupx_server.agents.base import (
    MODEL_CHARS,
    AgentInfo,
    AgentSpec,
    McpEndpoint,
    Recalled,
    Session,
    SessionRequest,
    native_protocol,
)
from groupx_server.agents.clock import Clock
from groupx_server.agents.codex import CodexClient, thread_id_of
from groupx_server.agents.codex_errors import read_refusal, refusal_reason, tools_failure
from groupx_server.agents.codex_program import native_program
from groupx_server.agents.codex_recall import TURNS_LOOKED_AT, find_turn
from groupx_server.agents.codex_session import CodexSession
from groupx_server.agents.codex_setup import (
    CodexOptions,
    command_line,
    require_free,
    require_unrestricted,
    thread_params,
)
from groupx_server.agents.connection import agent_label
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.process_driver import ProcessDriver
from groupx_server.agents.watchdog import Guard
from groupx_server.domain.native import Continuity
from groupx_server.logs import get_logger
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

_PROTOCOL_VERSION: Final = "2"
_VERSION: Final = re.compile(r"/(\d[^\s(]*)")
"""`groupx/0.171.0 (Debian …)`: our own name with the version of Codex."""
_CAPABILITIES: Final = {"steer": True, "httpMcp": True, "resume": True}
_NOTICE_S: Final = 0.05
"""Servers that start are told right behind the answer; polled so often until they are up."""

log = get_logger(__name__)


class CodexDriver(ProcessDriver[CodexClient]):
    """One `codex app-server` process."""

    inherited_env = ("CODEX_HOME",)

    def __init__(self, spec: AgentSpec, guard: Guard, clock: Clock | None = None) -> None:
        """Raises: ConfigError when `spec.options` holds something the driver does not know."""
        self.options = CodexOptions.read(spec.options)
        program, *arguments = command_line(spec.argv)
        search_path = spec.env.get("PATH", os.environ.get("PATH"))
        spec = replace(spec, argv=[native_program(program, search_path), *arguments])
        client = CodexClient(agent_label(spec))
        super().__init__(spec, client, guard, clock, settle_s=self.options.settle_s)
        self._models: dict[str, str] = {}
        """Of threads that are being opened."""

    async def open_session(self, request: SessionRequest) -> Session:
        """See `Driver.open_session`."""
        self._link.require_alive()
        opened = None
        if request.resume_native_id is not None:
            opened = await self._resume(request.resume_native_id, request)
        continuity: Continuity = "resumed" if opened is not None else "new"
        if opened is None:
            opened = await self._start_thread(request)
            if request.resume_native_id is not None:
                continuity = "new_after_resume_failure"
        thread_id, problem = opened
        await self._wait_for_servers(thread_id)
        session = CodexSession(
            self._link,
            thread_id,
            continuity,
            has_mcp=request.mcp is not None and not problem,
            close_method="thread/unsubscribe",
            mcp_problem=problem,
        )
        session.told_model = self._models.pop(thread_id, "")
        return session

    async def recall(
        self,
        request: SessionRequest,
        native_turn_id: str | None,
        is_ours: Callable[[str], bool],
    ) -> Recalled | None:
        """See `Driver.recall`: Codex keeps the turns of a thread."""
        self._link.require_alive()
        thread_id = request.resume_native_id or ""
        if await self._resume(thread_id, request) is None:
            return None
        client, limit_s = self._link.client, self.spec.timeouts.session_s
        params = {"threadId": thread_id, "limit": TURNS_LOOKED_AT}
        asked = client.call("thread/turns/list", params)
        answer = await self._link.call(asked, "thread/turns/list", limit_s)
        client.forget(thread_id)
        if isinstance(answer, ErrorResponse):
            raise read_refusal(client.agent_name, answer)
        return find_turn(answer, native_turn_id, is_ours)

    # --- handshake --------------------------------------------------------------------------

    async def _shake_hands(self) -> AgentInfo:
        client = self._link.client
        limit_s = self.options.handshake_s or self.spec.timeouts.handshake_s
        answer = await self._link.call(client.initialize(), "initialize", limit_s)
        if isinstance(answer, ErrorResponse):
            raise read_refusal(client.agent_name, answer)
        client.initialized()
        client.agent_name = "Codex"
        asked = client.call("configRequirements/read", {})
        found = await self._link.call(asked, "configRequirements/read", limit_s)
        require_free(client.agent_name, found)
        version = _VERSION.search(as_text(as_dict(answer).get("userAgent")))
        return AgentInfo(
            client.agent_name,
            safe_line(version[1] if version else "", 40),
            native_protocol("codex"),
            _PROTOCOL_VERSION,
            {**_CAPABILITIES, "authRequired": await self._needs_sign_in(limit_s)},
        )

    async def _needs_sign_in(self, limit_s: float) -> bool:
        """True when Codex says that it has no account for a model that wants one."""
        asked = self._link.client.call("account/read", {})
        account = as_dict(await self._link.call(asked, "account/read", limit_s))
        return account.get("requiresOpenaiAuth") is True and account.get("account") is None

    # --- opening a thread -------------------------------------------------------------------

    async def _start_thread(self, request: SessionRequest) -> tuple[str, str]:
        """A new thread and why it lacks the room's tools. Raises: AgentError."""
        answer, problem = await self._open("thread/start", request)
        if isinstance(answer, ErrorResponse):
            raise read_refusal(self._link.client.agent_name, answer)
        thread_id = thread_id_of(answer)
        if not thread_id:
            raise AgentError(
                "Codex answered thread/start without a thread. Install another version of it.",
                code=ErrorCode.PROTOCOL_INVALID_MESSAGE,
            )
        self._check(thread_id, answer)
        return thread_id, problem

    async def _resume(self, thread_id: str, request: SessionRequest) -> tuple[str, str] | None:
        """Take up an earlier thread; None when Codex cannot, does not know it, or has it in
        another folder."""
        answer, problem = None, ""
        try:
            answer, problem = await self._open("thread/resume", request, thread_id)
            obstacle = _obstacle(answer, thread_id, request.cwd)
        except AgentError as error:
            if error.code is not ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT:
                raise
            obstacle = error.message
        if obstacle:
            log.info("resume_failed", agent=self.spec.actor_id, reason=obstacle)
            self._link.client.forget(thread_id_of(answer))
            return None
        self._check(thread_id, answer)
        return thread_id, problem

    async def _open(
        self, method: str, request: SessionRequest, thread_id: str = ""
    ) -> tuple[Any, str]:
        """Open a thread with the room's tools, or without when those do not come up: an agent
        that can talk is worth more than none. Returns the answer and why the tools are missing."""
        answer = await self._ask_thread(method, request, request.mcp, thread_id)
        problem = tools_failure(answer) if isinstance(answer, ErrorResponse) else None
        if problem is None or request.mcp is None:
            return answer, ""
        log.warning("mcp_unavailable", agent=self.spec.actor_id, server=request.mcp.name)
        return await self._ask_thread(method, request, None, thread_id), problem

    async def _ask_thread(
        self, method: str, request: SessionRequest, mcp: McpEndpoint | None, thread_id: str
    ) -> Any:
        params = thread_params(self.options, request, mcp, thread_id)
        call_id = self._link.client.call(method, params)
        return await self._link.call(call_id, method, self.spec.timeouts.session_s)

    def _check(self, thread_id: str, answer: Any) -> None:
        """Raises: AgentError when it would not work freely. Notes the thread's model."""
        self._models[thread_id] = safe_line(as_text(as_dict(answer).get("model")), MODEL_CHARS)
        try:
            require_unrestricted(self._link.client.agent_name, answer)
        except AgentError:
            self._link.client.forget(thread_id)
            raise

    async def _wait_for_servers(self, thread_id: str) -> None:
        """Wait until the thread's MCP servers are up or have failed, bounded: a turn does not
        wait for them and would go on without their tools."""
        never = asyncio.Event()
        end = self._clock.now() + self.options.mcp_wait_s
        await self._clock.wait(never, min(end, self._clock.now() + _NOTICE_S))
        while self._link.client.starting_servers(thread_id) and self._clock.now() < end:
            if self._link.has_ended:
                return
            await self._clock.wait(never, min(end, self._clock.now() + _NOTICE_S))


def _obstacle(answer: Any, thread_id: str, cwd: Path) -> str:
    """Why the answer to `thread/resume` is no resumed thread; empty when it is."""
    if isinstance(answer, ErrorResponse):
        return refusal_reason(answer)
    if thread_id_of(answer) != thread_id:
        return "another thread was opened"
    if not _is_same_folder(as_text(as_dict(answer).get("cwd")), cwd):
        return "it works in another folder"
    return ""


def _is_same_folder(told: str, wanted: Path) -> bool:
    """Codex may tell a folder by its real path."""
    return not told or told == str(wanted) or Path(told).resolve() == wanted.resolve()
