"""The `claude` driver: Claude Code, through its stream-json conversation.

Claude Code holds one session in a process, so this driver starts a process for each session it
opens, each in a group of its own, and is itself usable before the first and after the last of
them. `start` only asks whether the program is there, new enough and signed in. A process that
dies takes its own session with it and nothing else; `wait_exited` cleans up after it and returns
when the driver was closed. `pid` is the newest process that runs. The counterparts are `claude.py`
(the protocol), `claude_setup.py` (how a process is started) and `claude_session.py` (its session).
"""

from __future__ import annotations

import asyncio
import os
import secrets
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from groupx_server.agents.base import (
    AgentInfo,
    AgentSpec,
    Driver,
    Recalled,
    Session,
    SessionRequest,
)
from groupx_server.agents.claude import AGENT_NAME, UNRESTRICTED, ClaudeClient
from groupx_server.agents.claude_program import PROGRAM, Inquirer, find_program
from groupx_server.agents.claude_recall import OWN_FILES, find_transcript, read_turn
from groupx_server.agents.claude_session import ClaudeConnection, ClaudeSession
from groupx_server.agents.claude_setup import (
    ClaudeOptions,
    mcp_config_file,
    session_argv,
    session_env,
)
from groupx_server.agents.clock import Clock, SystemClock
from groupx_server.agents.environment import agent_environment
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.process_group import PROCESS_MARK
from groupx_server.agents.reasons import mentions_policy
from groupx_server.agents.watchdog import Guard
from groupx_server.domain.native import Continuity
from groupx_server.logs import get_logger
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

PROTOCOL: Final = "claude-stream-json"
_PROTOCOL_VERSION: Final = "1"
"""It has no number of its own; another form would be another protocol of ours."""
_CAPABILITIES: Final = {"steer": True, "httpMcp": True, "resume": True}
_REFUSALS: Final = frozenset({"bypass_disabled", "bypass_restricted", "bypass_not_launched"})
"""Codes of `set_permission_mode` that prove that a setting or a policy forbids the mode."""
_IN_USE: Final = "is already in use"
_AS_ROOT: Final = "cannot be used with root"
_MCP_POLL_S: Final = 0.1
_MCP_SETTLED: Final = frozenset({"connected", "failed", "needs-auth", "disabled"})
_STDERR_CHARS: Final = 4_000

log = get_logger(__name__)


class ClaudeDriver(Driver):
    """Claude Code: one process for each session."""

    def __init__(self, spec: AgentSpec, guard: Guard, clock: Clock | None = None) -> None:
        """Raises: ConfigError when `spec.options` holds something the driver does not know."""
        self.spec = spec
        self.options = ClaudeOptions.read(spec.options)
        self._guard = guard
        self._clock: Clock = clock or SystemClock()
        self._env: dict[str, str] = {}
        self._command: list[str] = []
        self._links: list[ClaudeConnection] = []
        self._changed = asyncio.Event()
        self._closed = asyncio.Event()
        self._last_stderr = ""

    async def start(self) -> AgentInfo:
        """See `Driver.start`: finds the program, checks its version, asks for its sign-in."""
        kept = {OWN_FILES: os.environ[OWN_FILES]} if OWN_FILES in os.environ else {}
        configured = session_env({**kept, **self.spec.env}, is_root=os.geteuid() == 0)
        env = agent_environment(os.environ, configured)
        first, *rest = self.spec.argv or [PROGRAM]
        command = [find_program(first, self.spec.cwd, env), *rest]
        spec = replace(self.spec, argv=command)
        limit_s = self.options.handshake_s or self.spec.timeouts.handshake_s
        program = Inquirer(spec, env, self._guard, self._clock, limit_s)
        version = await program.version()
        told = {**_CAPABILITIES, "authRequired": await program.needs_sign_in()}
        self._env, self._command = env, command
        return AgentInfo(AGENT_NAME, version, PROTOCOL, _PROTOCOL_VERSION, told)

    async def open_session(self, request: SessionRequest) -> Session:
        """See `Driver.open_session`: starts a process for it."""
        wanted = request.resume_native_id
        if wanted is not None:
            try:
                return await self._open(wanted, "resumed", request)
            except AgentError as error:
                if error.code is ErrorCode.NATIVE_POLICY_BLOCKED or self._closed.is_set():
                    raise
                log.info("resume_failed", agent=self.spec.actor_id, reason=error.message)
        continuity: Continuity = "new" if wanted is None else "new_after_resume_failure"
        try:
            return await self._open(str(uuid.uuid4()), continuity, request)
        except AgentError as error:
            if _IN_USE not in as_text(error.details.get("stderr")):
                raise
        return await self._open(str(uuid.uuid4()), continuity, request)

    async def recall(
        self,
        request: SessionRequest,
        native_turn_id: str | None,
        is_ours: Callable[[str], bool],
    ) -> Recalled | None:
        """See `Driver.recall`: Claude Code keeps a transcript of each session."""
        record = find_transcript(self._env, request.resume_native_id or "")
        if record is None:
            return None
        return await asyncio.to_thread(read_turn, record, native_turn_id, is_ours)

    async def close(self) -> None:
        """See `Driver.close`: ends all processes, side by side."""
        self._closed.set()
        self._changed.set()
        async with asyncio.TaskGroup() as tasks:
            for link in self._links:
                tasks.create_task(link.end(self.spec.timeouts.close_s, "it was closed"))

    async def wait_exited(self) -> str:
        """See `Driver.wait_exited`: returns when the driver was closed, and until then cleans up
        after each process that ended."""
        while not self._closed.is_set():
            self._changed.clear()
            await self._bury()
            await self._changed.wait()
        return f"{AGENT_NAME} was stopped: it was closed."

    @property
    def pid(self) -> int | None:
        """Process id of the newest session whose process runs."""
        pids = [link.pid for link in self._links if not link.has_ended]
        return pids[-1] if pids else None

    @property
    def is_usable(self) -> bool:
        """See `Driver.is_usable`: from a start that succeeded until the close."""
        return bool(self._command) and not self._closed.is_set()

    def stderr_tail(self) -> str:
        """The last lines that the newest process wrote to stderr."""
        tails = [tail for link in self._links if (tail := link.stderr_tail())]
        return tails[-1] if tails else self._last_stderr

    # --- one process ------------------------------------------------------------------------

    async def _open(
        self, session_id: str, continuity: Continuity, request: SessionRequest
    ) -> ClaudeSession:
        """Start a process for a session and make it work without asking. Raises: AgentError."""
        if not self.is_usable:
            raise AgentError(f"{AGENT_NAME} is not started.", code=ErrorCode.SESSION_NOT_AVAILABLE)
        resume = continuity == "resumed"
        cwd = request.cwd.resolve()
        client = ClaudeClient(session_id, cwd, is_new=not resume)
        with mcp_config_file(request.mcp) as config:
            argv = session_argv(self._command, session_id, resume=resume, mcp_config=config)
            spec = replace(self.spec, argv=argv, cwd=cwd)
            link = ClaudeConnection(spec, client, self._clock, self._changed.set)
            # it puts each command into a session of its own, and ends it unless it is killed
            link.leftover_mark = secrets.token_hex(16)
            self._links.append(link)
            try:
                env = {**self._env, PROCESS_MARK: link.leftover_mark}
                await link.spawn(env, self._guard)
                await self._shake_hands(link)
                mcp_problem = await self._mcp_problem(link, request)
            except AgentError as error:
                await link.end(0, "its start failed")
                raise self._start_error(link, error) from error
            except BaseException:
                link.kill()
                await link.end(0, "its start was given up")
                raise
        return ClaudeSession(link, continuity, mcp_problem=mcp_problem)

    async def _shake_hands(self, link: ClaudeConnection) -> None:
        """Raises: AgentError (NATIVE_POLICY_BLOCKED when it says that the mode is forbidden)."""
        limit_s = self.options.handshake_s or self.spec.timeouts.session_s
        answer = await link.call(link.client.request("initialize"), "initialize", limit_s)
        mode = as_text(as_dict(answer).get("current_permission_mode"))
        call_id = link.client.request("set_permission_mode", mode=UNRESTRICTED)
        request_s = self.spec.timeouts.request_s
        answer = await link.call(call_id, "set_permission_mode", request_s)
        reason, is_proof = "", False
        if isinstance(answer, ErrorResponse):
            is_proof = as_dict(answer.data).get("code") in _REFUSALS
            is_proof = is_proof or mentions_policy(answer.message)
            reason = answer.message
        else:
            mode = as_text(as_dict(answer).get("mode"))
        if is_proof or mode not in ("", UNRESTRICTED):
            raise _restricted(mode, reason)

    async def _mcp_problem(self, link: ClaudeConnection, request: SessionRequest) -> str | None:
        """Why the room's tools are not there, empty when they are, None when none are wanted.
        A connection that is being made is waited for, bounded."""
        if request.mcp is None:
            return None
        until = self._clock.now() + self.spec.timeouts.request_s
        never = asyncio.Event()
        while True:
            call_id = link.client.request("mcp_status")
            answer = await link.call(call_id, "mcp_status", self.spec.timeouts.request_s)
            if isinstance(answer, ErrorResponse):
                return ""  # a version that cannot tell; the tools were given to it
            servers = [as_dict(server) for server in as_list(as_dict(answer).get("mcpServers"))]
            server = next((s for s in servers if s.get("name") == request.mcp.name), {})
            status = as_text(server.get("status"))
            if status in _MCP_SETTLED or self._clock.now() >= until:
                break
            await self._clock.wait(never, self._clock.now() + _MCP_POLL_S)
        if status == "connected":
            return ""
        reason = safe_line(as_text(server.get("error"))) or status or "it does not know them"
        log.warning("mcp_unavailable", agent=self.spec.actor_id, reason=reason)
        return reason

    def _start_error(self, link: ClaudeConnection, error: AgentError) -> AgentError:
        """The error of a start, with what the program said."""
        stderr = link.stderr_tail()[-_STDERR_CHARS:]
        message, code = error.message, error.code
        if code is ErrorCode.SESSION_NOT_AVAILABLE and not self._closed.is_set():
            code = ErrorCode.ADAPTER_START_FAILED
        if _AS_ROOT in stderr:
            message += " As root it works without asking only with IS_SANDBOX=1 in its `env`."
        if mentions_policy(stderr):
            code = ErrorCode.NATIVE_POLICY_BLOCKED
        if link.first_noise:
            message += f" It wrote text instead of the protocol: “{link.first_noise}”."
        return AgentError(message, code=code, details={**error.details, "stderr": stderr})

    async def _bury(self) -> None:
        """Clean up after the processes that ended by themselves."""
        ended = [link for link in self._links if link.ended.is_set()]
        for link in ended:
            await link.end(0, "it ended")
            self._last_stderr = link.stderr_tail() or self._last_stderr
        self._links = [link for link in self._links if link not in ended]


def _restricted(mode: str, reason: str) -> AgentError:
    said = safe_line(reason) or f"it stays in the permission mode {safe_line(mode, 40)}"
    return AgentError(
        f"{AGENT_NAME} does not work without asking: {said}. Allow the mode {UNRESTRICTED} in its "
        "own settings, or ask who manages them.",
        code=ErrorCode.NATIVE_POLICY_BLOCKED,
        details={"mode": mode, "reason": said},
    )
