"""Query parameters: one strict model for each endpoint, and the parser that fills it.

An unknown, doubled or malformed parameter is refused by name; nothing is guessed.
"""

from __future__ import annotations

import functools
import re
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar, cast
from urllib.parse import parse_qsl

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from groupx_server.http.issues import Issue, issues_of, nul_issues, refuse, unknown_keys
from groupx_shared.ids import MAIN_ROOM
from groupx_shared.wire.assistant import MAX_SIDE_PAGE
from groupx_shared.wire.memory import Perspective, RecordStatus
from groupx_shared.wire.requests import DEFAULT_PAGE, MAX_PAGE
from groupx_shared.wire.roots import MAX_ROOTS

WHERE: Final = "The query"
MAX_PARAMETERS: Final = 64
MAX_QUERY_CHARS: Final = 1_000
"""Of a search: a paragraph."""
MAX_SEQ: Final = 2**63 - 1
"""SQLite's largest integer."""
_DIGITS: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


def _whole_number(text: object) -> object:
    """Digits only: int() would also take signs, spaces, underscores and other scripts' digits."""
    if not isinstance(text, str):
        return text
    if _DIGITS.fullmatch(text) is None:
        raise ValueError("expected a whole number of decimal digits")
    return int(text)


Seq = Annotated[int, Field(ge=0, le=MAX_SEQ), BeforeValidator(_whole_number)]
Limit = Annotated[int, Field(ge=1, le=MAX_PAGE), BeforeValidator(_whole_number)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=256)]
TypeName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class QueryModel(BaseModel):
    """Base of all queries: camelCase names, unknown ones refused."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        extra="forbid",
        defer_build=True,
    )
    REPEATABLE: ClassVar[frozenset[str]] = frozenset()
    """Parameters that may be there several times."""


class NoQuery(QueryModel):
    """An endpoint without parameters."""


class BootstrapQuery(QueryModel):
    room_id: Id = MAIN_ROOM
    """The room to show."""
    limit: Limit = DEFAULT_PAGE
    """How many of its newest events."""


class PageQuery(QueryModel):
    REPEATABLE = frozenset({"type"})

    before: Seq | None = None
    """Events with a smaller seq, nearest first to go; at most one of before, after, around."""
    after: Seq | None = None
    """Events with a greater seq."""
    around: Seq | None = None
    """Events on both sides of a seq."""
    limit: Limit = DEFAULT_PAGE
    type: Annotated[tuple[TypeName, ...], Field(max_length=32)] = ()
    """Only events of these types; may be repeated."""

    @model_validator(mode="after")
    def _one_direction(self) -> Self:
        given = [n for n in ("before", "after", "around") if getattr(self, n) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of before, after, around; found {' and '.join(given)}")
        return self


class FollowQuery(QueryModel):
    after_seq: Seq | None = None
    """Start after this seq; absent (and no Last-Event-ID): at the present end."""
    room_id: Id | None = None
    """Only this room's events; absent: all rooms."""


class TurnsQuery(QueryModel):
    room_id: Id | None = None
    """Turns of this room; absent: of all."""
    status: Literal["open", "ended", "all"] = "open"
    actor_id: Id | None = None
    """Turns of this agent; absent: of all."""
    before: Seq | None = None
    """`nextBefore` of the page before."""
    limit: Limit = DEFAULT_PAGE


class UsageQuery(QueryModel):
    room_id: Id | None = None
    """Turns of this room; turns must fit all that is given, and nothing given means all turns."""
    correlation_id: Id | None = None
    """Turns that one message led to: its correlationId."""
    actor_id: Id | None = None
    """Turns of this agent."""
    by: Literal["agent", "room", "root"] = "agent"
    """What `groups` adds up by."""
    limit: Annotated[int, Field(ge=1, le=MAX_ROOTS), BeforeValidator(_whole_number)] = 100
    """How many groups at most, those with most tokens first."""


class ContextQuery(QueryModel):
    room_id: Id = MAIN_ROOM
    """The room to measure."""


class DaysQuery(QueryModel):
    room_id: Id | None = None
    """Days in this room; absent: in all rooms."""
    actor_id: Id | None = None
    """Days of this agent; absent: of all agents."""
    limit: Annotated[int, Field(ge=1, le=MAX_ROOTS), BeforeValidator(_whole_number)] = 100
    """How many, the newest first."""


class PreviewQuery(QueryModel):
    agent: Id
    """Whose packet: `codex` or `agent:codex`."""
    session: Literal["new", "continued"] | None = None
    """As if its native session was new, or went on; absent: as it is."""
    text: Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARS)] = ""
    """The message that is not sent yet: it decides which memory is relevant."""
    reply_to: Id | None = None
    """The event that it answers: the chain of replies goes with it."""


class ExportQuery(QueryModel):
    room_id: Id | None = None
    """Export this room; absent: all rooms."""
    format: Literal["jsonl", "md"] = "jsonl"
    """`jsonl`: every durable event, one a line; `md`: a transcript to read."""


Q = TypeVar("Q", bound=QueryModel)


class MemoryQuery(QueryModel):
    scope_type: Literal["room", "agent", "correlation"] | None = None
    """Whose memory: a room's, an agent's own, one root's."""
    scope_id: Id | None = None
    """The room, actor or correlation."""
    agent_memory_type: Literal["core", "dated"] | None = None
    """Of an agent's memory."""
    kind: Id | None = None
    """Only records of this kind."""
    author_actor_id: Id | None = None
    """Only records by this actor."""
    subject_actor_id: Id | None = None
    """Only records about this actor."""
    source_event_id: Id | None = None
    """Only records that name this event as their source."""
    status: RecordStatus | None = None
    """Only records in this state; absent: active ones."""
    pinned: Literal["true", "false"] | None = None
    """Only records that are pinned, or are not."""
    words: Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARS)] = ""
    """Only records that these words find, the best first, of those that count now; any text."""
    include_history: Literal["true", "false"] = "false"
    """`true`: superseded and retracted ones too."""
    cursor: Id | None = None
    """The last page's `nextCursor`."""
    limit: Limit = DEFAULT_PAGE

    def filters(self) -> dict[str, str]:
        """The filters that were given."""
        return _given(self)


class IdentityQuery(QueryModel):
    subject_actor_id: Id | None = None
    """Only records about this actor."""
    author_actor_id: Id | None = None
    """Only records by this actor."""
    kind: Id | None = None
    """Only records of this kind."""
    status: RecordStatus | None = None
    """Only records in this state; absent: active ones."""
    perspective: Perspective | None = None
    """Only what agents say of themselves (self), what people say, or what other agents say."""
    words: Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARS)] = ""
    """Only records that these words find, the best first, of those that count now; any text."""
    include_history: Literal["true", "false"] = "false"
    """`true`: superseded and retracted ones too."""
    cursor: Id | None = None
    """The last page's `nextCursor`."""
    limit: Limit = DEFAULT_PAGE

    def filters(self) -> dict[str, str]:
        """The filters that were given."""
        return _given(self)


def _given(query: QueryModel) -> dict[str, str]:
    paging = {"include_history", "cursor", "limit", "words"}
    return query.model_dump(exclude=paging, exclude_none=True)


class SearchQuery(QueryModel):
    q: Annotated[str, StringConstraints(max_length=MAX_QUERY_CHARS)] = ""
    """What to look for; any text. Nothing finds nothing."""
    room_id: Id | None = None
    """Only in this room; absent: everywhere."""
    kind: Literal["message", "memory", "identity"] | None = None
    """Only messages, memory or identity."""
    actor_id: Id | None = None
    """Only what this actor said or wrote, and records about it."""
    type: TypeName | None = None
    """Only events of this type, or records of this kind."""
    root: Id | None = None
    """Only messages with this correlation id."""
    since: Id | None = None
    """From this day or time on."""
    until: Id | None = None
    """Up to this day or time."""
    cursor: Id | None = None
    """The last page's `nextCursor`."""
    limit: Limit = 20


class RootsQuery(QueryModel):
    room_id: Id | None = None
    """Only roots of this room; absent: all rooms."""
    status: Literal["open", "all"] = "all"
    """open: only roots with a turn that waits or runs."""
    before: Seq | None = None
    """The `nextBefore` of the page before."""
    limit: Annotated[int, Field(ge=1, le=MAX_ROOTS), BeforeValidator(_whole_number)] = 20


class SidePageQuery(QueryModel):
    before: Id | None = None
    """Messages before this one; the `nextBefore` of the page before."""
    limit: Annotated[int, Field(ge=1, le=MAX_SIDE_PAGE), BeforeValidator(_whole_number)] = 50


class SideFollowQuery(QueryModel):
    request_id: Id | None = None
    """Only this request, until it has ended; absent: the whole conversation."""


def parse_query(raw: bytes, model: type[Q]) -> Q:
    """Parse a raw query string. Raises: RefusedError (INVALID_ENVELOPE) naming the parameter."""
    if not raw and not _is_needed(model):
        return cast("Q", _defaults(model))
    pairs = _pairs(raw) if raw else []
    issues = unknown_keys("parameter", (name for name, _ in pairs), model)
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in model.REPEATABLE:
            values.setdefault(name, []).append(value)
        elif name in values:
            issues.append(Issue(name, "duplicate_parameter", "It is there twice; give it once."))
        else:
            values[name] = value
    if issues := issues + nul_issues(values):
        raise refuse(WHERE, issues)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise refuse(WHERE, issues_of(error)) from error


@functools.cache
def _is_needed(model: type[QueryModel]) -> bool:
    """Whether there is a parameter that must be given."""
    return any(field.is_required() for field in model.model_fields.values())


@functools.cache
def _defaults(model: type[QueryModel]) -> QueryModel:
    """The query without parameters; models are frozen, so all calls can share it."""
    return model.model_validate({})


def _pairs(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        message = "Expected name=value pairs, percent-encoded UTF-8, joined by &."
        raise refuse(WHERE, [Issue("", "malformed", message)]) from error
