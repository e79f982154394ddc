"""What each of the room assistant's tools takes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from groupx_server.mcp.arguments import MAX_SEQ, CommandId, Id, Targets, Timeout
from groupx_shared.wire.base import RequestModel
from groupx_shared.wire.memory import IdentityKind, WritableKind
from groupx_shared.wire.requests import MAX_BRIEF_CHARS, MAX_OBSERVERS

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Limit = Annotated[int, Field(ge=1, le=100)]


class Nothing(RequestModel):
    """Nothing."""


class Command(RequestModel):
    """An act; done once."""

    client_command_id: CommandId
    """A short id of your own, like "1"; another one for each act of this request. Repeat it only
    to repeat the very same call."""


class RoomMessage(Command):
    """A message in a room."""

    content: Text
    """What you say."""
    to: Annotated[list[Id], Field(max_length=32)] = Field(default_factory=list)
    """The agents to wake, like "codex"; empty: nobody."""
    room_id: Id | None = None
    """The room; default: the one that the person looks at."""
    reply_to_event_id: Id | None = None
    """The event that this answers."""


class Task(Command):
    """A task for agents."""

    content: Text
    """The whole task; the agents see the room, but not this conversation."""
    to: Targets
    """The agents to wake; `roster` lists them."""
    room_id: Id | None = None
    """The room; default: the one that the person looks at."""
    reply_to_event_id: Id | None = None
    """The event that this answers."""
    observers: Annotated[list[Id], Field(max_length=MAX_OBSERVERS)] = Field(default_factory=list)
    """Agents that watch those in `to`, and may advise or stop them; usually nobody."""
    brief: Annotated[str, StringConstraints(max_length=MAX_BRIEF_CHARS)] | None = None
    """Only with observers: what they shall look out for."""


class WaitedTask(Task):
    """A task whose answers are waited for."""

    timeout_ms: Timeout | None = None
    """How long to wait, in milliseconds, at most 60000; default: as long as possible."""


class Collected(RequestModel):
    """Waiting again."""

    message_event_id: Id
    """The messageEventId that `send`, `worker_dispatch` or `worker_ask` gave you."""
    timeout_ms: Timeout | None = None
    """As in `worker_ask`; 0 only looks."""


class GivenEvent(Command):
    """A message that is there already, for other agents."""

    event_id: Id
    """The message; its author stays."""
    to: Targets
    """The agents to wake for it."""


class OneTurn(Command):
    """A turn."""

    turn_id: Id
    """Which one."""


class SomeTurns(Command):
    """Open turns."""

    to: Annotated[list[Id], Field(max_length=32)] = Field(default_factory=list)
    """Only those of these agents; empty: all."""


class TurnAgain(OneTurn):
    """An ended turn."""

    how: Literal["retry", "continue"] = "retry"
    """retry: its message once more; continue: go on where it stopped."""


class OneRoot(Command):
    """A root."""

    correlation_id: Id
    """The correlationId of the message that began it."""


class OneAgent(Command):
    """An agent."""

    agent: Id
    """Like "codex"."""


class NewRoom(Command):
    """A room to make."""

    title: Text
    """What people see."""
    room_id: Id | None = None
    """Its id; default: made from the title."""


class ChangedRoom(Command):
    """A room to change."""

    room_id: Id
    """Which one."""
    title: Text | None = None
    """Its new title."""
    archived: bool | None = None
    """true puts it away, false brings it back."""


class CompactedRoom(Command):
    """A room to sum up."""

    room_id: Id | None = None
    """Which one; default: the one that the person looks at."""


class ResetRoom(CompactedRoom):
    """A room whose agents begin anew."""

    native_sessions: bool = False
    """true: their programs' own sessions are left behind too."""


class Remembered(Command):
    """Something to keep."""

    content: Text
    """One thing, in a sentence that stands alone."""
    kind: WritableKind = "fact"
    """What it is."""
    room_id: Id | None = None
    """The room whose memory it is; default: the one that the person looks at."""


class AgentRemembered(Command):
    """Something that an agent shall always know."""

    agent: Id
    """Like "codex"."""
    content: Text
    """One thing, in a sentence that stands alone."""
    kind: WritableKind = "fact"
    """What it is."""


class CorrectedMemory(Command):
    """A corrected record."""

    memory_id: Id
    """The record that it takes the place of."""
    content: Text
    """What is true instead."""
    kind: WritableKind | None = None
    """Another kind."""


class OneMemory(Command):
    """A record."""

    memory_id: Id
    """Which one."""


class PinnedMemory(OneMemory):
    """A record to pin."""

    pinned: bool = True
    """true: it goes with every turn."""


class Described(Command):
    """Who an agent is."""

    agent: Id
    """Like "codex"."""
    content: Text
    """One thing about it."""
    kind: IdentityKind = "note"
    """What it is."""


class CorrectedIdentity(Command):
    """A corrected identity record."""

    identity_id: Id
    """The record that it takes the place of."""
    content: Text
    """What is true instead."""
    kind: IdentityKind | None = None
    """Another kind."""


class OneIdentity(Command):
    """An identity record."""

    identity_id: Id
    """Which one."""


class SavedAgent(Command):
    """An agent of the config."""

    agent: Id
    """Its id; a new one is added, a known one changed."""
    settings: dict[str, Any]
    """Settings by name, like {"driver": "acp", "command": "my-agent --acp", "name": "Ada",
    "enabled": true}; null takes the default, what is not named stays."""


class ReadRoom(RequestModel):
    """Events, or one text."""

    room_id: Id | None = None
    """The room; default: the one that the person looks at."""
    correlation_id: Id | None = None
    """Only what belongs to this root."""
    before_seq: Annotated[int, Field(ge=1, le=MAX_SEQ)] | None = None
    """Only older events; `nextBeforeSeq` of the page before."""
    limit: Limit = 20
    """How many events at most."""
    event_id: Id | None = None
    """Instead of a page: the whole text of this event, part by part."""
    offset: Annotated[int, Field(ge=0, le=MAX_SEQ)] = 0
    """Only with eventId: where to go on."""


class LookedUpTurn(RequestModel):
    """A turn."""

    turn_id: Id
    """Which one."""


class LookedUpRoots(RequestModel):
    """Roots."""

    correlation_id: Id | None = None
    """One root with its turns; default: the newest roots."""
    room_id: Id | None = None
    """Only roots of this room."""


class LookedUpPairs(RequestModel):
    """Observers and workers."""

    pair_id: Id | None = None
    """This pair; default: the newest ones."""
    correlation_id: Id | None = None
    """Only pairs of this root."""


class Searched(RequestModel):
    """Words to look for."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"\S")]
    """Words, "phrases", +must, -not."""
    room_id: Id | None = None
    """Only in this room; default: everywhere."""
    cursor: Id | None = None
    """The last result's `nextCursor`."""


class Costs(RequestModel):
    """Which turns' cost."""

    room_id: Id | None = None
    """Only of this room."""
    correlation_id: Id | None = None
    """Only of this root."""
    agent: Id | None = None
    """Only of this agent."""


class OneRoom(RequestModel):
    """A room."""

    room_id: Id | None = None
    """Which one; default: the one that the person looks at."""


class ListedMemory(RequestModel):
    """Records, newest first."""

    room_id: Id | None = None
    """Only the memory of this room."""
    agent: Id | None = None
    """Only the memory of this agent."""
    include_history: bool = False
    """Corrected and retracted ones too."""
    cursor: Id | None = None
    """The last result's `nextCursor`."""
    limit: Limit = 20
    """How many at most."""


class ListedIdentity(RequestModel):
    """Identity records, newest first."""

    agent: Id | None = None
    """Only what is said of this agent."""
    cursor: Id | None = None
    """The last result's `nextCursor`."""
    limit: Limit = 20
    """How many at most."""
