"""Gets one message accepted, exactly once.

The message carries an id of its own (`clientCommandId`); the server answers the same id with the
same result. So a lost connection is simply tried again, and at the end there is certainty, or the
person is told how to get it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from groupx_shared.errors import ServerUnreachableError
from groupx_tui.cli.api import RETRIED, Api, ServerRefusedError
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.wire_http import ConnectionLostError

TRY_AGAIN_S: Final = 15.0
"""A restart of the server takes a few seconds."""
PAUSE_S: Final = 0.25


def accept(
    api: Api,
    message: dict[str, Any],
    clock: Clock,
    post: Callable[[], dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Post `message` and return the server's `MessageAccepted`. `post`: how, when it is no message
    of a room.

    Raises: ServerRefusedError; ServerUnreachableError when it was certainly not accepted;
    CommandError (exit code 5) when nobody knows.
    """
    try:
        return _accepted(api, message, Deadline(clock, TRY_AGAIN_S), post)
    except KeyboardInterrupt:
        raise _unknown(message, "Interrupted.") from None


def _accepted(
    api: Api,
    message: dict[str, Any],
    deadline: Deadline,
    post: Callable[[], dict[str, Any]] | None,
) -> dict[str, Any]:
    may_have_arrived = False
    while True:
        try:
            return api.send(message) if post is None else post()
        except ServerRefusedError as error:
            if error.code not in RETRIED or deadline.is_over:
                raise
        except ServerUnreachableError as error:
            may_have_arrived = may_have_arrived or isinstance(error, ConnectionLostError)
            if deadline.is_over:
                raise _unknown(message, error.message) if may_have_arrived else error from error
        deadline.pause(PAUSE_S)
        _look_again(api)


def _look_again(api: Api) -> None:
    try:
        api.rediscover()
    except ServerUnreachableError:
        return  # the next try meets it, and the deadline ends the tries


def _unknown(message: dict[str, Any], why: str) -> CommandError:
    return CommandError(
        f"{why} Nobody knows whether the message was accepted. Send it again with "
        f"--id {message['clientCommandId']}: then it is accepted at most once.",
        ExitCode.UNCERTAIN,
    )
