"""One request to a chat endpoint, streamed. The only place that speaks HTTP with a model.

Deltas are handed on as they arrive, those of one network read merged, so that the cost of a delta
depends on its own size alone. The counterpart is `answer.Answer`, which takes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from groupx_server.builtin_agent import failures
from groupx_server.builtin_agent.chunks import (
    ContentPart,
    Delta,
    ErrorReported,
    Finished,
    ReasoningPart,
    ToolFragment,
    error_text,
    read_payload,
    read_reply,
)
from groupx_server.builtin_agent.endpoint import Endpoint
from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.http_pool import HttpPool, ReplyTooLargeError, read_bounded
from groupx_server.builtin_agent.sse import EventTooLargeError, SseReader

if TYPE_CHECKING:
    import httpx

MAX_ERROR_BYTES: Final = 65_536
MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
"""A reply that is not streamed: room for the longest answer we keep, escaped."""

AFTER_FINISH_S: Final = 2.0
"""For token counts and the end mark after the model has finished; some servers send neither."""

Receive = Callable[[Sequence[Delta]], Awaitable[None]]


class ChatClient:
    """Sends chat requests; `timeout_s` bounds the silence before and between deltas."""

    def __init__(self, http: HttpPool, timeout_s: float) -> None:
        self._http = http
        self._timeout_s = timeout_s

    async def complete(self, endpoint: Endpoint, body: dict[str, Any], receive: Receive) -> None:
        """Send `body` and hand every delta to `receive`, in order, until the answer is finished.

        Cancelling closes the connection. What `receive` raises ends the request and passes.
        Raises: ModelError.
        """
        import httpx

        reply = _Reply(endpoint, receive)
        try:
            async with asyncio.timeout(self._timeout_s) as silence:
                reply.watch(silence, self._timeout_s)
                await self._exchange(endpoint, body, reply)
        except TimeoutError as error:
            if reply.is_finished:
                return
            raise failures.timed_out(endpoint, self._timeout_s, streamed=reply.streamed) from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise failures.unreachable(endpoint, _reason(error)) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise failures.unreadable(endpoint, _reason(error)) from error
        except (EventTooLargeError, ReplyTooLargeError) as error:
            raise failures.unreadable(endpoint, str(error)) from error
        except httpx.HTTPError as error:
            if reply.is_finished:
                return
            raise failures.dropped(endpoint, _reason(error), streamed=reply.streamed) from error

    async def _exchange(self, endpoint: Endpoint, body: dict[str, Any], reply: _Reply) -> None:
        client = self._http.client_for(endpoint.base_url)
        async with client.stream(
            "POST", endpoint.chat_url, content=orjson.dumps(body), headers=_headers(endpoint)
        ) as response:
            if not response.is_success:
                raise await _refusal(endpoint, response)
            if "application/json" in response.headers.get("content-type", ""):
                await reply.take_whole(await read_bounded(response, MAX_REPLY_BYTES))
            else:
                await reply.take_stream(response)


_VISIBLE: Final = (ContentPart, ReasoningPart, ToolFragment)


class _Reply:
    """Reads one successful response and hands its deltas on."""

    def __init__(self, endpoint: Endpoint, receive: Receive) -> None:
        self._endpoint = endpoint
        self._receive = receive
        self._silence: asyncio.Timeout | None = None
        self._timeout_s = 0.0
        self.streamed = False
        self.is_finished = False

    def watch(self, silence: asyncio.Timeout, timeout_s: float) -> None:
        self._silence, self._timeout_s = silence, timeout_s

    async def take_whole(self, data: bytes) -> None:
        deltas = read_reply(data)
        if deltas is None:
            raise failures.unreadable(self._endpoint, "its reply is not a JSON object")
        await self._deliver(deltas)

    async def take_stream(self, response: httpx.Response) -> None:
        reader = SseReader()
        ended = False
        async for chunk in response.aiter_bytes():
            deltas = [delta for event in reader.feed(chunk) for delta in read_payload(event)]
            await self._deliver(deltas)
            if ended := Finished("") in deltas:
                break
        if not ended:
            await self._deliver([d for event in reader.finish() for d in read_payload(event)])
        if not self.is_finished:
            raise self._incomplete(response)

    async def _deliver(self, deltas: list[Delta]) -> None:
        if not deltas:
            return
        errors = [delta for delta in deltas if isinstance(delta, ErrorReported)]
        self.is_finished = self.is_finished or any(isinstance(d, Finished) for d in deltas)
        self.streamed = self.streamed or any(isinstance(d, _VISIBLE) for d in deltas)
        self._pause_silence()
        await self._receive(merged(deltas))
        self._restart_silence()
        if errors:
            raise failures.reported_in_stream(self._endpoint, errors[0].message, errors[0].status)

    def _pause_silence(self) -> None:
        """Time in which our own reader is slow is not the model's silence."""
        if self._silence is not None:
            self._silence.reschedule(None)

    def _restart_silence(self) -> None:
        if self._silence is not None:
            wait_s = min(AFTER_FINISH_S, self._timeout_s) if self.is_finished else self._timeout_s
            self._silence.reschedule(asyncio.get_running_loop().time() + wait_s)

    def _incomplete(self, response: httpx.Response) -> ModelError:
        if not self.streamed:
            kind = response.headers.get("content-type") or "no content type"
            return failures.unreadable(self._endpoint, f"an empty or foreign reply, {kind}")
        return failures.dropped(
            self._endpoint, "it ended without saying that it was finished", streamed=True
        )


def merged(deltas: Sequence[Delta]) -> list[Delta]:
    """Join neighbouring pieces of text; errors are left out, the order stays."""
    result: list[Delta] = []
    run: list[str] = []
    kind: type[ContentPart] | type[ReasoningPart] | None = None
    for delta in deltas:
        if isinstance(delta, ErrorReported):
            continue
        if kind is not None and not isinstance(delta, kind):
            result.append(kind("".join(run)))
            run, kind = [], None
        if isinstance(delta, ContentPart | ReasoningPart):
            kind = type(delta)
            run.append(delta.text)
        else:
            result.append(delta)
    return [*result, kind("".join(run))] if kind is not None else result


def _headers(endpoint: Endpoint) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    return headers


async def _refusal(endpoint: Endpoint, response: httpx.Response) -> ModelError:
    try:
        body = await read_bounded(response, MAX_ERROR_BYTES)
    except ReplyTooLargeError:
        body = b""
    wait = response.headers.get("retry-after", "")
    return failures.from_status(
        endpoint,
        response.status_code,
        error_text(body),
        retry_after_s=float(wait) if wait.isdecimal() else None,
    )


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
