"""One HTTP/1.1 request over a fresh loopback connection, blocking, standard library sockets only.

Small on purpose: the hot commands start faster without an HTTP library. A reply whose end is not
seen is never taken for whole (RFC 9112 §8). The counterpart for the full-screen client is
`client.http`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Final, Self
from urllib.parse import quote

from groupx_shared.errors import ServerUnreachableError

CONNECT_S: Final = 2.0
"""Loopback connects at once or not at all; this much only under heavy load."""
MAX_LINE: Final = 65_536
MAX_HEADERS: Final = 100
PIECE: Final = 65_536
MAX_REPLY: Final = 64 * 1024 * 1024
"""Largest reply read into memory; pages are bounded by the server, export is streamed."""

Patience = Callable[[], float]
"""How long to wait for the next bytes, in seconds, asked before each wait."""


class ConnectionLostError(ServerUnreachableError):
    """The request went out, but the reply did not come whole: nobody knows what the server did."""


class SilentError(ConnectionLostError):
    """No byte came for as long as anybody was willing to wait."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `path` is already quoted, see `path_of`."""

    method: str
    path: str
    token: str | None = None
    body: bytes | None = None

    def encode(self, host: str) -> bytes:
        """Return the bytes that go out."""
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}", "Connection: close"]
        if self.token is not None:
            lines.append(f"Authorization: Bearer {self.token}")
        if self.body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + (self.body or b"")


def path_of(*parts: str, query: Mapping[str, object] | None = None) -> str:
    """Return `/a/b?c=d` with everything quoted; a query value of None is left out, one of a tuple
    is repeated."""
    path = "/" + "/".join(quote(part, safe=":") for part in parts)
    pairs = [
        f"{name}={quote(str(each), safe=':,')}"
        for name, value in (query or {}).items()
        if value is not None
        for each in (value if isinstance(value, tuple) else (value,))
    ]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


def open_reply(url: str, request: Request, patience: Patience) -> Reply:
    """Send `request` to the server at `url` and return its reply, headers read, body to come.

    Raises: ServerUnreachableError when nothing was sent, ConnectionLostError after that.
    """
    host = url.removeprefix("http://").rstrip("/")
    connection = _connected(url, host)
    reply = Reply(connection, patience)
    try:
        reply.begin(request.encode(host))
    except BaseException:
        reply.close()
        raise
    return reply


def _connected(url: str, host: str) -> socket.socket:
    name, _, port = host.rpartition(":")
    try:
        connection = socket.create_connection((name.strip("[]"), int(port)), CONNECT_S)
    except (OSError, ValueError, OverflowError) as error:
        raise ServerUnreachableError(f"No server answers at {url}: {error}.") from error
    if connection.getsockname() == connection.getpeername():
        # TCP lets a socket meet itself (RFC 9293 §3.5) when the system chooses, as the near port,
        # the very port that nobody listens on any more.
        connection.close()
        raise ServerUnreachableError(f"No server answers at {url}.")
    return connection


class Reply:
    """A reply being read; a context manager that closes the connection."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""

    def __init__(self, connection: socket.socket, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience
        self._file: BinaryIO = connection.makefile("rb")

    def begin(self, request: bytes) -> None:
        """Send the request and read the head of the reply. Raises: ConnectionLostError."""
        with _losses_are_said():
            self._connection.settimeout(CONNECT_S + self._patience())
            self._connection.sendall(request)
            self.status, self.headers = self._head()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what was not read is gone."""
        self._file.close()
        self._connection.close()

    def read(self) -> bytes:
        """Return the whole body. Raises: ConnectionLostError."""
        parts: list[bytes] = []
        size = 0
        for piece in self.pieces():
            parts.append(piece)
            size += len(piece)
            if size > MAX_REPLY:
                raise ConnectionLostError(f"The server's reply is larger than {MAX_REPLY} bytes.")
        return b"".join(parts)

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it arrives; ends only at its true end. Raises: ConnectionLostError."""
        with _losses_are_said():
            if "chunked" in self.headers.get("transfer-encoding", "").lower():
                yield from self._chunks()
            elif "content-length" in self.headers:
                yield from self._exactly(int(self.headers["content-length"]))
            else:
                while piece := self._some(PIECE):
                    yield piece

    def _head(self) -> tuple[int, dict[str, str]]:
        while True:
            version, _, rest = self._line().partition(" ")
            if not version.startswith("HTTP/1."):
                raise ConnectionLostError("What answers there does not speak HTTP.")
            headers = self._headers()
            status = int(rest[:3])
            if status >= 200:
                return status, headers

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(MAX_HEADERS):
            line = self._line()
            if not line:
                return headers
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        raise ValueError("too many headers")

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._line().partition(";")[0], 16):
            yield from self._exactly(size)
            self._line()
        self._headers()

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size > 0:
            piece = self._some(min(size, PIECE))
            if not piece:
                raise EOFError
            size -= len(piece)
            yield piece

    def _line(self) -> str:
        self._arm()
        line = self._file.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            raise EOFError
        return line.decode("latin-1").rstrip("\r\n")

    def _some(self, size: int) -> bytes:
        self._arm()
        return self._file.read1(size)  # type: ignore[attr-defined,no-any-return]

    def _arm(self) -> None:
        seconds = self._patience()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)


@contextmanager
def _losses_are_said() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise SilentError("The server has been silent for too long.") from error
    except EOFError as error:
        raise ConnectionLostError("The server closed the connection too early.") from error
    except (OSError, ValueError) as error:
        raise ConnectionLostError(f"The connection to the server broke: {error}.") from error
