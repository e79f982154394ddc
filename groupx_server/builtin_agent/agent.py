"""The agent side of ACP: reads messages, keeps sessions, runs one turn per session at a time.

Invariants: every request gets exactly one answer; a turn's updates come before its answer; a
cancelled turn answers `cancelled` at once; whatever line arrives, the agent goes on. It serves
until its input ends. The counterpart is the client's ACP driver.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import PurePath
from typing import Any, Final

from groupx_server.builtin_agent import rpc
from groupx_server.builtin_agent.answering import Answering
from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.guide.commands import available_commands
from groupx_server.builtin_agent.history import History
from groupx_server.builtin_agent.lines import LineBuffer
from groupx_server.builtin_agent.model_turn import Outcome
from groupx_server.builtin_agent.packet import Prompt, read_prompt
from groupx_server.builtin_agent.session import RunningTurn, Session
from groupx_server.builtin_agent.updates import TurnSink, commands_update
from groupx_shared.errors import GroupXError
from groupx_shared.ids import new_id
from groupx_shared.text import safe_line
from groupx_shared.version import VERSION

PROTOCOL_VERSION: Final = 1
MAX_SESSIONS: Final = 1024
AGENT_NAME: Final = "groupx-builtin"

Send = Callable[[bytes], Awaitable[None]]
_log = logging.getLogger("groupx.builtin_agent")


class BuiltinAgent:
    """One agent process's ACP surface. `serve` once."""

    def __init__(
        self,
        answering: Answering,
        send: Send,
        *,
        history_chars: int,
        on_session: Callable[[], None] = lambda: None,
    ) -> None:
        self._answering = answering
        self._send = send
        self._history_chars = history_chars
        self._on_session = on_session
        self._sessions: dict[str, Session] = {}
        self._lines = LineBuffer()
        self._methods: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "initialize": self._initialize,
            "session/new": self._new_session,
            "session/close": self._close_session,
        }

    async def serve(self, chunks: AsyncIterator[bytes]) -> None:
        """Serve until `chunks` ends; then running turns are cancelled."""
        async with asyncio.TaskGroup() as tasks:
            async for chunk in chunks:
                for line in self._lines.feed(chunk):
                    await self._handle(line, tasks)
            for session in self._sessions.values():
                if session.running is not None:
                    session.running.cancel()

    async def _handle(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        message = rpc.parse_line(line)
        if isinstance(message, rpc.Garbage):
            _log.warning("a line was ignored: %s", safe_line(message.reason))
        elif isinstance(message, rpc.Notification):
            self._notified(message)
        elif isinstance(message, rpc.Request):
            await self._requested(message, tasks)

    def _notified(self, message: rpc.Notification) -> None:
        if message.method != "session/cancel" or not isinstance(message.params, dict):
            return
        session = self._sessions.get(str(message.params.get("sessionId")))
        if session is not None and session.running is not None:
            session.running.cancel()

    async def _requested(self, request: rpc.Request, tasks: asyncio.TaskGroup) -> None:
        try:
            if not isinstance(request.params, dict):
                raise rpc.RpcError(rpc.INVALID_PARAMS, "`params` must be an object.")
            if request.method == "session/prompt":
                session, prompt = self._admit(request.params)
                session.running = turn = RunningTurn()
                tasks.create_task(self._run_turn(request.id, session, turn, prompt))
                return
            result = await self._call(request)
        except rpc.RpcError as error:
            await self._send(rpc.encode_error(request.id, error))
            return
        await self._send(rpc.encode_result(request.id, result))
        if request.method == "session/new":
            await self._notify(*_commands(result["sessionId"]))

    async def _call(self, request: rpc.Request) -> Any:
        method = self._methods.get(request.method)
        if method is None:
            name = safe_line(request.method, 80)
            raise rpc.RpcError(rpc.METHOD_NOT_FOUND, f"There is no method “{name}” here.")
        return await method(request.params)

    async def _initialize(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Sessions live in memory, so none can be loaded."""
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": {
                "loadSession": False,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": False, "sse": False},
                "sessionCapabilities": {"close": {}},
            },
            "authMethods": [],
            "agentInfo": {"name": AGENT_NAME, "title": "GroupX built-in agent", "version": VERSION},
        }

    async def _new_session(self, params: dict[str, Any]) -> dict[str, Any]:
        cwd = params.get("cwd")
        if not isinstance(cwd, str) or not PurePath(cwd).is_absolute():
            raise rpc.RpcError(rpc.INVALID_PARAMS, "`cwd` must be an absolute path.")
        if len(self._sessions) >= MAX_SESSIONS:
            raise rpc.RpcError(
                rpc.INTERNAL_ERROR,
                f"{MAX_SESSIONS} sessions are open. Close some with session/close.",
            )
        session = Session(new_id("session"), History(self._history_chars))
        told = _groupx_meta(params)
        session.room_id = _text(told.get("roomId"))
        session.actor_id = _text(told.get("actorId"))
        session.purpose = _text(told.get("purpose"))
        self._sessions[session.session_id] = session
        self._on_session()
        return {"sessionId": session.session_id}

    async def _close_session(self, params: dict[str, Any]) -> dict[str, Any]:
        session = self._session(params)
        del self._sessions[session.session_id]
        if session.running is not None:
            session.running.cancel()
        return {}

    def _session(self, params: dict[str, Any]) -> Session:
        session_id = params.get("sessionId")
        session = self._sessions.get(session_id) if isinstance(session_id, str) else None
        if session is None:
            raise rpc.RpcError(
                rpc.RESOURCE_NOT_FOUND,
                f"There is no session “{safe_line(str(session_id), 80)}”; sessions live as long "
                "as this process. Open one with session/new.",
            )
        return session

    def _admit(self, params: dict[str, Any]) -> tuple[Session, Prompt]:
        session = self._session(params)
        blocks = params.get("prompt")
        if not isinstance(blocks, list) or not blocks:
            raise rpc.RpcError(rpc.INVALID_PARAMS, "`prompt` must be a list of content blocks.")
        if session.running is not None:
            raise rpc.RpcError(
                rpc.INVALID_REQUEST,
                "This session is busy with another prompt; wait for its answer or cancel it.",
            )
        return session, read_prompt(blocks, params.get("_meta"))

    async def _run_turn(
        self, request_id: Any, session: Session, turn: RunningTurn, prompt: Prompt
    ) -> None:
        async with asyncio.TaskGroup() as own:
            work = own.create_task(self._answer(session, prompt))
            turn.attach(work)
        session.running = None
        if work.cancelled():
            line = rpc.encode_result(request_id, {"stopReason": "cancelled"})
        else:
            line = _turn_line(request_id, work.result())
        await self._send(line)

    async def _answer(self, session: Session, prompt: Prompt) -> Outcome | rpc.RpcError:
        """Do the work of one turn; an error is its value, so that it ends this turn only."""
        session.turns += 1
        sink = TurnSink(session.session_id, self._notify, session.turns)
        try:
            return await self._answering.answer(session, prompt, sink)
        except ConnectionError:
            raise
        except GroupXError as error:
            return _as_rpc(error)
        except Exception as error:  # noqa: BLE001 -- the turn's boundary; the agent goes on
            _log.exception("a turn ended with a defect")
            return rpc.RpcError(
                rpc.INTERNAL_ERROR,
                f"The built-in agent has a defect ({type(error).__name__}); its log says more.",
            )

    async def _notify(self, method: str, params: dict[str, Any]) -> None:
        await self._send(rpc.encode_notification(method, params))


def _turn_line(request_id: Any, result: Outcome | rpc.RpcError) -> bytes:
    if isinstance(result, rpc.RpcError):
        return rpc.encode_error(request_id, result)
    answer: dict[str, Any] = {"stopReason": result.stop_reason}
    if result.usage:
        answer["usage"] = result.usage
    return rpc.encode_result(request_id, answer)


def _as_rpc(error: GroupXError) -> rpc.RpcError:
    is_auth = isinstance(error, ModelError) and error.kind == "auth"
    code = rpc.AUTH_REQUIRED if is_auth else rpc.INTERNAL_ERROR
    return rpc.RpcError(code, error.message, details={"code": error.code.value, **error.details})


def _commands(session_id: str) -> tuple[str, dict[str, Any]]:
    return "session/update", commands_update(session_id, available_commands())


def _groupx_meta(params: dict[str, Any]) -> dict[str, Any]:
    meta = params.get("_meta")
    told = meta.get("groupx") if isinstance(meta, dict) else None
    return told if isinstance(told, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
