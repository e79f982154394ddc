"""Schemathesis against the running server: what the OpenAPI document promises is what happens.

An independent reader of the document makes up requests, good and bad, for every operation, and
judges the replies: no 500, only documented statuses, content types and shapes, and bad data
refused.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, settings

from groupx_server.http.openapi import build_document
from groupx_server.http.serve import HttpServer, bind_loopback
from groupx_server.http.table import ROUTES
from support.http_app import TOKEN, http_app

EXAMPLES = 8
"""For each operation; the whole module takes a few seconds."""

REFUSED = ["400", "401", "404", "405", "413", "415"]
CONFIG = schemathesis.Config.from_dict(
    {
        "generation": {"allow-x00": False, "deterministic": True},  # NUL: a schema cannot forbid it
        "checks": {"negative_data_rejection": {"expected-statuses": REFUSED}},
    }
)
SCHEMA = (
    schemathesis.openapi.from_dict(build_document(ROUTES), config=CONFIG)
    .exclude(path="/api/events")  # never ends; test_stream has it
    .exclude(path="/api/assistant/events")
    .exclude(path="/api/export")  # streams text, which has no schema
)
DIRECTIONS = {"before", "after", "around"}


@SCHEMA.auth()
class OperatorToken:
    """Puts the token on every request, except where schemathesis tries it without."""

    def get(self, case: Any, context: Any) -> str:
        return TOKEN

    def set(self, case: Any, data: str, context: Any) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


class RunningServer:
    """A server in a thread of its own, because the tests of schemathesis are not async."""

    def __init__(self) -> None:
        self.url = ""
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    async def _run(self) -> None:
        sock = bind_loopback()
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with http_app(port=sock.getsockname()[1]) as parts, asyncio.TaskGroup() as group:
            parts.ledger.commit(20)
            server = HttpServer(parts.app, sock)
            self.url = server.url
            group.create_task(server.run(self._stop))
            await server.is_ready.wait()
            self._is_ready.set()
            await self._stop.wait()
            parts.state.close()

    def start(self) -> None:
        self._thread.start()
        assert self._is_ready.wait(10)

    def stop(self) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    server = RunningServer()
    server.start()
    yield server.url
    server.stop()


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_replies_are_as_the_document_says(case: Any, server_url: str) -> None:
    assume(len(DIRECTIONS & set(case.query or {})) <= 1)  # at most one; a schema cannot say so
    case.call_and_validate(base_url=server_url)
