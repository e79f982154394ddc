"""A server that answers each connection with bytes as they are given, for tests of HTTP clients."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

WAIT_S = 5.0


class ByteServer:
    """Answers one connection with `pieces`, one write each. `received` is what was asked.
    `hangs`: keeps the connection open afterwards."""

    def __init__(self, *pieces: bytes, hangs: bool = False) -> None:
        self.received = b""
        self._pieces: Sequence[bytes] = pieces
        self._hangs = hangs
        self._done = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._listener.close()
        self._thread.join(WAIT_S)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # the client may go away at any time
            self._listener.settimeout(WAIT_S)
            connection, _ = self._listener.accept()
            with connection:
                self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        connection.settimeout(WAIT_S)
        while b"\r\n\r\n" not in self.received:
            self.received += connection.recv(65_536)
        for piece in self._pieces:
            connection.sendall(piece)
        if self._hangs:
            self._done.wait(WAIT_S)
        connection.shutdown(socket.SHUT_WR)
        self._done.wait(WAIT_S)
