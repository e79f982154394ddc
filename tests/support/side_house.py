"""A room assistant with a fake program, over running rooms with fake agents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from groupx_server.assistant.acts import Acts
from groupx_server.assistant.configuring import Configuring, Settings
from groupx_server.assistant.conversation import Conversation
from groupx_server.assistant.looking import Looking
from groupx_server.assistant.messages import OperatorMessages
from groupx_server.assistant.remembering import Remembering
from groupx_server.assistant.ruling import Ruling
from groupx_server.assistant.setup import Setup
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.callers import Caller
from groupx_server.mcp.operatortools import Cases, OperatorDesk
from groupx_server.rooms.grants import Grants
from groupx_shared.config import load_config
from groupx_shared.ids import USER_ASSISTANT
from groupx_shared.wire.assistant import AskAssistant, AssistantFrame, CancelAssistant, SideMessage
from groupx_shared.wire.replies import ReloadReply
from groupx_shared.wire.sse import SseParser
from groupx_shared.workspace import find_workspace
from support.fake_driver import FakeFleet, fake_spec
from support.rooms import House, house

CALLER = Caller("binding_operator_1", USER_ASSISTANT, "room:main")
SPEC = replace(fake_spec(), actor_id=USER_ASSISTANT)
SETUP = Setup("Helper", SPEC, "Answer in rhymes.")
WITHIN_S = 5.0


@dataclass
class SideHouse:
    """The conversation, its tools, and what is below."""

    rooms: House
    talk: Conversation
    fleet: FakeFleet
    grants: Grants
    desk: OperatorDesk
    commands: int = 0
    reloads: list[str] = field(default_factory=list)

    def plan(self, *scripts: Any) -> None:
        """What the assistant's program does with its next prompts."""
        self.fleet.scripts.extend(scripts)

    async def ask(self, content: str = "please", **more: Any) -> SideMessage:
        """Put a request into the queue."""
        self.commands += 1
        fields = {"client_command_id": f"s{self.commands}", "content": content} | more
        return (await self.talk.ask(AskAssistant(**fields))).request

    async def cancel(self, request_id: str | None = None, command_id: str = "") -> Any:
        """Cancel a request."""
        self.commands += 1
        command_id = command_id or f"x{self.commands}"
        asked = CancelAssistant(client_command_id=command_id, request_id=request_id)
        return await self.talk.cancel(asked)

    async def frames(
        self, request_id: str, gate: asyncio.Event | None = None
    ) -> list[AssistantFrame]:
        """All frames of a request until its end; `gate` is set with the answer's first piece."""
        parser = SseParser()
        found: list[AssistantFrame] = []
        async with asyncio.timeout(WITHIN_S):
            async for piece in await self.talk.follow(request_id):
                fed = parser.feed(piece)
                found += [AssistantFrame.model_validate_json(frame.data) for frame in fed]
                if gate is not None and any(frame.type == "delta" for frame in found):
                    gate.set()
        return found

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a change of the conversation after which it is so."""
        async with asyncio.timeout(WITHIN_S):
            while not condition():
                await self.talk.feed._pulse.wait()

    async def ended(self, request: SideMessage) -> tuple[SideMessage, SideMessage | None]:
        """Wait for the end: the request and its answer."""
        await self.frames(request.message_id)
        messages = (await self.talk.messages(None, 200)).messages
        own = next(m for m in messages if m.message_id == request.message_id)
        answers = [m for m in messages if m.request_id == request.message_id]
        return own, answers[0] if answers else None

    async def asked(self, content: str = "please", **more: Any) -> SideMessage:
        """Ask and wait; the request as it ended."""
        return (await self.ended(await self.ask(content, **more)))[0]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool as the program would; a refusal is `{code, message}`."""
        answer = await self.desk.call(CALLER, tool, arguments)
        found: dict[str, Any] = orjson.loads(orjson.dumps(answer.payload))
        return found

    async def doing(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool gives while a request is answered."""
        results: list[dict[str, Any]] = []

        async def act() -> None:
            results.append(await self.call(tool, **arguments))

        self.plan([act, *ANSWER])
        await self.asked()
        return results[0]


ANSWER: list[Any] = [ContentDelta("done"), TurnCompleted()]


@asynccontextmanager
async def side_house(
    folder: Path,
    *,
    setup: Setup | None = SETUP,
    names: tuple[str, ...] = ("a", "b"),
    runs: bool = True,
    **more: Any,
) -> AsyncIterator[SideHouse]:
    """Run everything; at the end all is stopped. `runs`: whether the conversation does."""
    fleet, grants = FakeFleet(), Grants("http://127.0.0.1:1/mcp/operator")
    (folder / "groupx.json").write_text('{"agents": {"a": {"driver": "builtin"}}}', "utf-8")
    workspace = find_workspace(folder / "groupx.json")
    reloads: list[str] = []

    async def reload(command_id: str) -> ReloadReply:
        reloads.append(command_id)
        return ReloadReply()

    async with house(folder, names, **more) as rooms:
        talk = Conversation(rooms.runtime, fleet, grants, setup)
        acts = Acts(rooms.runtime, talk)
        settings = Settings(workspace, lambda: load_config(workspace), reload)
        cases = Cases(
            OperatorMessages(acts, rooms.agents),
            Ruling(acts, rooms.agents, rooms.service),
            Remembering(acts, rooms.agents),
            Configuring(acts, settings),
            Looking(acts, rooms.agents, rooms.service),
        )
        made = SideHouse(rooms, talk, fleet, grants, OperatorDesk(cases), reloads=reloads)
        async with asyncio.TaskGroup() as tasks:
            talking = tasks.create_task(talk.run() if runs else asyncio.sleep(0))
            try:
                yield made
            finally:
                talking.cancel()
