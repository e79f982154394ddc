"""The room assistant of the line-by-line client: asked, and heard when it has answered.

What it does meanwhile is said act by act. Invariants: only what was asked for here is said; each
thing once, however often the connection breaks. Counterpart: `client.side`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from groupx_shared.errors import GroupXError
from groupx_shared.text import safe_line, safe_text

if TYPE_CHECKING:
    from groupx_shared.wire.assistant import AssistantFrame, SideMessage
    from groupx_tui.client.session import ClientSession

ENDINGS = {"failed": "failed", "cancelled": "stopped", "interrupted": "interrupted"}


class Aside:
    """The conversation, as far as this client takes part in it."""

    def __init__(
        self, session: ClientSession, say: Callable[[str], object], changed: asyncio.Event
    ) -> None:
        """`changed` is set whenever a request has ended."""
        self._session = session
        self._say = say
        self._changed = changed
        self._waited_for: dict[str, set[str]] = {}
        """By request: what was said of it."""
        self._ended: set[str] = set()
        self._asked = asyncio.Event()

    @property
    def is_waiting(self) -> bool:
        """Something that was asked for here is not answered yet."""
        return bool(self._waited_for)

    async def ask(self, text: str) -> str:
        """Ask for the shown room; what is said at once. Raises: GroupXError."""
        reply = await self._session.side.ask(text, self._session.view.room_id)
        request_id = reply.request.message_id
        if request_id not in self._ended:
            self._waited_for[request_id] = set()
        self._asked.set()
        before = f", {reply.position} before it" if reply.position else ""
        return f"Asked the assistant{before}."

    async def state(self) -> str:
        """How it is, and what it said last. Raises: GroupXError."""
        status = await self._session.side.status()
        detail = f": {safe_line(status.detail)}" if status.detail else ""
        page = await self._session.side.older(None)
        answers = [message for message in page.messages if message.role == "assistant"]
        last = f"\nIt said last:\n{safe_text(answers[-1].content)}" if answers else ""
        how = f"{safe_line(status.name, 64)}, {status.status}{detail}"
        return f"{how}{last}\n/assistant WORDS asks it; /assistant-stop stops it."

    async def stop(self) -> str:
        """Stop what is being answered. Raises: GroupXError."""
        reply = await self._session.side.cancel()
        return "" if reply.accepted else "The assistant does nothing that could be stopped."

    async def follow(self) -> None:
        """Say what comes, from the first question on; for ever."""
        await self._asked.wait()
        while True:
            try:
                async with aclosing(self._session.side.follow()) as batches:
                    async for frames in batches:
                        for frame in frames:
                            self._take(frame)
            except GroupXError as error:  # the stream is refused: nothing will be heard
                self._say(f"The assistant cannot be heard: {error.message}")
                self._waited_for.clear()
                self._changed.set()
                self._asked.clear()
                await self._asked.wait()

    def _take(self, frame: AssistantFrame) -> None:
        if frame.type != "message" or frame.message is None:
            return
        if lines := list(self._heard(frame.message)):
            self._say("\n".join(lines))

    def _heard(self, message: SideMessage) -> Iterator[str]:
        if message.role == "assistant":
            request_id = message.request_id or ""
            if "answer" not in self._waited_for.get(request_id, {"answer"}):
                self._waited_for[request_id].add("answer")
                yield f"Assistant answers:\n{safe_text(message.content)}"
            if request_id in self._ended:
                self._forget(request_id)
            return
        if message.status in ENDINGS or message.status == "completed":
            self._ended.add(message.message_id)
        said = self._waited_for.get(message.message_id)
        if said is None:
            return
        for act in message.acts:
            if act.act_id not in said:
                said.add(act.act_id)
                yield f"Assistant: {safe_line(act.summary)}"
        if message.status in ENDINGS:
            why = f": {safe_line(message.error_message)}" if message.error_message else "."
            yield f"Assistant: {ENDINGS[message.status]}{why}"
            self._forget(message.message_id)
        elif message.status == "completed" and "answer" in said:
            self._forget(message.message_id)

    def _forget(self, request_id: str) -> None:
        self._waited_for.pop(request_id, None)
        self._changed.set()
