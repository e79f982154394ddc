"""Requests to the server: address, token, timeouts, one retry, errors.

The invariant: every wait is bounded, and a request is made a second time only when that is safe:
each changing request carries a `clientCommandId`, so the server does it once. httpx is loaded
when the first transport is made, not when this module is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from groupx_shared.wire.base import RequestModel
from groupx_tui.client.endpoint import Endpoint
from groupx_tui.client.refusals import cause_of, refusal_of, unreachable, was_reached

if TYPE_CHECKING:
    import httpx

CONNECT_TIMEOUT_S: Final = 2.0
"""Loopback connects at once or not at all; a stopped machine may take a moment."""
REPLY_TIMEOUT_S: Final = 15.0
"""Longest silence of a request: a disk that is slow to sync stays well below."""
MAX_REFUSAL_BYTES: Final = 256 * 1024
"""Read of a refusal's body while streaming; ours are far smaller."""

Query = Mapping[str, str | int | Sequence[str] | None]


class Transport:
    """One pool of connections to whatever server the endpoint names."""

    def __init__(self, endpoint: Endpoint, reply_timeout_s: float = REPLY_TIMEOUT_S) -> None:
        import httpx

        self.endpoint = endpoint
        self._timeout = httpx.Timeout(reply_timeout_s, connect=CONNECT_TIMEOUT_S)
        self._http = httpx.AsyncClient(
            timeout=self._timeout,
            trust_env=False,  # a proxy from the environment would get the token
            verify=False,  # plain http on loopback only; loading certificates takes 50 ms
            follow_redirects=False,
            headers={"accept-encoding": "identity"},
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: RequestModel | None = None,
        silence_s: float | None = None,
    ) -> bytes:
        """Return the content of a 2xx answer. `silence_s`: wait so long for it, where the server
        has more to do than usual.

        Raises: RefusedError, ServerUnreachableError, GroupXError (the server failed).
        """
        import httpx

        content = None if body is None else body.to_wire()
        for is_last in (False, True):
            url = self.endpoint.current().url
            request = self._request(method, path, query, content)
            if silence_s is not None:
                timeout = httpx.Timeout(silence_s, connect=CONNECT_TIMEOUT_S)
                request.extensions["timeout"] = timeout.as_dict()
            try:
                response = await self._http.send(request)
            except httpx.TransportError as error:
                if is_last or not self._may_repeat(error):
                    cause, reached = cause_of(error), was_reached(error)
                    raise unreachable(url, cause, reached=reached) from error
                continue
            if response.is_success:
                return response.content
            if is_last or response.status_code != 401 or not self.endpoint.refresh():
                raise refusal_of(response.status_code, response.content, url)
        raise AssertionError("the second try always returns or raises")

    @asynccontextmanager
    async def stream(
        self, path: str, query: Query | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a streamed GET and give its chunks as they come.

        Raises: as `ask`, also while the chunks are read.
        """
        import httpx

        url = self.endpoint.current().url
        request = self._request("GET", path, query, None)
        try:
            response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    content = await _head_of(response)
                    raise refusal_of(response.status_code, content, url)
                yield response.aiter_raw()
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise unreachable(url, cause_of(error)) from error

    def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        content: bytes | None,
    ) -> httpx.Request:
        server = self.endpoint.current()
        sent = {"authorization": f"Bearer {server.token}"}
        if content is not None:
            sent["content-type"] = "application/json"
        params = {key: value for key, value in (query or {}).items() if value is not None}
        return self._http.build_request(
            method, server.url + path, params=params, content=content, headers=sent
        )

    def _may_repeat(self, error: httpx.TransportError) -> bool:
        """A kept connection that the server closed meanwhile, or a server that moved."""
        import httpx

        moved = self.endpoint.refresh()
        if isinstance(error, httpx.ConnectError):
            return moved
        return not isinstance(error, httpx.TimeoutException)


async def _head_of(response: httpx.Response) -> bytes:
    """The first part of a refusal's body."""
    content = b""
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > MAX_REFUSAL_BYTES:
            break
    return content[:MAX_REFUSAL_BYTES]
