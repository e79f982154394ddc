"""What the HTTP layer needs from the rest of the server, as one Protocol.

The use cases of rooms/ implement `Rooms`. Every refusal is a `RefusedError` with its code; trouble
with the database is a `LedgerError`. Replies that come straight from stored rows are `bytes` with
their JSON ready, so that no event is parsed and encoded again on its way out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from groupx_server.ledger.accept import Source
from groupx_server.ledger.recordsearch import Asked
from groupx_server.ledger.search import Filters
from groupx_server.rooms.again import Again
from groupx_server.rooms.rows import DurableFrameSource, EventRows
from groupx_shared.wire.context import (
    CompactContext,
    CompactionReply,
    ContextPreview,
    DayList,
    ResetContext,
    ResetReply,
    SummaryReply,
)
from groupx_shared.wire.forgetting import PurgeList, RedactContent, RedactReply
from groupx_shared.wire.memory import (
    IdentityList,
    IdentityReply,
    MemoryList,
    MemoryReply,
    PinMemory,
    RememberIdentity,
    RememberMemory,
    SupersedeIdentity,
    SupersedeMemory,
)
from groupx_shared.wire.replies import (
    AdviceReply,
    AgentList,
    CancelReply,
    ContextUsage,
    MessageAccepted,
    RestartReply,
    RoomList,
    RoomReply,
    RootContinued,
    TextReply,
    TurnInfo,
    TurnList,
    UsageReply,
)
from groupx_shared.wire.requests import ChangeRoom, CommandRequest, CreateRoom, SendMessage
from groupx_shared.wire.roots import RootCancelled, RootList, RootReply
from groupx_shared.wire.search import SearchIndexReply, SearchReply

__all__ = ["DurableFrameSource", "EventRows", "Rooms", "Source"]


class RoomCommands(Protocol):
    """What changes something. Each returns once the change is on disk."""

    async def send(self, request: SendMessage, source: Source) -> MessageAccepted: ...

    async def cancel_turn(self, turn_id: str, client_command_id: str) -> CancelReply: ...

    async def advise_turn(
        self, turn_id: str, client_command_id: str, content: str, source: Source
    ) -> AdviceReply:
        """Returns once it is known what became of it."""
        ...

    async def take_up_again(
        self, turn_id: str, client_command_id: str, how: Again, source: Source
    ) -> MessageAccepted:
        """`how`: retry or continue."""
        ...

    async def continue_root(
        self, correlation_id: str, client_command_id: str, source: Source
    ) -> RootContinued:
        """Let agents go on that a limit has stopped."""
        ...

    async def restart_agent(self, actor_id: str, client_command_id: str) -> RestartReply: ...

    async def create_room(self, request: CreateRoom) -> RoomReply: ...

    async def change_room(self, room_id: str, request: ChangeRoom) -> RoomReply: ...


class EventQueries(Protocol):
    """Reading events. Events are always ascending by seq."""

    async def bootstrap(self, room_id: str, limit: int) -> bytes:
        """A `BootstrapReply` as JSON."""
        ...

    async def page(
        self,
        room_id: str,
        before: int | None,
        after: int | None,
        around: int | None,
        limit: int,
        types: Sequence[str],
    ) -> EventRows:
        """The events before, after or around a seq, else the newest; `types` empty: all."""
        ...

    async def event(self, event_id: str) -> bytes:
        """One envelope as JSON."""
        ...

    async def event_text(self, event_id: str) -> TextReply: ...

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]: ...

    async def export_rows(
        self, room_id: str | None, after_seq: int, limit: int
    ) -> list[tuple[int, bytes]]:
        """At most `limit` envelopes after `after_seq`, each with its seq."""
        ...


class StateQueries(Protocol):
    """Reading what is the case now."""

    async def turns(
        self,
        room_id: str | None,
        status: str,
        actor_id: str | None,
        before: int | None,
        limit: int,
    ) -> TurnList:
        """`status`: open, ended or all; newest first."""
        ...

    async def turn(self, turn_id: str) -> TurnInfo: ...

    async def agents(self) -> AgentList: ...

    async def rooms(self) -> RoomList: ...

    async def usage(
        self,
        room_id: str | None,
        correlation_id: str | None,
        actor_id: str | None,
        by: str = "agent",
        limit: int = 100,
    ) -> UsageReply: ...


class MemoryCases(Protocol):
    """Memory and identity records."""

    async def list_memory(
        self, filters: Mapping[str, str], include_history: bool, cursor: str | None, limit: int
    ) -> MemoryList: ...

    async def search_memory(self, asked: Asked) -> MemoryList: ...

    async def search_identity(self, asked: Asked) -> IdentityList: ...

    async def read_memory(self, memory_id: str) -> MemoryReply: ...

    async def memory_history(self, memory_id: str) -> MemoryList: ...

    async def remember(self, request: RememberMemory, source: Source) -> MemoryReply: ...

    async def supersede(
        self, memory_id: str, request: SupersedeMemory, source: Source
    ) -> MemoryReply: ...

    async def retract(
        self, memory_id: str, request: CommandRequest, source: Source
    ) -> MemoryReply: ...

    async def pin(self, memory_id: str, request: PinMemory, source: Source) -> MemoryReply: ...

    async def list_identity(
        self, filters: Mapping[str, str], include_history: bool, cursor: str | None, limit: int
    ) -> IdentityList: ...

    async def read_identity(self, identity_id: str) -> IdentityReply: ...

    async def identity_history(self, identity_id: str) -> IdentityList: ...

    async def remember_identity(
        self, request: RememberIdentity, source: Source
    ) -> IdentityReply: ...

    async def supersede_identity(
        self, identity_id: str, request: SupersedeIdentity, source: Source
    ) -> IdentityReply: ...

    async def retract_identity(
        self, identity_id: str, request: CommandRequest, source: Source
    ) -> IdentityReply: ...


class RootCases(Protocol):
    """What messages led to."""

    async def list(
        self, room_id: str | None, status: str, before: int | None, limit: int
    ) -> RootList:
        """`status`: open or all; newest first."""
        ...

    async def show(self, correlation_id: str) -> RootReply: ...

    async def cancel(self, correlation_id: str, client_command_id: str) -> RootCancelled: ...


class SearchCases(Protocol):
    """Search over messages, memory and identity."""

    async def find(
        self, text: str, filters: Filters, cursor: str | None, limit: int
    ) -> SearchReply: ...

    async def rebuild(self, client_command_id: str) -> SearchIndexReply: ...


class ContextCases(Protocol):
    """What agents are told of a room."""

    async def usage(self, room_id: str) -> ContextUsage: ...

    async def preview(
        self,
        room_id: str,
        agent: str,
        session: Literal["new", "continued"] | None,
        text: str,
        reply_to: str | None = None,
    ) -> ContextPreview: ...

    async def summary(self, room_id: str) -> SummaryReply: ...

    async def days(self, room_id: str | None, actor_id: str | None, limit: int) -> DayList: ...

    async def compact(self, room_id: str, request: CompactContext) -> CompactionReply: ...

    async def reset(self, room_id: str, request: ResetContext) -> ResetReply: ...


class ForgettingCases(Protocol):
    """Removing texts for good."""

    async def redact(
        self,
        kind: Literal["event", "memory", "identity", "side"],
        ref_id: str,
        request: RedactContent,
        source: Source,
    ) -> RedactReply: ...

    def purges(self) -> PurgeList:
        """Those that run and the last that ended."""
        ...


class Rooms(RoomCommands, EventQueries, StateQueries, Protocol):
    """All use cases, as the routes see them."""

    @property
    def memories(self) -> MemoryCases: ...

    @property
    def contexts(self) -> ContextCases: ...

    @property
    def roots(self) -> RootCases: ...

    @property
    def forgetting(self) -> ForgettingCases: ...

    @property
    def searching(self) -> SearchCases: ...
