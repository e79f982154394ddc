"""Everything that the assistant does: once, for a request, with an event in the room.

The act, its event, its line in the side conversation and its receipt are one transaction. What
writes an event by the assistant itself (a message, a record, a room) is its own evidence; for the
rest an `operator.acted` is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from groupx_server.domain.command import canonical_hash
from groupx_server.ledger.accept import Source
from groupx_server.ledger.commands import find_receipt, once
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.originals import assistants_event, newest_seq
from groupx_server.ledger.sidetalk import insert_act, read_side
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import BINDING_OPERATOR, INSTANCE_OPERATOR, USER_ASSISTANT, new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.assistant import AssistantAct, SideMessage
from groupx_shared.wire.bodies import OperatorActedBody
from groupx_shared.wire.events import EventType

OPERATOR: Final = Source(BINDING_OPERATOR, USER_ASSISTANT, INSTANCE_OPERATOR, "operator")
"""The author of all that the assistant writes."""
SUMMARY_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class Act:
    """What is to be done; `content` is what makes it this act and no other."""

    tool: str
    command_id: str
    content: Mapping[str, Any]
    room_id: str | None = None
    """None: the room that the request is about."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a change gives back: the result for the model, one line for people, and what it was
    done to."""

    summary: str
    result: Mapping[str, Any] = field(default_factory=dict)
    subject: str | None = None


Change = Callable[[sqlite3.Connection, str], Done]
"""Takes the connection and the present time."""


class Requests(Protocol):
    """The side conversation, as far as acts need it."""

    @property
    def running_request(self) -> SideMessage | None: ...

    def acted(self, request: SideMessage) -> None: ...


class Acts:
    """Does things for the request that is being answered."""

    def __init__(self, runtime: Runtime, requests: Requests) -> None:
        self.runtime = runtime
        self._requests = requests

    def require_request(self) -> SideMessage:
        """The request being answered.

        Raises: RefusedError (MCP_BINDING_MISMATCH) when none is.
        """
        request = self._requests.running_request
        if request is None:
            raise RefusedError(
                "No request of the person is being answered, so nothing is done. End here.",
                code=ErrorCode.MCP_BINDING_MISMATCH,
            )
        return request

    async def perform(self, act: Act, change: Change) -> Mapping[str, Any]:
        """Do it, or return the first result of the same act.

        Raises: RefusedError (CLIENT_COMMAND_CONFLICT, and what `change` refuses).
        """
        request = self.require_request()
        step = partial(_perform, request=request, act=act, change=change, now=self._now())
        result = await self.runtime.ledger.write(step)
        query = partial(read_side, message_id=request.message_id)
        self._requests.acted(await self.runtime.ledger.read(query))
        return result

    async def done_before(self, act: Act) -> Mapping[str, Any] | None:
        """The result of this very act when it was done already.

        Raises: RefusedError (CLIENT_COMMAND_CONFLICT).
        """
        request = self.require_request()

        def query(connection: sqlite3.Connection) -> Mapping[str, Any] | None:
            digest = canonical_hash(_type(act), act.content)
            command_id = _command_id(request, act)
            return find_receipt(connection, BINDING_OPERATOR, command_id, _type(act), digest)

        return await self.runtime.ledger.read(query)

    def _now(self) -> str:
        return self.runtime.clock.now()


def _perform(
    connection: sqlite3.Connection, request: SideMessage, act: Act, change: Change, now: str
) -> Mapping[str, Any]:
    def do() -> dict[str, Any]:
        before = newest_seq(connection)
        done = change(connection, now)
        event = assistants_event(connection, before) or _say(connection, request, act, done, now)
        _keep(connection, request, act, done, event, now)
        return dict(done.result)

    return once(
        connection,
        _command_id(request, act),
        _type(act),
        act.content,
        do,
        now,
        binding_id=BINDING_OPERATOR,
    )


def _command_id(request: SideMessage, act: Act) -> str:
    return f"{request.message_id}/{act.command_id}"


def _type(act: Act) -> str:
    return f"operator.{act.tool}"


def _say(
    connection: sqlite3.Connection, request: SideMessage, act: Act, done: Done, now: str
) -> tuple[str, str]:
    room_id = act.room_id or request.room_id or "room:main"
    body = OperatorActedBody(
        tool=act.tool, summary=safe_line(done.summary, SUMMARY_CHARS), subject=done.subject
    )
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=room_id,
        type=EventType.OPERATOR_ACTED,
        actor_id=USER_ASSISTANT,
        instance_id=INSTANCE_OPERATOR,
        correlation_id=new_id("corr"),
        occurred_at=now,
        body=body.model_dump(by_alias=True, exclude_none=True),
        provenance={"sourceKind": "operator", "authorActorId": USER_ASSISTANT},
    )
    insert_event(connection, event)
    return event.event_id, room_id


def _keep(
    connection: sqlite3.Connection,
    request: SideMessage,
    act: Act,
    done: Done,
    event: tuple[str, str],
    now: str,
) -> None:
    told = AssistantAct(
        act_id=new_id("act"),
        tool=act.tool,
        summary=safe_line(done.summary, SUMMARY_CHARS),
        room_id=event[1],
        event_id=event[0],
        occurred_at=now,
    )
    insert_act(connection, request.message_id, told)
