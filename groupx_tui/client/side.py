"""The side conversation with the room assistant, over the server: followed, asked, cancelled.

The stream begins with the present state, so a connection that was lost is made again and nothing
is missing. The other half is `groupx_server.http.routes.assistant`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from pydantic import ValidationError

from groupx_shared.errors import GroupXError, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.wire.assistant import (
    AskAssistant,
    AssistantAccepted,
    AssistantCancelled,
    AssistantCleared,
    AssistantFrame,
    AssistantMessages,
    AssistantReply,
    CancelAssistant,
)
from groupx_shared.wire.requests import CommandRequest
from groupx_shared.wire.sse import SseParser
from groupx_tui.client.backoff import Backoff
from groupx_tui.client.events import SILENCE_S, Sleep
from groupx_tui.client.http import ServerClient
from groupx_tui.client.livesocket import open_stream
from groupx_tui.client.refusals import request_of

PATH: Final = "/api/assistant"
PAGE: Final = 50

Frames = list[AssistantFrame]


class SideTalk:
    """All that a window does with the room assistant. Methods raise what `ServerClient` raises."""

    def __init__(self, client: ServerClient, sleep: Sleep = asyncio.sleep) -> None:
        self._client = client
        self._sleep = sleep

    async def follow(
        self, on_lost: Callable[[str], None] = lambda _: None
    ) -> AsyncGenerator[Frames, None]:
        """Frames that came together, for ever; `on_lost` is told why a connection broke.

        Raises: RefusedError when the server does not give the stream.
        """
        backoff = Backoff()
        while True:
            try:
                async with aclosing(self._connection()) as connection:
                    async for frames in connection:
                        backoff.reset()
                        yield frames
                reason = "The server ended the stream."
            except RefusedError:
                raise
            except GroupXError as error:
                reason = error.message
            on_lost(reason)
            await self._sleep(backoff.next_pause())
            self._client.endpoint.refresh()

    async def _connection(self) -> AsyncGenerator[Frames, None]:
        parser = SseParser()
        server = self._client.endpoint.current()
        headers = {"accept": "text/event-stream"}
        stream = open_stream(server, f"{PATH}/events", headers, SILENCE_S)
        async with stream as body, aclosing(body) as chunks:
            async for chunk in chunks:
                found = [_frame(frame.data) for frame in parser.feed(chunk)]
                if frames := [frame for frame in found if frame is not None]:
                    yield frames

    async def status(self) -> AssistantReply:
        """Whether there is one, and how it is."""
        return await self._client.get(AssistantReply, PATH)

    async def ask(self, content: str, room_id: str) -> AssistantAccepted:
        """Put a request into its queue."""
        body = request_of(
            AskAssistant, client_command_id=new_id("cmd"), content=content, room_id=room_id
        )
        return await self._client.post(AssistantAccepted, f"{PATH}/messages", body)

    async def older(self, before: str | None) -> AssistantMessages:
        """A page of the conversation: the newest one, or the one before a message."""
        query = {"before": before, "limit": PAGE}
        return await self._client.get(AssistantMessages, f"{PATH}/messages", query)

    async def cancel(self, request_id: str | None = None) -> AssistantCancelled:
        """Cancel the request being answered, or the named one."""
        body = request_of(CancelAssistant, client_command_id=new_id("cmd"), request_id=request_id)
        return await self._client.post(AssistantCancelled, f"{PATH}/cancel", body)

    async def clear(self) -> AssistantCleared:
        """Forget the conversation."""
        body = request_of(CommandRequest, client_command_id=new_id("cmd"))
        return await self._client.post(AssistantCleared, f"{PATH}/clear", body)


def _frame(data: str) -> AssistantFrame | None:
    """The frame; one of a type that this version does not know is left out."""
    try:
        return AssistantFrame.model_validate_json(data)
    except ValidationError:
        return None
