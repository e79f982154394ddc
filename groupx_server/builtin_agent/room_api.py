"""Reads the room's own data from the server, over its REST interface. Read-only.

The bearer in `GROUPX_AGENT_TOKEN` allows reading and nothing else. Replies are bounded and read
tolerantly: what is missing is passed over, an unknown key hurts nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

import orjson

from groupx_server.builtin_agent.endpoint import shown_url
from groupx_server.builtin_agent.http_pool import HttpPool, ReplyTooLargeError, read_bounded
from groupx_shared.errors import ErrorCode, GroupXError
from groupx_shared.text import safe_line, safe_text

REPLY_TIMEOUT_S: Final = 10.0
"""The server is on this machine; it answers in milliseconds or is in trouble."""
MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
PAGE_MESSAGES: Final = 200


class RoomDataError(GroupXError):
    """The server gave no data; the sentence says why. `is_missing`: it does not offer this."""

    default_code = ErrorCode.STORE_UNAVAILABLE

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


@dataclass(frozen=True, slots=True)
class RoomMessage:
    """One message of a room; `content` and names are cleaned."""

    seq: int
    author_id: str
    author: str
    content: str
    at: datetime | None = None
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Messages of one page, oldest first. `has_more_before`: older ones exist."""

    messages: tuple[RoomMessage, ...]
    has_more_before: bool


class RoomApi:
    """The server as this agent may see it."""

    def __init__(self, http: HttpPool, url: str, token: str | None) -> None:
        self._http = http
        self._url = url
        self._token = token

    @property
    def shown_url(self) -> str:
        """The server's address, for people."""
        return shown_url(self._url)

    async def rooms(self) -> list[dict[str, Any]]:
        """All rooms as the server describes them. Raises: RoomDataError."""
        return _objects(await self._get("/api/rooms"), "rooms")

    async def agents(self) -> list[dict[str, Any]]:
        """All agents of the roster with their state. Raises: RoomDataError."""
        return _objects(await self._get("/api/agents"), "agents")

    async def open_turns(self, room_id: str) -> list[dict[str, Any]]:
        """Turns of the room that have not ended. Raises: RoomDataError."""
        query = {"roomId": room_id, "status": "open"}
        return _objects(await self._get("/api/turns", query), "turns")

    async def memory(self, room_id: str) -> list[dict[str, Any]]:
        """Newest active memory of the room. Raises: RoomDataError (`is_missing` on a server
        without memory)."""
        query = {"scopeType": "room", "scopeId": room_id, "limit": "50"}
        return _objects(await self._get("/api/memory", query), "items")

    async def messages(
        self, room_id: str, before: int | None = None, limit: int = PAGE_MESSAGES
    ) -> Page:
        """The newest messages before seq `before` (None: from the end). A page that is too large
        to hold is asked for again in halves. Raises: RoomDataError."""
        path = f"/api/rooms/{quote(room_id, safe=':')}/events"
        while True:
            query = {"type": "message.created", "limit": str(limit)}
            if before is not None:
                query["before"] = str(before)
            try:
                body = await self._get(path, query)
            except ReplyTooLargeError as error:
                if limit == 1:
                    raise RoomDataError(f"{self.shown_url}: {error}.") from error
                limit = max(1, limit // 2)
                continue
            events = [_message(event) for event in _objects(body, "events")]
            messages = tuple(message for message in events if message is not None)
            return Page(messages, body.get("hasMoreBefore") is True)

    async def _get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        import httpx

        client = self._http.client_for(self._url)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        try:
            async with (
                asyncio.timeout(REPLY_TIMEOUT_S),
                client.stream("GET", self._url + path, params=query, headers=headers) as response,
            ):
                body = await read_bounded(response, MAX_REPLY_BYTES)
        except TimeoutError as error:
            raise self._silent(f"no answer within {REPLY_TIMEOUT_S:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._silent(str(error) or type(error).__name__) from error
        if not response.is_success:
            raise self._refused(response.status_code, path, body)
        return self._object(body, path)

    def _object(self, body: bytes, path: str) -> dict[str, Any]:
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            value = None
        if not isinstance(value, dict):
            raise RoomDataError(f"{self.shown_url}{path} did not answer with a JSON object.")
        return value

    def _silent(self, reason: str) -> RoomDataError:
        return RoomDataError(
            f"The GroupX server at {self.shown_url} does not answer ({safe_line(reason, 160)}). "
            "`groupx status` shows whether it runs."
        )

    def _refused(self, status: int, path: str, body: bytes) -> RoomDataError:
        """What the server's error says, in its own words where it gives some."""
        code, said = _error(body)
        is_missing = status == 404 and code in ("", ErrorCode.UNKNOWN_PATH)
        if status in (401, 403):
            sentence = "refused this agent's token; restart the agent to give it a new one"
        elif is_missing:
            sentence = "does not offer this"
        else:
            sentence = f"says: {said}" if said else "failed"
        return RoomDataError(
            f"The GroupX server at {self.shown_url} {sentence.rstrip('.')} "
            f"(HTTP {status}, {path}).",
            is_missing=is_missing,
        )


def _error(body: bytes) -> tuple[str, str]:
    """Code and sentence of an error reply; empty where it has none."""
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:
        return "", ""
    error = reply.get("error") if isinstance(reply, dict) else None
    if not isinstance(error, dict):
        return "", ""
    return str(error.get("code") or ""), safe_line(str(error.get("message") or ""), 300)


def _objects(body: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = body.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _message(event: dict[str, Any]) -> RoomMessage | None:
    """Read an envelope; None for what is no message."""
    body, actor, seq = event.get("body"), event.get("actor"), event.get("seq")
    if event.get("type") != "message.created" or not isinstance(seq, int):
        return None
    content = body.get("content") if isinstance(body, dict) else None
    if not isinstance(content, str):
        return None
    actor = actor if isinstance(actor, dict) else {}
    author_id = safe_line(str(actor.get("actorId") or "unknown"), 128)
    targets = event.get("to")
    return RoomMessage(
        seq=seq,
        author_id=author_id,
        author=safe_line(str(actor.get("displayName") or author_id), 64),
        content=safe_text(content),
        at=_time(event.get("occurredAt")),
        to=tuple(str(target) for target in targets) if isinstance(targets, list) else (),
    )


def _time(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
