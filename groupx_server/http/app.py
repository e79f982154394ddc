"""The ASGI application: wiring only. The route table says what there is; `serve` runs it."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson
from starlette.types import ASGIApp

from groupx_server.http.auth import Credentials
from groupx_server.http.boundary import Boundary, Guard
from groupx_server.http.endpoint import AnyRoute, PathEndpoint, Services
from groupx_server.http.openapi import build_document
from groupx_server.http.paths import Paths
from groupx_server.http.ports import Rooms
from groupx_server.http.sideport import NoAssistant, SideTalk
from groupx_server.http.state import ServerState
from groupx_server.http.table import ROUTES
from groupx_server.rooms.broadcast import Hub
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import ReloadReply


async def _no_reload(client_command_id: str) -> ReloadReply:
    raise RefusedError(
        "This server has no config file that it could read again.", code=ErrorCode.CONFIG_INVALID
    )


@dataclass(frozen=True, slots=True)
class Extras:
    """What a server may do without."""

    reload: Callable[[str], Awaitable[ReloadReply]] = _no_reload
    assistant: SideTalk = field(default_factory=NoAssistant)


def build_app(
    rooms: Rooms,
    credentials: Credentials,
    hub: Hub,
    state: ServerState,
    *,
    request_stop: Callable[[], None],
    extras: Extras | None = None,
    routes: Sequence[AnyRoute] = ROUTES,
    mounted: Mapping[str, ASGIApp] | None = None,
) -> Boundary:
    """Wire the application. `mounted` are applications by path that check a token of their own;
    Host and Origin are checked here for them too.

    The caller starts `hub.run()` in its TaskGroup, sets `state.readiness`, and at the end calls
    `state.close()` and `hub.close()`. `request_stop` is called after a shutdown request was
    answered; it must return at once.
    """
    document = functools.cache(lambda: orjson.dumps(build_document(routes)))
    more = extras or Extras()
    services = Services(rooms, hub, state, request_stop, more.reload, more.assistant, document)
    public = frozenset(route.path for route in routes if route.is_public)
    others = mounted or {}
    paths = Paths({**_endpoints(routes, services), **others})
    guard = Guard(paths, state, credentials, public, frozenset(others))
    return Boundary(guard)


def _endpoints(routes: Sequence[AnyRoute], services: Services) -> dict[str, ASGIApp]:
    """One application for each path, so that a wrong method knows all the right ones."""
    by_path: dict[str, list[AnyRoute]] = {}
    for route in routes:
        by_path.setdefault(route.path, []).append(route)
    return {path: PathEndpoint(same, services) for path, same in by_path.items()}
