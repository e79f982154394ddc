"""One route as data, one call as an object, and the ASGI application of one path.

A `Route` holds all that is known of an endpoint; the application and the OpenAPI document are both
made from it, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from groupx_server.http.auth import Credential
from groupx_server.http.body import read_model
from groupx_server.http.boundary import CREDENTIAL_KEY
from groupx_server.http.issues import Issue, nul_issues, refuse
from groupx_server.http.ports import Rooms
from groupx_server.http.queries import QueryModel, parse_query
from groupx_server.http.reply import Reply
from groupx_server.http.sideport import SideTalk
from groupx_server.http.state import ServerState
from groupx_server.rooms.broadcast import Hub
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.base import RequestModel, WireModel
from groupx_shared.wire.replies import ReloadReply

Q = TypeVar("Q", bound=QueryModel)
B = TypeVar("B", bound=RequestModel | None)
Method = Literal["GET", "POST", "PATCH"]

MAX_ID_CHARS: Final = 256


@dataclass(frozen=True, slots=True)
class Services:
    """What handlers work with."""

    rooms: Rooms
    hub: Hub
    state: ServerState
    request_stop: Callable[[], None]
    """Asks the composition root to stop the server; returns at once."""
    reload: Callable[[str], Awaitable[ReloadReply]]
    """Takes the changed config over; the text is the client's command id."""
    assistant: SideTalk
    """The person's side conversation with the room assistant."""
    document: Callable[[], bytes]
    """The OpenAPI document as JSON."""


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, B]):
    """One request, read and checked."""

    services: Services
    scope: Scope
    path: Mapping[str, str]
    """Path parameters by their wire name."""
    query: Q
    body: B

    @property
    def rooms(self) -> Rooms:
        return self.services.rooms

    @property
    def credential(self) -> Credential:
        """The caller's; only on routes that need a token."""
        credential: Credential = self.scope[CREDENTIAL_KEY]
        return credential


@dataclass(frozen=True, slots=True)
class Route(Generic[Q, B]):
    """One endpoint."""

    method: Method
    path: str
    """With `{wireName}` for parameters."""
    handler: Callable[[Call[Q, B]], Awaitable[Reply]]
    query: type[Q]
    body: type[B]
    """Model of the JSON body; NoneType: it takes none."""
    reply: type[WireModel] | None
    """Model of the JSON reply; None: see `content_types`."""
    summary: str
    errors: Sequence[ErrorCode] = ()
    """Codes of its own refusals, besides those every endpoint can give."""
    status: int = 200
    content_types: Sequence[str] = ("application/json",)
    is_public: bool = False
    """Needs no token."""


AnyRoute = Route[Any, Any]


class PathEndpoint:
    """The ASGI application of one path: finds the method, reads the inputs, runs the handler."""

    def __init__(self, routes: Sequence[AnyRoute], services: Services) -> None:
        self._by_method = {route.method: route for route in routes}
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._by_method.get(scope["method"])
        if route is None:
            raise self._wrong_method(scope["method"])
        path = _path_parameters(scope)
        query = parse_query(scope["query_string"], route.query)
        body = None
        if issubclass(route.body, BaseModel):
            body = await read_model(scope, receive, route.body)
        reply = await route.handler(Call(self._services, scope, path, query, body))
        await reply(scope, receive, send)

    def _wrong_method(self, method: str) -> RefusedError:
        allowed = sorted(self._by_method)
        return RefusedError(
            f"{method} is not possible here; use {' or '.join(allowed)}.",
            code=ErrorCode.METHOD_NOT_ALLOWED,
            details={"allow": allowed},
        )


def _path_parameters(scope: Scope) -> dict[str, str]:
    parameters: dict[str, str] = scope["path_params"]
    for name, value in parameters.items():
        issues = nul_issues(value, name)
        if len(value) > MAX_ID_CHARS:
            issues.append(Issue(name, "too_long", f"At most {MAX_ID_CHARS} characters."))
        if issues:
            raise refuse("The path", issues)
    return parameters
