"""What each tool takes: one strict model for each, and the refusal that names what is wrong.

Nothing here says who calls, in which room or for which turn: that follows from the token, and a
key that claims it is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import Field, StringConstraints, ValidationError, model_validator

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.meanings import with_meanings
from groupx_shared.names import nearest
from groupx_shared.text import safe_line
from groupx_shared.wire.base import RequestModel
from groupx_shared.wire.memory import AgentMemoryType, IdentityKind, MemoryKind, WritableKind
from groupx_shared.wire.requests import (
    FORBIDDEN_SENDER_FIELDS,
    MAX_BRIEF_CHARS,
    MAX_OBSERVERS,
    MAX_PAGE,
    MAX_TARGETS,
)

MAX_TIMEOUT_MS: Final = 60_000
MAX_WATCH_MS: Final = 3_600_000
DEFAULT_HITS: Final = 20
MAX_HITS: Final = 50
MAX_ISSUES: Final = 20
MAX_SEQ: Final = 2**53 - 1
"""The largest whole number that every reader of JSON keeps; some programs refuse a schema with a
larger one, and with it the whole turn."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=256)]
CommandId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"\S")]
Targets = Annotated[list[Id], Field(min_length=1, max_length=MAX_TARGETS)]
Timeout = Annotated[int, Field(ge=0, le=MAX_TIMEOUT_MS)]
Observers = Annotated[list[Id], Field(min_length=1, max_length=MAX_OBSERVERS)]
Brief = Annotated[str, StringConstraints(max_length=MAX_BRIEF_CHARS)]
Seq = Annotated[int, Field(ge=0, le=MAX_SEQ)]
Offset = Annotated[int, Field(ge=0, le=MAX_SEQ)]
Hits = Annotated[int, Field(ge=1, le=MAX_HITS)]
Query = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"\S")]
RecordText = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


class PublishArguments(RequestModel):
    """A message that wakes nobody."""

    content: str
    """What you say, for everybody in the room; up to 131,072 characters."""
    client_command_id: CommandId
    """A short id of your own for this message, like "1"; another one for each message of this
    turn. Repeat it only to repeat the very same call."""
    reply_to_event_id: Id | None = None
    """The event that this answers; default: the message that woke you."""


class SendArguments(PublishArguments):
    """A message that wakes its targets."""

    to: Targets
    """The agents to wake, like "codex" or "agent:codex"; `roster` lists them."""
    observers: Observers | None = None
    """Other agents that watch those in `to` while they work on this, and may advise or stop
    them."""
    brief: Brief | None = None
    """For the observers: what to look out for."""


class AskArguments(SendArguments):
    """A message whose answers are waited for."""

    timeout_ms: Timeout | None = None
    """How long to wait, in milliseconds, at most 60000; default: as long as possible."""
    cancel_on_timeout: bool = False
    """Cancel the turns that have not ended by then. Normally leave it out: they go on, and you
    collect their answers later."""


class WatchArguments(RequestModel):
    """Looking at a turn that the caller watches."""

    subject_turn_id: Id | None = None
    """Which of the turns that you watch; default: the one that works."""
    cursor: Id | None = None
    """Only to see again what came after an earlier look: its `cursor`; default: where your last
    look ended."""
    until: Literal["next_milestone", "terminal"] = "next_milestone"
    """next_milestone: until its next step; terminal: until it has ended."""
    timeout_ms: Annotated[int, Field(ge=0, le=MAX_WATCH_MS)] | None = None
    """How long to wait, in milliseconds; one call never waits longer than 55 s. 0 only looks."""


class SteerArguments(RequestModel):
    """Steering a turn that the caller watches."""

    action: Literal["nudge", "interrupt"]
    """nudge: advise it while it works on; interrupt: stop its turn, your message is its next
    one."""
    reason: Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"\S")]
    """Why, in a sentence for the people in the room."""
    content: str
    """What you say to the agent; up to 131,072 characters."""
    client_command_id: CommandId
    """A short id of your own for this steer; repeat it only to repeat the very same call."""
    subject_turn_id: Id | None = None
    """Which of the turns that you watch; default: the one that works."""


class CollectArguments(RequestModel):
    """Waiting again."""

    message_event_id: Id
    """The messageEventId that `ask` or `send` gave you."""
    timeout_ms: Timeout | None = None
    """As in `ask`; 0 only looks."""


class ReadArguments(RequestModel):
    """Events of a root, or one text."""

    correlation_id: Id | None = None
    """Which root; default: the one you work on. Not together with eventId."""
    after_seq: Seq = 0
    """Events after this seq, oldest first; `nextAfterSeq` of the page before."""
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 100
    """How many events at most."""
    event_id: Id | None = None
    """Instead of a page: the whole text of this event, part by part."""
    offset: Offset = 0
    """Only with eventId: where to go on; `nextOffset` of the part before."""

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if self.event_id is not None and self.correlation_id is not None:
            raise ValueError("give correlationId or eventId, not both")
        return self


class TurnStatusArguments(RequestModel):
    """A turn."""

    turn_id: Id | None = None
    """Which one; default: your own."""


class RosterArguments(RequestModel):
    """Nothing."""


class SearchArguments(RequestModel):
    """Words to look for."""

    query: Query
    """What to look for, in any words; "in quotes" must stand so, -word must not be there, begin*
    means words that begin so."""
    cursor: Id | None = None
    """`nextCursor` of the search before, with the same query."""
    limit: Hits = DEFAULT_HITS
    """How many messages at most."""


class MemorySearchArguments(RequestModel):
    """What is remembered."""

    query: Query | None = None
    """What to look for, in any words; without it, all, newest first."""
    scope: Literal["room", "agent"] | None = None
    """room: what is kept for everybody here; agent: your own; default: all that you may see."""
    agent_memory_type: AgentMemoryType | None = None
    """Of your own: core (what you kept) or dated (what a day held)."""
    kind: MemoryKind | None = None
    """Only of this kind."""
    subject_actor_id: Id | None = None
    """Only what is about this agent or person, like "agent:codex" or "user:web"."""
    cursor: Id | None = None
    """`nextCursor` of the call before, with the same arguments."""
    limit: Hits = DEFAULT_HITS
    """How many records at most."""
    include_history: bool = False
    """Also what was corrected or taken back; not together with query."""
    memory_id: Id | None = None
    """Instead of a search: this record alone, from offset on."""
    offset: Offset = 0
    """Only with memoryId: where to go on; `nextOffset` of the part before."""

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if self.query is not None and self.include_history:
            raise ValueError("give query or includeHistory, not both")
        return self


class CoreMemoryArguments(RequestModel):
    """Something for an agent's own memory."""

    client_command_id: CommandId
    """A short id of your own for this record; repeat it only to repeat the very same call."""
    kind: WritableKind
    """What it is."""
    content: RecordText
    """What is to be kept, in words that can be understood without this conversation."""
    source_event_id: Id | None = None
    """The event of this room that says so."""


class MemoryArguments(CoreMemoryArguments):
    """Something for the room's memory."""

    subject_actor_id: Id | None = None
    """Whom it is about, like "agent:codex" or "user:web"."""


class IdentityReadArguments(RequestModel):
    """Who the caller is here."""

    cursor: Id | None = None
    """`nextCursor` of the call before."""
    limit: Hits = DEFAULT_HITS
    """How many records at most."""
    include_history: bool = False
    """Also what was corrected or taken back."""
    identity_id: Id | None = None
    """Instead of a page: this record alone, from offset on."""
    offset: Offset = 0
    """Only with identityId: where to go on; `nextOffset` of the part before."""


class IdentityArguments(RequestModel):
    """Something about the caller."""

    client_command_id: CommandId
    """A short id of your own for this record; repeat it only to repeat the very same call."""
    kind: IdentityKind
    """What it is."""
    content: RecordText
    """What you say about yourself, for all your later turns."""
    source_event_id: Id | None = None
    """The event of this room that says so."""


A = TypeVar("A", bound=RequestModel)


def read_arguments(model: type[A], given: Mapping[str, Any]) -> A:
    """Check a call's arguments.

    Raises: RefusedError (SENDER_FIELD_FORBIDDEN; INVALID_ENVELOPE with `details.issues`).
    """
    known = {field.alias or name for name, field in model.model_fields.items()}
    if forbidden := sorted(FORBIDDEN_SENDER_FIELDS & given.keys() - known):
        raise RefusedError(
            f"Leave out {', '.join(forbidden)}: who you are follows from your session.",
            code=ErrorCode.SENDER_FIELD_FORBIDDEN,
            details={"forbiddenFields": forbidden},
        )
    try:
        return model.model_validate(given)
    except ValidationError as error:
        issues = [_issue(model, found) for found in error.errors(include_url=False)[:MAX_ISSUES]]
        told = " ".join(f"{issue['path']}: {issue['message']}" for issue in issues[:3])
        raise RefusedError(
            f"The arguments do not fit. {told}", details={"issues": issues}
        ) from error


def _issue(model: type[RequestModel], found: Any) -> dict[str, str]:
    path = ".".join(safe_line(str(part), 80) for part in found["loc"])
    message = safe_line(str(found["msg"]), 200)
    if found["type"] == "extra_forbidden":
        known = [field.alias or name for name, field in model.model_fields.items()]
        near = nearest(path, known)
        message = f"There is no such argument{f'; did you mean {near}' if near else ''}."
    return {"path": path, "code": str(found["type"]), "message": message}


def schema_of(model: type[RequestModel]) -> dict[str, Any]:
    """The JSON schema of a tool's input: flat, without titles and nulls, which some models' APIs
    do not take."""
    schema = with_meanings(model.model_json_schema(by_alias=True), model)
    properties = {name: _plain(field) for name, field in schema.get("properties", {}).items()}
    flat = {"type": "object", "properties": properties, "additionalProperties": False}
    return flat | ({"required": schema["required"]} if schema.get("required") else {})


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    kept = {key: value for key, value in field.items() if key not in ("title", "anyOf")}
    if kept.get("default", 0) is None:
        del kept["default"]
    if "description" in kept:
        kept["description"] = " ".join(kept["description"].split())
    return {**(choices[0] if choices else {}), **kept}
