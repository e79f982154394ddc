"""The side conversation as a use case: ask, follow, cancel, clear; one request after another.

A request that was accepted is on disk and is answered once, in its turn, also after a restart. The
settings may change at any time; the answer under way ends as it was begun.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from groupx_server.agents.base import DriverFactory
from groupx_server.agents.host import HostStatus
from groupx_server.assistant.answering import Answering, Means
from groupx_server.assistant.brain import Brain
from groupx_server.assistant.feed import Feed
from groupx_server.assistant.setup import DEFAULT_NAME, HOW_TO_SET_UP, Setup, is_off
from groupx_server.ledger.actors import name_actor
from groupx_server.ledger.commands import once
from groupx_server.ledger.sidesession import write_side_session
from groupx_server.ledger.sidetalk import (
    NewRequest,
    RequestEnd,
    answer_of,
    cancel_request,
    clear_side,
    count_open,
    end_request,
    list_side,
    next_request,
    read_side,
    settle_side,
    take_request,
)
from groupx_server.logs import get_logger
from groupx_server.rooms.grants import Grants
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.ids import USER_ASSISTANT
from groupx_shared.text import safe_text
from groupx_shared.wire.assistant import (
    AskAssistant,
    AssistantAccepted,
    AssistantCancelled,
    AssistantCleared,
    AssistantMessages,
    AssistantReply,
    AssistantState,
    CancelAssistant,
    SideMessage,
)

FIRST_MESSAGES: Final = 40
"""The newest ones, with which a stream of the whole conversation begins."""
NO_TOOLS: Final = "It answers and looks things up; its program takes no tools, so it does nothing."

log = get_logger(__name__)


class Conversation:
    """`run` lives as long as the server."""

    def __init__(
        self, runtime: Runtime, factory: DriverFactory, grants: Grants, setup: Setup | None
    ) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._factory = factory
        self._grants = grants
        self._setup = setup
        self._host = HostStatus("stopped")
        self._has_tools: bool | None = None
        self._brain: Brain | None = None
        self._running: Answering | None = None
        self._open = 0
        self._changed = asyncio.Event()
        self.feed = Feed(self.status)

    # --- life -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Answer requests until cancelled."""
        settle = partial(settle_side, now=self._runtime.clock.now())
        if left := await write_patiently(self._ledger, settle):
            log.info("assistant.interrupted", requests=len(left))
            self.feed.changed(*left)
        try:
            while True:
                self._changed.clear()
                setup = self._setup
                if setup is not None:
                    await self._serve(setup)
                else:
                    await self._refuse_waiting()
                    await self._changed.wait()
        finally:
            self.feed.close()

    def replace(self, setup: Setup | None) -> None:
        """Take over other settings, between two answers."""
        self._setup = setup
        self._changed.set()
        self.feed.status_changed()

    @property
    def running_request(self) -> SideMessage | None:
        """The request being answered: what its tools do is done for it."""
        return None if self._running is None else self._running.request

    async def _serve(self, setup: Setup) -> None:
        """Answer with this program as long as it is the one that is wanted."""
        name = partial(
            name_actor,
            actor_id=USER_ASSISTANT,
            display_name=setup.name,
            enabled=True,
            now=self._runtime.clock.now(),
        )
        await write_patiently(self._ledger, name)
        self._brain = brain = Brain(
            self._ledger, setup, self._factory, self._grants, self._take_status
        )
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(brain.run())
                try:
                    while self._setup == setup:
                        self._changed.clear()
                        request = await read_patiently(self._ledger, next_request)
                        if request is None:
                            await self._changed.wait()
                        else:
                            await self._answer(setup, brain, request)
                finally:
                    await brain.close()
        finally:
            self._brain, self._has_tools = None, None
            self._host = HostStatus("stopped")

    async def _answer(self, setup: Setup, brain: Brain, request: SideMessage) -> None:
        means = Means(self._runtime, setup, brain, self.feed, self.tools_told)
        self._running = Answering(means, request)
        self.feed.status_changed()
        try:
            await self._running.run()
        finally:
            self._running = None
            await self._count()

    async def _refuse_waiting(self) -> None:
        """Nobody will answer: say so instead of letting requests wait for ever."""
        while (request := await read_patiently(self._ledger, next_request)) is not None:
            error = is_off()
            end = RequestEnd(
                request.message_id,
                "failed",
                error_code=error.code.value,
                error_message=error.message,
            )
            step = partial(end_request, end=end, now=self._runtime.clock.now())
            self.feed.changed(*await write_patiently(self._ledger, step))
        await self._count()

    # --- what people do ---------------------------------------------------------------------

    async def ask(self, asked: AskAssistant) -> AssistantAccepted:
        """Put a request into the queue; on disk when this returns.

        Raises: RefusedError (AGENT_DISABLED when it is off, and what the queue refuses).
        """
        if self._setup is None:
            raise is_off()
        content = safe_text(asked.content)
        new = NewRequest(asked.client_command_id, content, _room(asked.room_id))
        step = partial(take_request, asked=new, now=self._runtime.clock.now())
        taken = await self._ledger.write(step)
        if taken.is_new:
            await self._count()
            self.feed.changed(taken.request)
            self._changed.set()
        return AssistantAccepted(request=taken.request, position=taken.position)

    async def cancel(self, asked: CancelAssistant) -> AssistantCancelled:
        """Cancel one request: ended at once while it waits, told to the program while it runs.

        Raises: RefusedError (UNKNOWN_EVENT, CLIENT_COMMAND_CONFLICT).
        """
        now = self._runtime.clock.now()
        step = partial(cancel_request, asked=asked, now=now)
        done = await self._ledger.write(step)
        running = self.running_request
        if done.request_id is not None and done.status == "cancelled":
            query = partial(read_side, message_id=done.request_id)
            self.feed.changed(await self._ledger.read(query))
            await self._count()
        elif running is not None and running.message_id == done.request_id:
            assert self._running is not None
            self._running.cancel()
        return done

    async def clear(self, client_command_id: str) -> AssistantCleared:
        """Forget the conversation and begin a new session.

        Raises: RefusedError (STORE_CONFLICT while a request is open, CLIENT_COMMAND_CONFLICT).
        """
        now = self._runtime.clock.now()

        def step(connection: sqlite3.Connection) -> AssistantCleared:
            def act() -> dict[str, object]:
                write_side_session(connection, None)
                return {"removed": clear_side(connection)}

            stored = once(connection, client_command_id, "assistant.clear", {}, act, now)
            return AssistantCleared.model_validate(stored)

        cleared = await self._ledger.write(step)
        if self._brain is not None:
            self._brain.begin_anew()
        self.feed.cleared()
        return cleared

    async def renew(self) -> None:
        """Something was removed from the conversation for good: the next request begins a new
        session, and clients get the conversation as it is now."""
        await self._ledger.write(partial(write_side_session, session=None))
        if self._brain is not None:
            self._brain.begin_anew()
        query = partial(list_side, before=None, limit=FIRST_MESSAGES)
        messages, _ = await self._ledger.read(query)
        self.feed.cleared()
        self.feed.changed(*messages)

    # --- what people see --------------------------------------------------------------------

    def status(self) -> AssistantReply:
        """How it is now."""
        setup, running = self._setup, self.running_request
        if setup is None:
            return AssistantReply(
                enabled=False, name=DEFAULT_NAME, status="disabled", detail=HOW_TO_SET_UP
            )
        return AssistantReply(
            enabled=True,
            name=setup.name,
            status=self._state(),
            detail=self._detail(),
            driver=setup.driver,
            can_act=self._has_tools,
            open_requests=self._open,
            running_request_id=None if running is None else running.message_id,
        )

    async def messages(self, before: str | None, limit: int) -> AssistantMessages:
        """A page of the conversation. Raises: RefusedError (UNKNOWN_EVENT)."""
        query = partial(list_side, before=before, limit=limit)
        found, next_before = await self._ledger.read(query)
        return AssistantMessages(messages=tuple(found), next_before=next_before)

    async def follow(self, request_id: str | None) -> AsyncIterator[bytes]:
        """The frames of the conversation, or of one request until its end.

        Raises: RefusedError (UNKNOWN_EVENT) before the first frame.
        """
        place = self.feed.place()
        first = await self._ledger.read(partial(_first_messages, request_id=request_id))
        return self.feed.follow(place, first, request_id)

    def acted(self, request: SideMessage) -> None:
        """Something was done for this request."""
        self.feed.changed(request)

    def tools_told(self, has_tools: bool) -> None:
        """Whether the program took the tools."""
        if has_tools != self._has_tools:
            self._has_tools = has_tools
            self.feed.status_changed()

    def _state(self) -> AssistantState:
        if self._host.state == "starting":
            return "starting"
        if self._running is not None:
            return "busy"
        if self._host.state in ("failed", "retrying"):
            return "failed"
        return "ready" if self._host.state == "ready" else "stopped"

    def _detail(self) -> str | None:
        if self._has_tools is False:
            return NO_TOOLS
        return self._host.detail or None

    def _take_status(self, status: HostStatus) -> None:
        self._host = status
        self.feed.status_changed()

    async def _count(self) -> None:
        self._open = await read_patiently(self._ledger, count_open)
        self.feed.status_changed()


def _first_messages(connection: sqlite3.Connection, request_id: str | None) -> list[SideMessage]:
    if request_id is None:
        return list_side(connection, None, FIRST_MESSAGES)[0]
    request = read_side(connection, request_id)
    answer = answer_of(connection, request_id)
    return [request] if answer is None else [request, answer]


def _room(room_id: str) -> str:
    return room_id if room_id.startswith("room:") else f"room:{room_id}"
