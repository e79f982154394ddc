"""Running the application: a loopback socket, uvicorn inside the caller's loop, a bounded end.

The socket is bound before anything else starts, so a taken port is a sentence and not a crash
half way. Signals, the event loop and the order of stopping belong to the composition root; this
module only serves until it is told to stop.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import socket
from collections.abc import Callable, Generator
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from groupx_server.http.segments import joining
from groupx_server.logs import get_logger
from groupx_shared.errors import ConfigError

GRACE_S: Final = 2.0
"""For requests under way when the server stops; then their connections are cut."""
KEEP_ALIVE_S: Final = 30
"""A client's connection may rest this long between two requests."""
BACKLOG: Final = 256

_log = get_logger(__name__)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's loop where it is installed, else None (asyncio's own); for `asyncio.Runner`."""
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop


def bind_loopback(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Bind and listen; port 0 takes a free one. The caller closes the socket or serves on it.

    Raises: ConfigError when the address cannot be had.
    """
    host = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only for sockets that say TCP; with it each reply would
    # wait 40 ms for the client's delayed acknowledgement (uvicorn writes head and body apart).
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError as error:
        sock.close()
        raise _cannot_bind(host, port, error) from error
    return sock


def _cannot_bind(host: str, port: int, error: OSError) -> ConfigError:
    remedy = "Set server.port to another one, or to 0 for a free one."
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"Port {port} on {host} is taken by another program (or by a GroupX server of "
            f"another workspace). {remedy}"
        )
    if error.errno == errno.EACCES:
        return ConfigError(f"Port {port} needs rights that this user has not. {remedy}")
    return ConfigError(
        f"The server cannot listen on {host}, port {port}: {error.strerror}. "
        "Set server.host to 127.0.0.1."
    )


class HttpServer:
    """Serves one application on one bound socket. `run(stop)` goes into a TaskGroup."""

    def __init__(
        self,
        app: ASGIApp,
        sock: socket.socket,
        *,
        access_log: bool = False,
        grace_s: float = GRACE_S,
    ) -> None:
        self.is_ready = asyncio.Event()
        """Set once connections are taken."""
        self._sock = sock
        self._app = app
        self._access_log = access_log
        self._grace_s = grace_s

    @property
    def port(self) -> int:
        port: int = self._sock.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Like `http://127.0.0.1:40123`."""
        host = self._sock.getsockname()[0]
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, then end within the grace.

        End the streams first (`ServerState.close`), or they use the grace up. When cancelled, all
        connections are cut at once.
        """
        server = _Server(self._config(), self._grace_s, stop, self.is_ready)
        try:
            await server.serve(sockets=[self._sock])
        finally:
            server.cut()
            self._sock.close()

    def _config(self) -> uvicorn.Config:
        return uvicorn.Config(
            self._app,
            http=joining(_protocol()),
            ws="none",
            lifespan="off",
            log_config=None,  # the program's logging is set up by its main, not by a library
            log_level="warning",
            access_log=self._access_log,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            backlog=BACKLOG,
        )


def _protocol() -> type[asyncio.Protocol]:
    if importlib.util.find_spec("httptools") is None:
        from uvicorn.protocols.http.h11_impl import H11Protocol

        return H11Protocol
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    return HttpToolsProtocol


class _Server(uvicorn.Server):
    """uvicorn without signal handlers and without its ten wake-ups a second."""

    def __init__(
        self,
        config: uvicorn.Config,
        grace_s: float,
        stop: asyncio.Event,
        is_ready: asyncio.Event,
    ) -> None:
        super().__init__(config)
        self._grace_s = grace_s
        self._stop = stop
        self._is_ready = is_ready

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self._is_ready.set()
        await self._stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            async with asyncio.timeout(self._grace_s):
                await super().shutdown(sockets)
        except TimeoutError:
            _log.warning("http.cut_connections", count=len(self.server_state.connections))

    def cut(self) -> None:
        """Close what is still open, without waiting; again is harmless."""
        for server in getattr(self, "servers", ()):
            server.close()
        for task in self.server_state.tasks:
            task.cancel()
        for connection in list(self.server_state.connections):
            transport: Any = connection.transport
            if transport is not None:
                transport.abort()
