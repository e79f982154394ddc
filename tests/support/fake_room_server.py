"""The part of the GroupX server that the built-in agent reads, faked on loopback."""

from __future__ import annotations

import json
from typing import Any

from support.loopback_http import HttpRequest, LoopbackServer, Responder

TOKEN = "read-only-token"
ROOM = "room:main"


class FakeRoomServer(LoopbackServer):
    """`say` adds messages; `asked` holds the paths with their queries."""

    def __init__(self) -> None:
        super().__init__(self._handle)
        self.messages: list[dict[str, Any]] = []
        self.agents: list[dict[str, Any]] = [
            {
                "actorId": "agent:guide",
                "displayName": "Guide",
                "status": "working",
                "enabled": True,
                "driver": "builtin",
                "queuedTurns": 0,
            }
        ]
        self.turns: list[dict[str, Any]] = []
        self.memory: list[dict[str, Any]] | None = None
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.broken: int | None = None

    def env(self) -> dict[str, str]:
        """What the server sets for the agent."""
        return {"GROUPX_AGENT_URL": self.url, "GROUPX_AGENT_TOKEN": TOKEN}

    def say(self, content: str, author: str = "You", actor: str = "user:web") -> int:
        """Add a message and return its seq (they are 3 apart, as other events lie between)."""
        seq = 3 * len(self.messages) + 1
        minute, hour = len(self.messages) % 60, len(self.messages) // 60 % 24
        kind = actor.partition(":")[0]
        self.messages.append(
            {
                "schema": "groupx.event/0.1",
                "eventId": f"evt_{seq}",
                "seq": seq,
                "roomId": ROOM,
                "type": "message.created",
                "actor": {"actorId": actor, "kind": kind, "displayName": author},
                "to": [],
                "correlationId": "corr_1",
                "occurredAt": f"2026-11-30T{hour:02}:{minute:02}:00.000Z",
                "body": {"content": content},
            }
        )
        return seq

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        self.asked.append((request.path, request.query))
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            await respond.whole(401, b'{"error": {"code": "UNAUTHORIZED"}}')
        elif self.broken is not None:
            await respond.whole(self.broken, b'{"error": {"code": "INTERNAL_ERROR"}}')
        else:
            body = self._body(request)
            found = 404 if body is None else 200
            await respond.whole(found, json.dumps(body or {"error": {}}).encode())

    def _body(self, request: HttpRequest) -> dict[str, Any] | None:
        if request.path == "/api/rooms":
            room = {"roomId": ROOM, "title": "Main", "messageCount": len(self.messages)}
            old = {"roomId": "room:old", "title": "Old", "messageCount": 0, "archivedAt": "x"}
            return {"rooms": [room, old]}
        if request.path == f"/api/rooms/{ROOM}/events":
            return self._page(request.query)
        if request.path == "/api/agents":
            return {"agents": self.agents}
        if request.path == "/api/turns":
            return {"turns": self.turns}
        if request.path == "/api/memory" and self.memory is not None:
            return {"items": self.memory}
        return None

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        before = int(query.get("before", "999999999"))
        limit = int(query["limit"])
        assert 1 <= limit <= 500
        assert query["type"] == "message.created"
        older = [message for message in self.messages if message["seq"] < before]
        page = older[-limit:]
        return {
            "roomId": ROOM,
            "events": page,
            "hasMoreBefore": len(older) > len(page),
            "hasMoreAfter": len(older) < len(self.messages),
        }
