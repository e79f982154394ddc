"""The server's endpoints, blocking, one method each: JSON in, JSON out.

Replies are plain dictionaries with wire names (`wire.replies` documents them); loading the models
would cost more than most commands take. A refusal becomes `ServerRefusedError`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_shared.ids import agent_actor, new_id
from groupx_shared.runtime import RuntimeFile
from groupx_shared.text import safe_line
from groupx_shared.version import VERSION
from groupx_shared.workspace import Workspace
from groupx_tui.cli.probe import probe
from groupx_tui.cli.wire_http import (
    ConnectionLostError,
    Patience,
    Reply,
    Request,
    open_reply,
    path_of,
)

REPLY_S: Final = 60.0
"""Silence after which a reply is given up; the server answers within milliseconds, or it waits for
a slow disk."""
PURGE_S: Final = 600.0
"""For a purge, which reads, and once writes, the whole ledger and a backup of it."""
RETRIED: Final = frozenset({ErrorCode.SHUTTING_DOWN, ErrorCode.UNAUTHORIZED})
"""Refusals that a restart of the server explains: its token is a new one."""

Json = dict[str, Any]


class ServerRefusedError(RefusedError):
    """The server said no. `wire_code` is its code, also when this version does not know it."""

    def __init__(self, status: int, message: str, wire_code: str, details: Json | None) -> None:
        known = wire_code in ErrorCode.__members__
        code = ErrorCode(wire_code) if known else ErrorCode.INVALID_ENVELOPE
        super().__init__(message, code=code, details=details)
        self.status = status
        self.wire_code = wire_code


class Api:
    """The server of one workspace. After a restart `rediscover` finds it again."""

    def __init__(self, workspace: Workspace, runtime: RuntimeFile) -> None:
        self.workspace = workspace
        self.runtime = runtime

    def rediscover(self) -> bool:
        """Read the runtime file again; True when a ready server has proved itself."""
        found = probe(self.workspace)
        if found.standing != "running" or found.runtime is None:
            return False
        self.runtime = found.runtime
        return True

    def health(self) -> Json:
        """How the server is."""
        return self._call("GET", "/api/health")

    def rooms(self) -> list[Json]:
        """All rooms, archived ones too."""
        return list(self._call("GET", "/api/rooms")["rooms"])

    def create_room(self, title: str, room: str | None) -> Json:
        """Make a room and return it."""
        body = {"clientCommandId": new_id("cmd"), "title": title}
        if room is not None:
            body["roomId"] = room_id(room)
        return dict(self._call("POST", "/api/rooms", body)["room"])

    def change_room(self, room: str, **changes: object) -> Json:
        """Rename (`title`), archive or restore (`archived`) a room and return it."""
        path = path_of("api", "rooms", room_id(room))
        body = {"clientCommandId": new_id("cmd"), **changes}
        return dict(self._call("PATCH", path, body)["room"])

    def agents(self) -> list[Json]:
        """The cards of all agents."""
        return list(self._call("GET", "/api/agents")["agents"])

    def restart_agent(self, agent: str) -> Json:
        """Restart an agent's program."""
        path = path_of("api", "agents", agent_actor(agent.removeprefix("@")), "restart")
        return self._call("POST", path, {"clientCommandId": new_id("cmd")})

    def reload(self) -> Json:
        """Have the server read its config again."""
        return self._call("POST", "/api/runtime/reload", {"clientCommandId": new_id("cmd")})

    def send(self, message: Json) -> Json:
        """Post a message; what comes back is on disk."""
        return self._call("POST", "/api/messages", message)

    def page(self, room: str, **query: object) -> Json:
        """A page of a room's events, oldest first."""
        return self._call("GET", path_of("api", "rooms", room_id(room), "events", query=query))

    def event_text(self, event_id: str) -> str:
        """The whole text of an event whose body holds a cut one."""
        return str(self._call("GET", path_of("api", "events", event_id, "text"))["text"])

    def search(self, **query: object) -> Json:
        """What a query finds, best first."""
        return self._call("GET", path_of("api", "search", query=query))

    def rebuild_search(self) -> Json:
        """Have the search index built anew."""
        return self._call("POST", "/api/search/rebuild", {"clientCommandId": new_id("cmd")})

    def turns(self, **query: object) -> Json:
        """A page of turns, newest first."""
        return self._call("GET", path_of("api", "turns", query=query))

    def turn(self, turn_id: str) -> Json:
        """One turn with its answer."""
        return self._call("GET", path_of("api", "turns", turn_id))

    def cancel_turn(self, turn_id: str) -> Json:
        """Ask to cancel a turn."""
        path = path_of("api", "turns", turn_id, "cancel")
        return self._call("POST", path, {"clientCommandId": new_id("cmd")})

    def advise_turn(self, turn_id: str, content: str) -> Json:
        """Say something to the agent of a turn: into it, or as its next one."""
        path = path_of("api", "turns", turn_id, "advise")
        return self._call("POST", path, {"clientCommandId": new_id("cmd"), "content": content})

    def take_up_again(self, turn_id: str, how: str) -> Json:
        """Retry or continue an ended turn; the reply is that of an accepted message."""
        path = path_of("api", "turns", turn_id, how)
        return self._call("POST", path, {"clientCommandId": new_id("cmd")})

    def memory(self, **query: str | None) -> Json:
        """A page of memory records."""
        return self._call("GET", path_of("api", "memory", query=query))

    def identity(self, **query: str | None) -> Json:
        """A page of identity records."""
        return self._call("GET", path_of("api", "identity", query=query))

    def record(self, kind: str, record_id: str) -> Json:
        """One record. `kind`: memory or identity, here and below."""
        return self._call("GET", path_of("api", kind, record_id))

    def record_history(self, kind: str, record_id: str) -> Json:
        """All versions of a record."""
        return self._call("GET", path_of("api", kind, record_id, "history"))

    def add_record(self, kind: str, body: Json) -> Json:
        """Keep a record."""
        return self._call("POST", path_of("api", kind), {"clientCommandId": new_id("cmd"), **body})

    def change_record(self, kind: str, record_id: str, how: str, body: Json) -> Json:
        """Supersede, retract or pin a record."""
        path = path_of("api", kind, record_id, how)
        return self._call("POST", path, {"clientCommandId": new_id("cmd"), **body})

    def redact(self, kind: str, ref_id: str, *, purge: bool, copies: bool) -> Json:
        """Remove a text for good. `kind`: events, memory, identity or assistant/messages."""
        path = path_of("api", *kind.split("/"), ref_id, "redact")
        body = {"clientCommandId": new_id("cmd"), "purge": purge, "copies": copies}
        with self._open("POST", path, body, lambda: PURGE_S) as reply:
            return _object(reply.read())

    def purge(self, ref_id: str) -> Json | None:
        """How the purge of a text stands; None when the server knows nothing of it."""
        purges = self._call("GET", path_of("api", "purges"))["purges"]
        return next((dict(each) for each in purges if each["refId"] == ref_id), None)

    def context_usage(self, room: str) -> Json:
        """How full an agent's packet of a room would be."""
        return self._call("GET", path_of("api", "context", query={"roomId": room_id(room)}))

    def context_preview(self, room: str, **query: str | None) -> Json:
        """What an agent would be sent now."""
        return self._call("GET", path_of("api", "rooms", room_id(room), "context", query=query))

    def context_summary(self, room: str) -> Json:
        """The summary of a room."""
        return self._call("GET", path_of("api", "rooms", room_id(room), "context", "summary"))

    def days(self, **query: str | None) -> Json:
        """What agents wrote of their days."""
        return self._call("GET", path_of("api", "days", query=query))

    def compact(self, room: str, keep: str) -> Json:
        """Have a room summed up but for its newest messages."""
        path = path_of("api", "rooms", room_id(room), "context", "compact")
        return self._call("POST", path, {"clientCommandId": new_id("cmd"), "keep": int(keep)})

    def reset_context(self, room: str, *, native: bool) -> Json:
        """Have agents told nothing any more of what was said until now."""
        path = path_of("api", "rooms", room_id(room), "context", "reset")
        return self._call(
            "POST", path, {"clientCommandId": new_id("cmd"), "nativeSessions": native}
        )

    def event(self, event_id: str) -> Json:
        """One event."""
        return self._call("GET", path_of("api", "events", event_id))

    def usage(self, **query: object) -> Json:
        """What turns cost."""
        return self._call("GET", path_of("api", "usage", query=query))

    def roots(self, **query: object) -> Json:
        """A page of roots, newest first."""
        return self._call("GET", path_of("api", "roots", query=query))

    def root(self, correlation_id: str) -> Json:
        """One root with its turns."""
        return self._call("GET", path_of("api", "roots", correlation_id))

    def change_root(self, correlation_id: str, how: str) -> Json:
        """Cancel a root, or let it continue."""
        path = path_of("api", "roots", correlation_id, how)
        return self._call("POST", path, {"clientCommandId": new_id("cmd")})

    def assistant(self) -> Json:
        """How the room assistant is."""
        return self._call("GET", "/api/assistant")

    def ask_assistant(self, body: Json) -> Json:
        """Ask it; what comes back is on disk."""
        return self._call("POST", "/api/assistant/messages", body)

    def assistant_messages(self, **query: object) -> Json:
        """A page of the conversation with it."""
        return self._call("GET", path_of("api", "assistant", "messages", query=query))

    def assistant_events(self, request_id: str, patience: Patience) -> Reply:
        """Open the stream of one request."""
        path = path_of("api", "assistant", "events", query={"requestId": request_id})
        return self._open("GET", path, patience=patience)

    def cancel_assistant(self, request_id: str | None) -> Json:
        """Cancel a request to it."""
        body = {"clientCommandId": new_id("cmd")}
        more = {} if request_id is None else {"requestId": request_id}
        return self._call("POST", "/api/assistant/cancel", body | more)

    def clear_assistant(self) -> Json:
        """Forget the conversation with it."""
        return self._call("POST", "/api/assistant/clear", {"clientCommandId": new_id("cmd")})

    def shut_down(self) -> Json:
        """Ask the server to stop; it names the workspace, so no other server ever obeys."""
        body = {"runtimeScopeKey": self.workspace.scope_key}
        return self._call("POST", "/api/runtime/shutdown", body)

    def export(self, room: str | None, file_format: str) -> Reply:
        """Open the stream of a whole room, or of all."""
        query = {"roomId": None if room is None else room_id(room), "format": file_format}
        return self._open("GET", path_of("api", "export", query=query))

    def events(self, after: int, room: str | None, patience: Patience) -> Reply:
        """Open the event stream behind seq `after`."""
        query = {"afterSeq": after, "roomId": None if room is None else room_id(room)}
        return self._open("GET", path_of("api", "events", query=query), patience=patience)

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        with self._open(method, path, body) as reply:
            return _object(reply.read())

    def _open(
        self, method: str, path: str, body: Json | None = None, patience: Patience | None = None
    ) -> Reply:
        encoded = None if body is None else json.dumps(body).encode()
        request = Request(method, path, self.runtime.token, encoded)
        reply = open_reply(self.runtime.url, request, patience or (lambda: REPLY_S))
        if reply.status < 400:
            return reply
        with reply:
            error = _refusal(reply.status, reply.read())
        if isinstance(error, ServerRefusedError) and error.code == ErrorCode.UNKNOWN_PATH:
            raise ServerRefusedError(error.status, self._other_build(path), error.wire_code, None)
        raise error

    def _other_build(self, path: str) -> str:
        asked = safe_line(path.partition("?")[0], 80)
        return (
            f"The running server does not know {asked}: it is version {self.runtime.version} and "
            f"this program is {VERSION}. “groupx restart” starts the server that belongs to it."
        )


def room_id(name: str) -> str:
    """`main` -> `room:main`; an id is returned unchanged."""
    return name if name.startswith("room:") else f"room:{name}"


def short(actor_id: str) -> str:
    """`agent:codex` -> `codex`, on one safe line."""
    return safe_line(actor_id.removeprefix("agent:"), 80)


def _object(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise ConnectionLostError(f"The server's reply is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ConnectionLostError("The server's reply is not a JSON object.")
    return value


def _refusal(status: int, body: bytes) -> ServerRefusedError | ServerUnreachableError:
    try:
        error = json.loads(body)["error"]
        return ServerRefusedError(status, error["message"], error["code"], error.get("details"))
    except (ValueError, KeyError, TypeError):
        return ServerUnreachableError(
            f"What answers there is not a GroupX server (HTTP status {status})."
        )
