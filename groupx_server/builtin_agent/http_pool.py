"""HTTP clients, made at first use. The only place that imports httpx, which costs as much as the
rest of the start: it is fetched in the background while the first session opens.

Redirects are never followed, and a loopback address never goes through a proxy: the agent talks
to the addresses it was given and to no other.
"""

from __future__ import annotations

import importlib
import ssl
import sys
import threading
from typing import TYPE_CHECKING, Final

from groupx_server.builtin_agent.endpoint import is_loopback
from groupx_shared.version import VERSION

if TYPE_CHECKING:
    import httpx

USER_AGENT: Final = f"groupx-builtin/{VERSION}"
CONNECT_TIMEOUT_S: Final = 10.0


class ReplyTooLargeError(ValueError):
    """A reply is larger than the reader is ready to hold."""


class HttpPool:
    """One client for loopback, one for elsewhere. Loopback connections are not kept: a new one
    costs nothing, and a kept one may be closed by the server just as it is used again."""

    def __init__(self) -> None:
        self._clients: dict[bool, httpx.AsyncClient] = {}

    def client_for(self, url: str) -> httpx.AsyncClient:
        """Return the client for `url`; waits for nothing but the import."""
        local = is_loopback(url)
        if local not in self._clients:
            self._clients[local] = _new_client(local=local)
        return self._clients[local]

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()


def import_in_background() -> None:
    """Begin to import httpx beside the event loop, unless that was done before."""
    if "httpx" in sys.modules:
        return
    threading.Thread(target=importlib.import_module, args=("httpx",), daemon=True).start()


async def read_bounded(response: httpx.Response, max_bytes: int) -> bytes:
    """Read a whole streamed body. Raises: ReplyTooLargeError, httpx.HTTPError."""
    parts, size = [], 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > max_bytes:
            raise ReplyTooLargeError(f"the reply is over {max_bytes:,} bytes")
        parts.append(chunk)
    return b"".join(parts)


def _new_client(*, local: bool) -> httpx.AsyncClient:
    import httpx

    return httpx.AsyncClient(
        timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
        limits=httpx.Limits(max_keepalive_connections=0 if local else 4),
        follow_redirects=False,
        trust_env=not local,
        verify=_no_certificates() if local else True,
        headers={"User-Agent": USER_AGENT},
    )


def _no_certificates() -> ssl.SSLContext:
    """A context that trusts nobody: loopback is plain HTTP, and loading the system's
    certificates would cost 30 ms for nothing."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
