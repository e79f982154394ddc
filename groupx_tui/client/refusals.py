"""What went wrong with a request, as our errors: one place for both clients of HTTP here.

The invariant: every sentence is cleaned, names what happened, and says what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from groupx_shared.errors import ErrorCode, GroupXError, RefusedError, ServerUnreachableError
from groupx_shared.text import safe_line
from groupx_shared.wire.base import RequestModel
from groupx_shared.wire.replies import ErrorInfo, ErrorReply

if TYPE_CHECKING:
    import httpx

Request = TypeVar("Request", bound=RequestModel)

MAX_SENTENCE_CHARS: Final = 1_000
REACHED: Final = "reached"
"""In the details of an unreachable server: False when the request cannot have arrived."""

TOKEN_SENTENCE: Final = (
    "The server at {url} does not accept this client's token: it is not the server that wrote the "
    "runtime file, or it was started again meanwhile. Run “groupx restart”."
)


def refusal_of(status: int, content: bytes, url: str) -> GroupXError:
    """Return the error that an answer with `status` (not 2xx) stands for: RefusedError when the
    server understood and refused, GroupXError when it failed, ServerUnreachableError when what
    answers is not our server."""
    if status == 401:
        return RefusedError(TOKEN_SENTENCE.format(url=url), code=ErrorCode.UNAUTHORIZED)
    try:
        info = ErrorReply.model_validate_json(content).error
    except ValidationError:
        return not_ours(url, f"status {status} without a GroupX error in it")
    kind = RefusedError if status < 500 or status == 503 else GroupXError
    return _named(info, kind)


def _named(info: ErrorInfo, kind: type[GroupXError]) -> GroupXError:
    details: dict[str, Any] = dict(info.details or {})
    try:
        code = ErrorCode(info.code)
    except ValueError:
        code, details["serverCode"] = kind.default_code, safe_line(info.code)
    return kind(safe_line(info.message, MAX_SENTENCE_CHARS), code=code, details=details)


def request_of(model: type[Request], **fields: Any) -> Request:
    """Build a request body. Raises: RefusedError saying which field does not fit, as the server
    would."""
    try:
        return model(**fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RefusedError(f"{where} cannot be sent: {first['msg']}.") from error


def not_ours(url: str, found: str) -> ServerUnreachableError:
    """Return the error for an answer that our server would never give."""
    return ServerUnreachableError(
        f"What answers at {url} is not the GroupX server of this version: {found}. "
        "Run “groupx restart”; if another program has that port, “groupx doctor” tells which."
    )


def unreachable(url: str, cause: str, *, reached: bool = True) -> ServerUnreachableError:
    """Return the error for a connection that could not be made (not `reached`) or broke."""
    return ServerUnreachableError(
        f"The GroupX server at {url} does not answer ({cause}). "
        "Look with “groupx status” and “groupx logs”; start it with “groupx serve”.",
        details={REACHED: reached},
    )


def never_arrived(error: GroupXError) -> bool:
    """Whether it is certain that the request reached no server, or was refused by it."""
    return isinstance(error, RefusedError) or error.details.get(REACHED) is False


def was_reached(error: httpx.TransportError) -> bool:
    """Whether there was a connection before the request broke."""
    import httpx

    return not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def cause_of(error: httpx.TransportError) -> str:
    """Say in a few words what broke a request."""
    import httpx

    match error:
        case httpx.ConnectError():
            return "nothing listens there"
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return "no connection in time"
        case httpx.TimeoutException():
            return "no answer in time"
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return "the connection broke"
        case _:
            return safe_line(str(error)) or type(error).__name__
