"""Posting own messages: shown at once, tried again safely, refused visibly.

The invariant: one command id for all tries of one message, so the server takes it once, and a
message whose fate is not known says so; it is never posted again under another id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from groupx_shared.errors import ErrorCode, GroupXError, RefusedError, ServerUnreachableError
from groupx_shared.ids import new_id
from groupx_shared.wire.replies import MessageAccepted
from groupx_shared.wire.requests import SendMessage, Supervision
from groupx_tui.client.backoff import Backoff
from groupx_tui.client.events import Sleep
from groupx_tui.client.http import ServerClient
from groupx_tui.client.refusals import REACHED, never_arrived, request_of
from groupx_tui.client.viewstore import ViewStore
from groupx_tui.state.pending import add_pending, confirm_pending, refuse_pending

_HALF_CHARACTERS: Final = re.compile("[\ud800-\udfff]")
"""A paste of broken bytes may hold them; they cannot be written as JSON."""
MAX_TRIES: Final = 5
"""With the pauses between them about four seconds: a server restart is over by then."""
UNKNOWN_FATE: Final = (
    "The server did not answer, so it is not known whether this arrived. Look for it in the room "
    "before you send it again."
)


def utc_now() -> str:
    """Return the time as the server writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def watch_of(observers: Sequence[str], brief: str) -> Supervision | None:
    """Return the order to watch; None when nobody shall."""
    if not observers:
        return None
    return request_of(Supervision, observers=list(observers), brief=brief or None)


class Outbox:
    """Posts messages and keeps the store's view in step."""

    def __init__(
        self,
        store: ViewStore,
        client: ServerClient,
        sleep: Sleep,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self._store = store
        self._client = client
        self._sleep = sleep
        self._now = now

    async def send(
        self,
        text: str,
        to: Sequence[str],
        reply_to_event_id: str | None,
        watch: Supervision | None = None,
        forwarded_event_id: str | None = None,
    ) -> MessageAccepted:
        """Post to the shown room. Raises: RefusedError, ServerUnreachableError, GroupXError."""
        _refuse_too_large(text, self._store.view.max_message_chars)
        command = new_id("cmd")
        message = request_of(
            SendMessage,
            client_command_id=command,
            room_id=self._store.view.room_id,
            to=list(to),
            content=_HALF_CHARACTERS.sub("\ufffd", text),
            reply_to_event_id=reply_to_event_id,
            forwarded_event_id=forwarded_event_id,
            supervision=watch,
        )
        shown = add_pending(
            self._store.view,
            command,
            text,
            to,
            at=self._now(),
            reply_to_event_id=reply_to_event_id,
        )
        self._store.set(shown)
        try:
            accepted = await self._post(message)
        except GroupXError as error:
            is_lost = isinstance(error, ServerUnreachableError) and not never_arrived(error)
            reason = UNKNOWN_FATE if is_lost else error.message
            self._store.set(refuse_pending(self._store.view, command, reason))
            raise
        self._store.set(confirm_pending(self._store.view, command, accepted))
        return accepted

    async def _post(self, message: SendMessage) -> MessageAccepted:
        backoff, may_be_there = Backoff(), False
        for tries_left in reversed(range(MAX_TRIES)):
            try:
                return await self._client.send_message(message)
            except GroupXError as error:
                may_be_there = may_be_there or not never_arrived(error)
                if not _may_pass(error) or not tries_left:
                    error.details[REACHED] = may_be_there
                    raise
                await self._sleep(backoff.next_pause())
        raise AssertionError("the last try returns or raises")


def _may_pass(error: GroupXError) -> bool:
    """Whether the server may be back in a moment: it is gone, or about to go."""
    is_gone = isinstance(error, ServerUnreachableError)
    return is_gone or error.code == ErrorCode.SHUTTING_DOWN


def _refuse_too_large(text: str, max_chars: int) -> None:
    if len(text) > max_chars:
        raise RefusedError(
            f"The message has {len(text):,} characters; at most {max_chars:,} can be sent. "
            "Shorten it, or put the rest into a file and name that.",
            code=ErrorCode.MESSAGE_TOO_LARGE,
        )
