"""`ServerClient`: one async method for each endpoint, typed by the wire models.

All methods raise `RefusedError` (with the server's code, sentence and details),
`ServerUnreachableError` (no answer, or not from our server) or `GroupXError` (the server failed).
The other half is `groupx_server.http`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Literal, TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from groupx_shared.ids import MAIN_ROOM, new_id
from groupx_shared.wire.base import RequestModel, WireModel
from groupx_shared.wire.events import Event
from groupx_shared.wire.forgetting import PurgeList
from groupx_shared.wire.replies import (
    AdviceReply,
    AgentList,
    BootstrapReply,
    CancelReply,
    ContextUsage,
    EventPage,
    HealthReply,
    MessageAccepted,
    RestartReply,
    RoomInfo,
    RoomList,
    RoomReply,
    RootContinued,
    ShutdownReply,
    TextReply,
    TurnInfo,
    TurnList,
)
from groupx_shared.wire.requests import (
    DEFAULT_PAGE,
    AdviseTurn,
    ChangeRoom,
    CommandRequest,
    CreateRoom,
    SendMessage,
    ShutdownRequest,
)
from groupx_shared.wire.roots import RootCancelled
from groupx_shared.wire.search import SearchKind, SearchReply
from groupx_shared.workspace import Workspace
from groupx_tui.client.endpoint import Endpoint
from groupx_tui.client.refusals import not_ours, request_of
from groupx_tui.client.transport import REPLY_TIMEOUT_S, Query, Transport

Reply = TypeVar("Reply", bound=WireModel)
ADVICE_S: Final = 40.0
"""The server waits 30 s for an agent to say whether it took what was said."""


class ServerClient:
    """The endpoints of the server that `endpoint` names. Close it with `aclose`."""

    def __init__(self, endpoint: Endpoint, reply_timeout_s: float = REPLY_TIMEOUT_S) -> None:
        self.endpoint = endpoint
        self.transport = Transport(endpoint, reply_timeout_s)

    @classmethod
    def of_workspace(cls, workspace: Workspace) -> ServerClient:
        """Return the client of the workspace's server, wherever it is."""
        return cls(Endpoint.of_workspace(workspace))

    async def aclose(self) -> None:
        """Close all connections."""
        await self.transport.aclose()

    async def health(self) -> HealthReply:
        """`GET /api/health`."""
        return await self.get(HealthReply, "/api/health")

    async def bootstrap(
        self, room_id: str = MAIN_ROOM, limit: int = DEFAULT_PAGE
    ) -> BootstrapReply:
        """`GET /api/bootstrap`: a room at its end, with its newest `limit` events."""
        query: Query = {"roomId": room_id, "limit": limit}
        return await self.get(BootstrapReply, "/api/bootstrap", query)

    async def rooms(self) -> RoomList:
        """`GET /api/rooms`."""
        return await self.get(RoomList, "/api/rooms")

    async def create_room(
        self, title: str, *, room_id: str | None = None, client_command_id: str | None = None
    ) -> RoomInfo:
        """`POST /api/rooms`."""
        command = client_command_id or new_id("cmd")
        body = request_of(CreateRoom, client_command_id=command, title=title, room_id=room_id)
        return (await self.post(RoomReply, "/api/rooms", body)).room

    async def change_room(
        self,
        room_id: str,
        *,
        title: str | None = None,
        archived: bool | None = None,
        client_command_id: str | None = None,
    ) -> RoomInfo:
        """`PATCH /api/rooms/{roomId}`."""
        command = client_command_id or new_id("cmd")
        body = request_of(ChangeRoom, client_command_id=command, title=title, archived=archived)
        path = f"/api/rooms/{segment(room_id)}"
        return (await self.post(RoomReply, path, body, method="PATCH")).room

    async def send_message(self, message: SendMessage) -> MessageAccepted:
        """`POST /api/messages`: the answer means that it is on disk."""
        return await self.post(MessageAccepted, "/api/messages", message)

    async def events(
        self,
        room_id: str,
        *,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        limit: int = DEFAULT_PAGE,
        types: Sequence[str] = (),
    ) -> EventPage:
        """`GET /api/rooms/{roomId}/events`: at most one of `before`, `after`, `around` (seqs);
        none of them: the newest. `after=0`: the oldest."""
        query: Query = {
            "before": before,
            "after": after,
            "around": around,
            "limit": limit,
            "type": list(types) or None,
        }
        return await self.get(EventPage, f"/api/rooms/{segment(room_id)}/events", query)

    async def event(self, event_id: str) -> Event:
        """`GET /api/events/{eventId}`."""
        return await self.get(Event, f"/api/events/{segment(event_id)}")

    async def event_text(self, event_id: str) -> TextReply:
        """`GET /api/events/{eventId}/text`: the whole text of an event that holds a cut one."""
        return await self.get(TextReply, f"/api/events/{segment(event_id)}/text")

    async def turns(
        self,
        *,
        room_id: str | None = None,
        status: Literal["open", "ended", "all"] = "open",
        actor_id: str | None = None,
        before: int | None = None,
        limit: int = DEFAULT_PAGE,
    ) -> TurnList:
        """`GET /api/turns`, newest first; `before` is `next_before` of the page before."""
        query = {
            "roomId": room_id,
            "status": status,
            "actorId": actor_id,
            "before": before,
            "limit": limit,
        }
        return await self.get(TurnList, "/api/turns", query)

    async def turn(self, turn_id: str) -> TurnInfo:
        """`GET /api/turns/{turnId}`."""
        return await self.get(TurnInfo, f"/api/turns/{segment(turn_id)}")

    async def cancel_turn(self, turn_id: str, client_command_id: str | None = None) -> CancelReply:
        """`POST /api/turns/{turnId}/cancel`."""
        path = f"/api/turns/{segment(turn_id)}/cancel"
        return await self.post(CancelReply, path, _command(client_command_id))

    async def advise_turn(
        self, turn_id: str, content: str, client_command_id: str | None = None
    ) -> AdviceReply:
        """`POST /api/turns/{turnId}/advise`: into the turn while it runs, else as the next one."""
        path = f"/api/turns/{segment(turn_id)}/advise"
        command_id = client_command_id or new_id("cmd")
        body = request_of(AdviseTurn, client_command_id=command_id, content=content)
        return await self.post(AdviceReply, path, body, silence_s=ADVICE_S)

    async def retry_turn(
        self, turn_id: str, client_command_id: str | None = None
    ) -> MessageAccepted:
        """`POST /api/turns/{turnId}/retry`: the same message once more, as a new turn."""
        path = f"/api/turns/{segment(turn_id)}/retry"
        return await self.post(MessageAccepted, path, _command(client_command_id))

    async def continue_turn(
        self, turn_id: str, client_command_id: str | None = None
    ) -> MessageAccepted:
        """`POST /api/turns/{turnId}/continue`: ask the agent to go on, as a new turn."""
        path = f"/api/turns/{segment(turn_id)}/continue"
        return await self.post(MessageAccepted, path, _command(client_command_id))

    async def cancel_root(
        self, correlation_id: str, client_command_id: str | None = None
    ) -> RootCancelled:
        """`POST /api/roots/{correlationId}/cancel`: every turn of it that waits or runs."""
        path = f"/api/roots/{segment(correlation_id)}/cancel"
        return await self.post(RootCancelled, path, _command(client_command_id))

    async def continue_root(
        self, correlation_id: str, client_command_id: str | None = None
    ) -> RootContinued:
        """`POST /api/roots/{correlationId}/continue`: let agents go on that a limit stopped."""
        path = f"/api/roots/{segment(correlation_id)}/continue"
        return await self.post(RootContinued, path, _command(client_command_id))

    async def search(
        self,
        query: str,
        *,
        room_id: str | None = None,
        kind: SearchKind | None = "message",
        limit: int = DEFAULT_PAGE,
        cursor: str | None = None,
    ) -> SearchReply:
        """`GET /api/search`: the best first; None: of all rooms, of all kinds."""
        asked: Query = {
            "q": query,
            "roomId": room_id,
            "kind": kind,
            "limit": limit,
            "cursor": cursor,
        }
        return await self.get(SearchReply, "/api/search", asked)

    async def agents(self) -> AgentList:
        """`GET /api/agents`."""
        return await self.get(AgentList, "/api/agents")

    async def restart_agent(
        self, actor_id: str, client_command_id: str | None = None
    ) -> RestartReply:
        """`POST /api/agents/{actorId}/restart`."""
        path = f"/api/agents/{segment(actor_id)}/restart"
        return await self.post(RestartReply, path, _command(client_command_id))

    async def purges(self) -> PurgeList:
        """`GET /api/purges`."""
        return await self.get(PurgeList, "/api/purges")

    async def context_usage(self, room_id: str) -> ContextUsage:
        """`GET /api/context`: how full an agent's packet of the room is."""
        return await self.get(ContextUsage, "/api/context", {"roomId": room_id})

    def export(
        self, room_id: str | None = None, kind: Literal["jsonl", "md"] = "jsonl"
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """`GET /api/export`: a stream of bytes; `async with … as chunks`. None: all rooms. When
        the stream breaks before its end, reading it raises ServerUnreachableError."""
        query = {"roomId": room_id, "format": kind}
        return self.transport.stream("/api/export", query)

    async def shutdown(self, runtime_scope_key: str) -> ShutdownReply:
        """`POST /api/runtime/shutdown`: end the server of that workspace and no other."""
        body = request_of(ShutdownRequest, runtime_scope_key=runtime_scope_key)
        return await self.post(ShutdownReply, "/api/runtime/shutdown", body)

    async def get(self, model: type[Reply], path: str, query: Query | None = None) -> Reply:
        """Ask for `path` and read the answer as `model`."""
        return self._read(model, path, await self.transport.ask("GET", path, query))

    async def post(
        self,
        model: type[Reply],
        path: str,
        body: RequestModel,
        method: str = "POST",
        silence_s: float | None = None,
    ) -> Reply:
        """Send `body` to `path` and read the answer as `model`; `silence_s`: see `Transport`."""
        content = await self.transport.ask(method, path, body=body, silence_s=silence_s)
        return self._read(model, path, content)

    def _read(self, model: type[Reply], path: str, content: bytes) -> Reply:
        try:
            return model.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            found = f"the answer to {path} does not fit ({where or 'body'}: {first['msg']})"
            raise not_ours(self.endpoint.current().url, found) from error


def segment(value: str) -> str:
    """One part of a path; ids hold colons, which may stay."""
    return quote(value, safe=":")


def _command(client_command_id: str | None) -> CommandRequest:
    return request_of(CommandRequest, client_command_id=client_command_id or new_id("cmd"))
