"""The outermost two layers of the application: who may come in, and what an error looks like.

Pure ASGI: nothing is buffered, so streams pass through with the client's pace. `Guard` refuses
strangers before anything is routed; `Boundary` puts the security headers on every reply and turns
every error into one. It is the only place of this layer that catches what it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groupx_server.http.auth import Credentials, authenticate
from groupx_server.http.body import ClientGoneError
from groupx_server.http.errors import STATUS, error_reply, internal_reply
from groupx_server.http.origin import check_origin
from groupx_server.http.reply import Header, JsonReply
from groupx_server.http.state import ServerState
from groupx_server.logs import get_logger
from groupx_shared.errors import ErrorCode, GroupXError, RefusedError
from groupx_shared.ids import new_id

CREDENTIAL_KEY: Final = "groupx.credential"
"""Key of the caller's `Credential` in the ASGI scope."""

SECURITY_HEADERS: Final[tuple[Header, ...]] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Guard:
    """Host and Origin for everything; token for everything but `public_paths` and `mounted_paths`,
    which check a token of their own; nothing but the public ones while the server closes."""

    app: ASGIApp
    state: ServerState
    credentials: Credentials
    public_paths: frozenset[str]
    mounted_paths: frozenset[str] = frozenset()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        check_origin(scope, self.state.port)
        path = scope["path"]
        if path not in self.public_paths:
            if path not in self.mounted_paths:
                scope[CREDENTIAL_KEY] = authenticate(scope, self.credentials)
            self._refuse_when_closing()
        await self.app(scope, receive, send)

    def _refuse_when_closing(self) -> None:
        if self.state.readiness == "closing":
            raise RefusedError(
                "The server is stopping. What was accepted is on disk; connect again once it runs.",
                code=ErrorCode.SHUTTING_DOWN,
            )


@dataclass(frozen=True, slots=True)
class Boundary:
    """Errors become replies; every reply gets the security headers."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _refuse_other(scope, receive, send)
            return
        is_started = False

        async def send_safely(message: Message) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started = True
                message = {**message, "headers": [*message["headers"], *SECURITY_HEADERS]}
            await send(message)

        try:
            await self.app(scope, receive, send_safely)
        except ClientGoneError:
            return
        except GroupXError as error:
            reply = _reply_to(error)
        except Exception:  # noqa: BLE001 - the boundary: logged, answered, not raised
            reply = _logged()
        else:
            return
        if not is_started:  # else the connection breaks off, which the client notices
            await reply(scope, receive, send_safely)


def _reply_to(error: GroupXError) -> JsonReply:
    return _logged() if STATUS[error.code] == 500 else error_reply(error)


def _logged() -> JsonReply:
    """Log the exception that is being handled; the reply carries only the entry's id."""
    error_id = new_id("err")
    _log.exception("http.internal_error", error_id=error_id)
    return internal_reply(error_id)


async def _refuse_other(scope: Scope, receive: Receive, send: Send) -> None:
    """Web sockets are not spoken here; the lifespan belongs to the composition root."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    elif scope["type"] == "lifespan":
        while (message := await receive())["type"] != "lifespan.shutdown":
            await send({"type": f"{message['type']}.complete"})
        await send({"type": "lifespan.shutdown.complete"})
