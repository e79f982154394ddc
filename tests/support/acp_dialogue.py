"""Speaks ACP with the built-in agent as a client would: in this process, or with the real one.

Every wait is bounded by `WAIT_S`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groupx_server.builtin_agent.agent import BuiltinAgent
from groupx_server.builtin_agent.answering import Answering
from groupx_server.builtin_agent.discovery import PortScout
from groupx_server.builtin_agent.http_pool import HttpPool
from groupx_server.builtin_agent.model_finder import ModelFinder
from groupx_server.builtin_agent.settings import read_settings

WAIT_S = 5.0
NO_DISCOVERY = {"GROUPX_MODEL_DISCOVERY": "0"}
"""Tests never look at the machine's real ports."""


@dataclass
class Turn:
    """What the client saw of one prompt."""

    reply: dict[str, Any]
    updates: list[dict[str, Any]]

    @property
    def text(self) -> str:
        return self._joined("agent_message_chunk")

    @property
    def thoughts(self) -> str:
        return self._joined("agent_thought_chunk")

    @property
    def stop_reason(self) -> str:
        reason: str = self.reply["result"]["stopReason"]
        return reason

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.reply["error"]
        return error

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Each tool call with its latest fields, in the order they began."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                calls.setdefault(update["toolCallId"], {}).update(update)
        return list(calls.values())

    def _joined(self, kind: str) -> str:
        return "".join(
            update["content"]["text"] for update in self.updates if update["sessionUpdate"] == kind
        )


@dataclass
class Dialogue:
    """One client. `replies` and `updates` are filled while something is waited for."""

    write: Callable[[bytes], Awaitable[None]]
    lines: asyncio.Queue[bytes]
    replies: dict[int, dict[str, Any]] = field(default_factory=dict)
    updates: list[dict[str, Any]] = field(default_factory=list)
    _ids: itertools.count[int] = field(default_factory=itertools.count)

    async def request(self, method: str, params: Any) -> int:
        """Send a request and return its id (the first one is 0)."""
        number = next(self._ids)
        await self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    async def notify(self, method: str, params: Any) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def send(self, message: dict[str, Any]) -> None:
        await self.write(json.dumps(message).encode() + b"\n")

    async def step(self) -> dict[str, Any]:
        """Take one line of the agent."""
        async with asyncio.timeout(WAIT_S):
            message: dict[str, Any] = json.loads(await self.lines.get())
        if message.get("method") == "session/update":
            self.updates.append(message["params"])
        else:
            self.replies[message["id"]] = message
        return message

    async def reply(self, number: int) -> dict[str, Any]:
        """Wait for the answer with this id."""
        while number not in self.replies:
            await self.step()
        return self.replies.pop(number)

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        return await self.reply(await self.request(method, params))

    async def open_session(self, **told: str) -> str:
        """Open a session; `told` goes into `_meta.groupx`."""
        params: dict[str, Any] = {"cwd": "/tmp", "mcpServers": []}
        if told:
            params["_meta"] = {"groupx": told}
        session: str = (await self.ask("session/new", params))["result"]["sessionId"]
        await self.step()
        return session

    async def begin(self, session: str, text: str, current: str | None = None) -> int:
        """Send a prompt without waiting for its answer."""
        params: dict[str, Any] = {
            "sessionId": session,
            "prompt": [{"type": "text", "text": text}],
        }
        if current is not None:
            params["_meta"] = {"groupx": {"currentMessage": current}}
        return await self.request("session/prompt", params)

    async def finish(self, session: str, number: int) -> Turn:
        """Wait for a prompt's answer and take the updates of its session."""
        reply = await self.reply(number)
        taken = [update["update"] for update in self.updates if update["sessionId"] == session]
        self.updates = [update for update in self.updates if update["sessionId"] != session]
        return Turn(reply, taken)

    async def prompt(self, session: str, text: str, current: str | None = None) -> Turn:
        return await self.finish(session, await self.begin(session, text, current))

    async def until_update(self, kind: str) -> dict[str, Any]:
        """Wait for the next update of this kind."""
        while True:
            message = await self.step()
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == kind:
                return dict(update)


@contextlib.asynccontextmanager
async def agent_in_process(
    env: Mapping[str, str], sleeps: list[float] | None = None
) -> AsyncIterator[Dialogue]:
    """The agent's whole inside, without a process; waits are only noted in `sleeps`."""
    settings = read_settings({**NO_DISCOVERY, **env})
    http = HttpPool()
    scout = PortScout(http, settings.ports, model=settings.model)
    finder = ModelFinder(settings, http, scout)
    noted = [] if sleeps is None else sleeps

    async def note(seconds: float) -> None:
        noted.append(seconds)

    inbox: asyncio.Queue[bytes] = asyncio.Queue()
    outbox: asyncio.Queue[bytes] = asyncio.Queue()
    agent = BuiltinAgent(
        Answering(settings, http, finder, sleep=note),
        outbox.put,
        history_chars=settings.history_chars,
        on_session=finder.forget,
    )

    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await inbox.get():
            yield chunk

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(agent.serve(chunks()))
        try:
            yield Dialogue(inbox.put, outbox)
        finally:
            await inbox.put(b"")
    await http.aclose()


@dataclass
class AgentProcess:
    """The real program."""

    process: asyncio.subprocess.Process
    dialogue: Dialogue

    async def end_input(self) -> int:
        """Close its input and return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(WAIT_S):
            return await self.process.wait()


@contextlib.asynccontextmanager
async def agent_process(env: Mapping[str, str]) -> AsyncIterator[AgentProcess]:
    """`python -m groupx_server.builtin_agent` with this environment and no other settings."""
    inherited = {name: value for name, value in os.environ.items() if "GROUPX" not in name}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "groupx_server.builtin_agent",
        env={**inherited, **NO_DISCOVERY, **env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        limit=64 * 1024 * 1024,
    )
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def write(data: bytes) -> None:
        stdin.write(data)
        await stdin.drain()

    async def pump() -> None:
        while line := await stdout.readline():
            await lines.put(line)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pump())
        try:
            yield AgentProcess(process, Dialogue(write, lines))
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
