"""One request from the head of the queue to its end.

`running` is on disk before the prompt leaves, and the request ends exactly once: completed,
failed, cancelled, or interrupted when the server stops in the middle. Nothing is sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final

from groupx_server.agents.base import Session
from groupx_server.assistant.brain import Brain
from groupx_server.assistant.feed import Feed, LiveReply
from groupx_server.assistant.prompt import HISTORY_MESSAGES, render_prompt
from groupx_server.assistant.setup import Setup
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ReasoningDelta,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    Waiting,
)
from groupx_server.domain.record import BoundedText
from groupx_server.ledger.sidetalk import RequestEnd, begin_request, end_request, list_side
from groupx_server.logs import get_logger
from groupx_server.rooms.collect import PARAGRAPH, PieceCleaner
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError, ErrorCode, GroupXError
from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.assistant import RequestStatus, SideMessage

CANCEL_AGAIN_S: Final = 1.0
END_WITHIN_S: Final = 3.0
"""For the end of a request when the server stops."""
PROGRESS_CHARS: Final = 160

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Means:
    """What an answer is made with."""

    runtime: Runtime
    setup: Setup
    brain: Brain
    feed: Feed
    on_tools: Callable[[bool], None] = lambda _: None
    """Called with whether the session took the tools."""


class Answering:
    """Answers one request; `cancel` may be called at any time."""

    def __init__(self, means: Means, request: SideMessage) -> None:
        self.request = request
        self._means = means
        self._cancel_requested = asyncio.Event()
        self._text = BoundedText(means.runtime.limits.answer_characters)
        self._cleaner = PieceCleaner()
        self._message_id: str | None = None
        self._paragraph_due = False

    def cancel(self) -> None:
        """Tell the program, once it has the prompt."""
        self._cancel_requested.set()

    async def run(self) -> None:
        """Bring the request to its end. Raises: LedgerError when the ledger is closed."""
        try:
            session = await self._means.brain.session()
        except AgentError as error:
            await self._end("failed", error)
            return
        self._means.on_tools(session.has_mcp)
        begin = partial(begin_request, request_id=self.request.message_id)
        if not await write_patiently(self._means.runtime.ledger, begin):
            return  # cancelled while the program started
        try:
            await self._answer(session)
        except asyncio.CancelledError:
            await self._end_at_stop()
            raise

    async def _answer(self, session: Session) -> None:
        feed = self._means.feed
        feed.live = LiveReply(self.request.message_id)
        running = self.request.model_copy(update={"status": "running"})
        feed.changed(running)
        prompt = await self._prompt(session)
        async with asyncio.TaskGroup() as tasks:
            cancelling = tasks.create_task(self._pass_on_cancel(session))
            try:
                last = await self._follow(session, prompt)
            finally:
                cancelling.cancel()
        await self._finish(last)

    async def _prompt(self, session: Session) -> str:
        brain = self._means.brain
        query = partial(list_side, before=self.request.message_id, limit=HISTORY_MESSAGES)
        history, _ = await read_patiently(self._means.runtime.ledger, query)
        return render_prompt(
            self.request,
            history,
            is_fresh=brain.is_fresh,
            has_tools=session.has_mcp,
            added_instructions=self._means.setup.instructions,
        )

    async def _follow(self, session: Session, prompt: str) -> NativeEvent:
        is_first = True
        async with aclosing(session.prompt(self.request.message_id, prompt)) as events:
            async for event in events:
                if is_first and not isinstance(event, Waiting | TurnFailed):
                    await self._means.brain.told(session)
                    is_first = False
                if isinstance(event, TurnCompleted | TurnCancelled | TurnFailed):
                    return event
                self._take(event)
        return TurnFailed(
            ErrorCode.PROTOCOL_INVALID_MESSAGE,
            "The program's stream ended without an end of the answer.",
            session_lost=True,
        )

    def _take(self, event: NativeEvent) -> None:
        feed = self._means.feed
        match event:
            case ContentDelta():
                self._take_text(event)
            case ReasoningDelta():
                feed.progress("thinking")
            case ToolProgress():
                self._paragraph_due = True
                feed.progress(safe_line(event.call.title, PROGRESS_CHARS))
            case Waiting():
                waits = f"silent for {event.silent_s:.0f} s"
                feed.progress(safe_line(event.reason, PROGRESS_CHARS) or waits)
            case _:
                pass

    def _take_text(self, event: ContentDelta) -> None:
        text = self._cleaner.clean(event.text)
        if not text:
            return
        starts_new = event.message_id is not None and event.message_id != self._message_id
        if self._text.total and (self._paragraph_due or starts_new):
            text = PARAGRAPH + text.lstrip("\n")
        self._message_id, self._paragraph_due = event.message_id, False
        self._means.feed.progress("")
        if not self._text.omitted:
            self._means.feed.piece(text)
        self._text.append(text)

    async def _pass_on_cancel(self, session: Session) -> None:
        await self._cancel_requested.wait()
        while True:
            await session.cancel()
            await asyncio.sleep(CANCEL_AGAIN_S)

    async def _finish(self, last: NativeEvent) -> None:
        match last:
            case TurnCompleted():
                await self._complete(last)
            case TurnCancelled():
                await self._end("cancelled", content=last.content)
            case TurnFailed():
                error = AgentError(last.message, code=last.code)
                await self._end("failed", error, content=last.content)
                if last.session_lost:
                    await self._means.brain.discard()
            case _:
                raise AssertionError(last)

    async def _complete(self, last: TurnCompleted) -> None:
        if self._text.total or (last.content or "").strip():
            await self._end("completed", content=last.content)
            return
        error = AgentError("It ended without a word. Ask again.", code=ErrorCode.EMPTY_ANSWER)
        await self._end("failed", error)

    async def _end_at_stop(self) -> None:
        error = AgentError(
            "The server was stopped while this was being answered; nothing was sent again.",
            code=ErrorCode.TURN_INTERRUPTED,
        )
        try:
            async with asyncio.timeout(END_WITHIN_S):
                await self._end("interrupted", error)
        except (TimeoutError, GroupXError) as problem:
            log.warning("assistant.unsettled", error=str(problem))

    async def _end(
        self, status: RequestStatus, error: GroupXError | None = None, content: str | None = None
    ) -> None:
        kept = self._text
        if content is not None:
            kept = BoundedText(self._means.runtime.limits.answer_characters)
            kept.append(safe_text(content))
        end = RequestEnd(
            self.request.message_id,
            status,
            content=kept.clipped(),
            is_cut=bool(kept.omitted),
            error_code=None if error is None else error.code.value,
            error_message=None if error is None else safe_line(error.message, 1024),
        )
        runtime = self._means.runtime
        step = partial(end_request, end=end, now=runtime.clock.now())
        changed = await write_patiently(runtime.ledger, step)
        self._means.feed.live = None
        self._means.feed.changed(*changed)
        log.info("assistant.answered", request=self.request.message_id, status=status)
