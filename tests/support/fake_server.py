"""A GroupX server on a real loopback socket, scripted: what clients of it must live with.

It answers from a `RoomScript`. Faults are set from the test: streams dropped or silent, a moved
port, a wrong token, another ledger, lost or broken answers. `asked` holds every request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from groupx_shared.runtime import RuntimeFile
from groupx_shared.wire.events import Event
from groupx_shared.wire.forgetting import PurgeInfo, PurgeList
from groupx_shared.wire.replies import AgentList, RoomReply, TurnInfo, TurnList
from groupx_shared.wire.search import SearchHit, SearchReply
from support.loopback_http import HttpRequest, LoopbackServer, Responder
from support.room_events import MAIN, RoomScript, agent_info

JSON = "application/json"
Answer = Callable[[HttpRequest, Responder], Awaitable[None]]


def runtime_at(url: str, token: str = "right-token") -> RuntimeFile:
    """A runtime file's content."""
    return RuntimeFile(
        url=url,
        token=token,
        pid=1,
        runtime_scope_key="a" * 64,
        runtime_key="b" * 64,
        version="0.2.0",
        started_at="",
        log_file="",
    )


class FakeServer(LoopbackServer):
    """`async with FakeServer() as server:`."""

    def __init__(self, script: RoomScript | None = None) -> None:
        super().__init__(self._handle)
        self.script = script or RoomScript()
        self.token = "right-token"
        self.ledger_id = "ledger_1"
        self.asked: list[HttpRequest] = []
        self.open_turns: list[TurnInfo] = []
        self.agents = (agent_info("codex"), agent_info("kimi"))
        self.purges: list[PurgeInfo] = []
        self.faults: list[tuple[str, Answer]] = []
        """Each is used once, by the first request whose path begins like it."""
        self.texts: dict[str, str] = {}
        self.streams: list[asyncio.Queue[bytes | None]] = []
        self._stream_opened = asyncio.Event()

    @property
    def runtime(self) -> RuntimeFile:
        """What the runtime file would hold."""
        return runtime_at(self.url, self.token)

    def paths(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.asked]

    def asked_json(self, path: str) -> dict[str, Any]:
        """What the newest request to `path` brought."""
        body: dict[str, Any] = [each for each in self.asked if each.path == path][-1].json
        return body

    def fail_next(self, path: str, answer: Answer) -> None:
        self.faults.append((path, answer))

    async def stream_is_open(self, count: int = 1) -> None:
        """Wait until `count` streams have been opened since the start of the server."""
        async with asyncio.timeout(5):
            while len(self.streams) < count:
                self._stream_opened.clear()
                await self._stream_opened.wait()

    def push(self, *events: Event) -> None:
        """Send events to the newest stream, in one write."""
        self.push_bytes(b"".join(frame_of(event) for event in events))

    def push_bytes(self, data: bytes) -> None:
        self.streams[-1].put_nowait(data)

    def drop_stream(self) -> None:
        """End the newest stream."""
        self.streams[-1].put_nowait(None)

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        self.asked.append(request)
        for index, (path, answer) in enumerate(self.faults):
            if request.path.startswith(path):
                del self.faults[index]
                await answer(request, respond)
                return
        if request.headers.get("authorization") != f"Bearer {self.token}":
            await refuse(401, "UNAUTHORIZED", "This token is not valid.")(request, respond)
            return
        await self._answer(request, respond)

    async def _answer(self, request: HttpRequest, respond: Responder) -> None:
        match request.method, request.path.removeprefix("/api/").split("/"):
            case "GET", ["bootstrap"]:
                reply = self.script.bootstrap(
                    request.query.get("roomId", MAIN),
                    limit=int(request.query["limit"]),
                    agents=self.agents,
                    active=tuple(self.open_turns),
                    ledger_id=self.ledger_id,
                )
                await respond.whole(200, reply.to_wire())
            case "GET", ["rooms", room, "events"]:
                await respond.whole(200, self._page(room, request.query))
            case "GET", ["agents" | "purges" | "turns" as what]:
                await respond.whole(200, self._list(what))
            case "GET", ["events"]:
                await self._stream(request, respond)
            case "GET", ["search"]:
                await respond.whole(200, self._search(request.query).to_wire())
            case "GET", ["events", event_id, "text"]:
                text = {"eventId": event_id, "field": "content", "text": self.texts[event_id]}
                await respond.whole(200, json.dumps(text).encode())
            case "GET", ["events", event_id]:
                (found,) = [each for each in self.script.durable if each.event_id == event_id]
                await respond.whole(200, wire(found))
            case method, path:
                await self._command(method, path, request, respond)

    def _list(self, what: str) -> bytes:
        if what == "agents":
            return AgentList(agents=self.agents).to_wire()
        if what == "purges":
            return PurgeList(purges=tuple(self.purges)).to_wire()
        return TurnList(turns=tuple(self.open_turns)).to_wire()

    async def _command(
        self, method: str, path: list[str], request: HttpRequest, respond: Responder
    ) -> None:
        match method, path:
            case "POST", ["messages"]:
                await respond.whole(202, json.dumps(self._accept(request.json)).encode())
            case "POST", ["turns", _, "advise"]:
                said = {"messageEventId": "evt_1", "delivery": "queued", "nextTurnId": "turn_2"}
                await respond.whole(202, json.dumps(said).encode())
            case "POST", ["turns", turn_id, "cancel"]:
                reply = {"turnId": turn_id, "accepted": True, "status": "cancelling"}
                await respond.whole(202, json.dumps(reply).encode())
            case "POST", ["turns", _, "retry" | "continue"]:
                message = {"clientCommandId": "again", "content": "again", "roomId": MAIN, "to": []}
                await respond.whole(202, json.dumps(self._accept(message)).encode())
            case "POST", ["roots", root_id, "continue"]:
                going = {"correlationId": root_id, "roomId": MAIN, "continues": 1}
                await respond.whole(202, json.dumps(going).encode())
            case "POST", ["agents", actor_id, "restart"]:
                await respond.whole(
                    202, json.dumps({"actorId": actor_id, "accepted": True}).encode()
                )
            case ("POST", ["rooms"]) | ("PATCH", ["rooms", _]):
                room = f"room:{request.json['title'].lower()}"
                self.script.write("room.created", {"title": request.json["title"]}, room=room)
                await respond.whole(200, RoomReply(room=self.script.room_info(room)).to_wire())
            case _:
                await refuse(404, "UNKNOWN_PATH", "There is no such path.")(request, respond)

    def _accept(self, message: dict[str, Any]) -> dict[str, Any]:
        """As the server: the same command id is one message."""
        command = message["clientCommandId"]
        known = [each for each in self.script.durable if each.causation_id == command]
        sent = (
            known[0]
            if known
            else self.script.write(
                "message.created",
                {"content": message["content"]},
                actor=self.script.person,
                room=message["roomId"],
                to=tuple(message["to"]),
                causation_id=command,
            )
        )
        return {
            "messageEventId": sent.event_id,
            "seq": sent.seq,
            "roomId": sent.room_id,
            "correlationId": "corr_1",
            "turns": [],
        }

    def _search(self, query: dict[str, str]) -> SearchReply:
        """As the server, but that it finds what holds the first word, the newest first."""
        word = query["q"].split()[0].strip("+*")
        hits = [
            SearchHit(
                kind="message",
                id=each.event_id,
                room_id=each.room_id,
                seq=each.seq,
                actor_id=each.actor.actor_id,
                type=each.type,
                occurred_at=each.occurred_at,
                snippet=each.body["content"],
                score=1.0,
            )
            for each in reversed(self.script.durable)
            if word in each.body.get("content", "") and query.get("roomId") in (None, each.room_id)
        ]
        return SearchReply(hits=tuple(hits[: int(query["limit"])]))

    def _page(self, room: str, query: dict[str, str]) -> bytes:
        limit = int(query["limit"])
        if "around" in query:
            events = self.script.of_room(room)
            place = sum((each.seq or 0) < int(query["around"]) for each in events)
            start = max(0, place - limit // 2)
            page = self.script.page_of(events[start : start + limit], room)
        else:
            before, after = query.get("before"), query.get("after")
            page = self.script.page(
                before=int(before) if before else None,
                after=int(after) if after else None,
                limit=limit,
                room=room,
            )
        return page.to_wire()

    async def _stream(self, request: HttpRequest, respond: Responder) -> None:
        after = int(request.query["afterSeq"])
        assert request.headers["last-event-id"] == str(after)
        frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        await respond.begin("text/event-stream")
        missed = [each for each in self.script.durable if (each.seq or 0) > after]
        replay = b"".join(frame_of(each) for each in missed)
        await respond.chunk(b"retry: 1000\nid: %d\n\n" % after + replay)
        self.streams.append(frames)
        self._stream_opened.set()
        while (data := await frames.get()) is not None:
            await respond.chunk(data)
        await respond.end()


def wire(event: Event) -> bytes:
    """An event as the server writes it: a transient one says `"seq": null`."""
    return json.dumps({**json.loads(event.to_wire()), "seq": event.seq}).encode()


def frame_of(event: Event) -> bytes:
    head = b"" if event.seq is None else b"id: %d\n" % event.seq
    return head + b"data: " + wire(event) + b"\n\n"


def refuse(status: int, code: str, message: str, **details: Any) -> Answer:
    """An answer that refuses."""

    async def answer(request: HttpRequest, respond: Responder) -> None:
        error = {"code": code, "message": message, "details": details}
        await respond.whole(status, json.dumps({"error": error}).encode())

    return answer


async def hang_up(request: HttpRequest, respond: Responder) -> None:
    """An answer that never comes: the connection is closed."""


async def stay_silent(request: HttpRequest, respond: Responder) -> None:
    """An answer that never comes: the connection stays open."""
    await respond.client_gone()
