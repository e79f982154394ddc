"""One HTTP/1.1 request over a fresh loopback connection, blocking.

Small on purpose: the hot commands start faster without an HTTP library, and with the core of
`socket` alone (its Python half loads `selectors` and more for nothing here). A reply whose end is
not seen is never taken for whole (RFC 9112 §8). The counterpart for the full-screen client is
`client.http`.
"""

from __future__ import annotations

import _socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from errno import ECONNREFUSED
from types import TracebackType
from typing import Final, NamedTuple, Self

from groupx_shared.errors import ServerUnreachableError

CONNECT_S: Final = 2.0
"""Loopback connects at once or not at all; this much only under heavy load."""
MAX_LINE: Final = 65_536
MAX_HEADERS: Final = 100
PIECE: Final = 65_536
MAX_REPLY: Final = 64 * 1024 * 1024
"""Largest reply read into memory; pages are bounded by the server, export is streamed."""
UNRESERVED: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

Patience = Callable[[], float]
"""How long to wait for the next bytes, in seconds, asked before each wait."""


class ConnectionLostError(ServerUnreachableError):
    """The request went out, but the reply did not come whole: nobody knows what the server did."""


class SilentError(ConnectionLostError):
    """No byte came for as long as anybody was willing to wait."""


class Request(NamedTuple):
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


def _quoted(text: str, also: str) -> str:
    """Percent-encode all but unreserved characters (RFC 3986 §2.3) and those of `also`."""
    plain = f"{UNRESERVED}{also}".encode()
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in text.encode())


def path_of(*parts: str, query: Mapping[str, object] | None = None) -> str:
    """Return `/a/b?c=d` with everything quoted; a query value of None is left out, one of a tuple
    is repeated."""
    path = "/" + "/".join(_quoted(part, ":") for part in parts)
    pairs = [
        f"{name}={_quoted(str(each), ':,')}"
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


def _connected(url: str, host: str) -> _socket.socket:
    name, _, port = host.rpartition(":")
    try:
        family, kind, protocol, _, address = _socket.getaddrinfo(
            name.strip("[]"), int(port), 0, _socket.SOCK_STREAM
        )[0]
        connection = _socket.socket(family, kind, protocol)
    except (OSError, ValueError, OverflowError) as error:
        raise ServerUnreachableError(f"No server answers at {url}: {error}.") from error
    try:
        connection.settimeout(CONNECT_S)
        connection.connect(address)
        if connection.getsockname() == connection.getpeername():
            # TCP lets a socket meet itself (RFC 9293 §3.5) when the system chooses, as the near
            # port, the very port that nobody listens on any more.
            raise ConnectionRefusedError(ECONNREFUSED, "Connection refused")
    except OSError as error:
        connection.close()
        raise ServerUnreachableError(f"No server answers at {url}: {error}.") from error
    return connection


class Reply:
    """A reply being read; a context manager that closes the connection."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""

    def __init__(self, connection: _socket.socket, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience
        self._unread = b""

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
        while b"\n" not in self._unread:
            if len(self._unread) > MAX_LINE:
                raise ValueError("a line is too long")
            more = self._receive()
            if not more:
                raise EOFError
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode("latin-1").rstrip("\r")

    def _some(self, size: int) -> bytes:
        """At most `size` bytes, as soon as there are any; empty at the end of the connection."""
        piece = self._unread or self._receive()
        self._unread = piece[size:]
        return piece[:size]

    def _receive(self) -> bytes:
        seconds = self._patience()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        return self._connection.recv(PIECE)


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
