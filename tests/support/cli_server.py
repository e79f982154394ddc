"""A scripted GroupX server for tests of the command line: threads and the standard library only.

`CliServer` answers the REST surface from plain lists; each connection to the event stream first
gets what the ledger holds behind its cursor and then plays the next script of `streams`. Run as a
program it is what `launch` starts; `GROUPX_FAKE` says how it behaves.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from groupx_shared.runtime import RuntimeFile, remove_runtime, write_runtime
from groupx_shared.version import RUNTIME_PROTOCOL, VERSION
from groupx_shared.wire.sse import encode_durable, encode_transient
from groupx_shared.workspace import Workspace, default_workspace, find_workspace

Json = dict[str, Any]
WAIT_S = 5.0


class DroppedError(Exception):
    """The script closes the connection without an end."""


class Stream:
    """One connection to `/api/events`, as a script sees it."""

    def __init__(self, server: CliServer, write: Callable[[bytes], None]) -> None:
        self.server = server
        self.write = write

    def send(self, *events: Json) -> None:
        """Send events; durable ones (with a seq) are in the ledger from now on."""
        for event in events:
            data = json.dumps(event, ensure_ascii=False).encode()
            if event.get("seq") is None:
                self.write(encode_transient(data))
            else:
                self.server.events.append(event)
                self.write(encode_durable(event["seq"], data))

    def drop(self) -> None:
        """Break the connection."""
        raise DroppedError

    def hold(self) -> None:
        """Stay silent until the server is closed."""
        self.server.closed.wait(WAIT_S)


Script = Callable[[Stream], None]


def play(*events: Json, then: Script = lambda _: None) -> Script:
    """A script that sends `events` and then ends the stream properly, or does something else."""

    def script(stream: Stream) -> None:
        stream.send(*events)
        then(stream)

    return script


class _HttpServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that goes away: a command that fails does not read on."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class CliServer:
    """The fake. `requests` holds what was asked: method, path with query, body.

    `replies` overrides: `(method, path)` -> (status, body), or a list of them, one for each time;
    a status of 0 breaks the connection without a reply.
    """

    def __init__(self, workspace: Workspace, token: str = "secret") -> None:
        self.workspace = workspace
        self.token = token
        self.status = "ok"
        self.problem = ""
        self.protocol = RUNTIME_PROTOCOL
        self.scope_key = workspace.scope_key
        self.rooms: list[Json] = [room("main", title="Main")]
        self.agents: list[Json] = [agent("guide", isDefault=True)]
        self.events: list[Json] = []
        self.turns: dict[str, Json] = {}
        self.texts: dict[str, str] = {}
        self.export: list[bytes] = []
        self.export_breaks = False
        self.accepted: list[Json] = []
        self.streams: list[Script] = []
        self.requests: list[tuple[str, str, Json | None]] = []
        self.replies: dict[tuple[str, str], Any] = {}
        self.on_shutdown: Callable[[], None] = self.close
        self.assistant: Json = {"name": "Room assistant", "status": "ready", "driver": "codex"}
        self.side: list[list[Json]] = []
        """Frames of each connection to the assistant's stream; then it breaks."""
        self.knows: frozenset[str] | None = None
        """The only paths that an older server knows, below `/api/`; None: it is no older one."""
        self.closed = threading.Event()
        self._http = _HttpServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self._lock = threading.Lock()
        self._closer = threading.Thread(target=self._close, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def runtime(self, **changes: Any) -> RuntimeFile:
        """The runtime file of this server."""
        fields: Json = {
            "url": self.url,
            "token": self.token,
            "pid": os.getpid(),
            "runtime_scope_key": self.workspace.scope_key,
            "runtime_key": "0" * 64,
            "version": VERSION,
            "started_at": "2100-01-01T00:00:00.000Z",
            "log_file": str(self.workspace.data_folder / "logs" / "server.log"),
        }
        return RuntimeFile(**fields | changes)

    def publish(self, **changes: Any) -> Path:
        """Write the runtime file."""
        return write_runtime(self.workspace, self.runtime(**changes))

    def close(self) -> None:
        """Stop listening, soon; safe to call twice, and from a handler."""
        with self._lock:
            if not self.closed.is_set():
                self._closer.start()
                self.closed.set()

    def join(self) -> None:
        """Close and wait until nothing listens and every handler has ended."""
        self.close()
        self._closer.join(WAIT_S)
        self._thread.join(WAIT_S)

    def _close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def accept(self, message: Json) -> Json:
        """What `POST /api/messages` answers: the next of `accepted`, or one turn a target."""
        if self.accepted:
            return self.accepted.pop(0)
        turns = [
            {"target": _actor(name), "turnId": f"turn_{_actor(name)[6:]}", "status": "queued"}
            for name in message["to"]
        ]
        return accepted(message.get("roomId", "room:main"), turns)


def accepted(room_id: str, turns: Sequence[Json]) -> Json:
    return {
        "messageEventId": "evt_message",
        "seq": 10,
        "roomId": room_id,
        "correlationId": "corr_1",
        "turns": list(turns),
    }


def room(key: str, **changes: Any) -> Json:
    return {
        "roomId": f"room:{key}",
        "title": key.title(),
        "createdAt": "2026-11-03T14:00:00.000Z",
        "lastSeq": 10,
        "messageCount": 2,
    } | changes


def agent(key: str, **changes: Any) -> Json:
    return {
        "actorId": f"agent:{key}",
        "displayName": key.title(),
        "driver": "builtin",
        "enabled": True,
        "status": "ready",
        "cwd": "/work",
        "queuedTurns": 0,
        "isDefault": False,
    } | changes


def event(kind: str, body: Json, seq: int | None = None, **changes: Any) -> Json:
    """One event envelope; transient without `seq`."""
    return {
        "schema": "groupx.event/0.1",
        "eventId": f"evt_{seq or 'live'}",
        "seq": seq,
        "roomId": "room:main",
        "type": kind,
        "actor": {"actorId": "agent:guide", "kind": "agent", "displayName": "Guide"},
        "to": [],
        "correlationId": "corr_1",
        "occurredAt": "2026-11-03T14:03:21.000Z",
        "body": body,
    } | changes


def message(seq: int, content: str, **body: Any) -> Json:
    return event("message.created", {"content": content, **body}, seq)


def delta(turn_id: str, offset: int, text: str) -> Json:
    body = {"turnId": turn_id, "chunkIndex": 1, "offset": offset, "text": text}
    return event("turn.content.delta", body)


def answered(turn_id: str, seq: int, content: str) -> list[Json]:
    """The response of a turn and its end."""
    end = {"turnId": turn_id, "status": "completed", "responseEventId": f"evt_{seq}"}
    return [
        message(seq, content, turnId=turn_id),
        event("turn.completed", end, seq + 1),
    ]


def ended(turn_id: str, seq: int, status: str, **body: Any) -> Json:
    return event(f"turn.{status}", {"turnId": turn_id, "status": status, **body}, seq)


def _actor(name: str) -> str:
    return name if name.startswith("agent:") else f"agent:{name}"


def _handler(server: CliServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        fake = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: CliServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PATCH(self) -> None:
        self._answer("PATCH")

    def _answer(self, method: str) -> None:
        self.close_connection = True
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path = urlsplit(self.path).path
        if path == "/api/health":
            self._health()
            return
        self.fake.requests.append((method, self.path, body))
        if self.headers.get("Authorization") != f"Bearer {self.fake.token}":
            self._refuse(401, "UNAUTHORIZED", "No or wrong token.")
        elif self.fake.knows is not None and path.removeprefix("/api/") not in self.fake.knows:
            self._refuse(404, "UNKNOWN_PATH", f"Nothing is at {path}.")
        elif (override := self._override(method, path)) is not None:
            self._json(*override)
        else:
            self._route(method, path, body or {})

    def _override(self, method: str, path: str) -> tuple[int, Json] | None:
        reply = self.fake.replies.get((method, path))
        if isinstance(reply, list):
            reply = reply.pop(0) if reply else None
        return reply

    def _health(self) -> None:
        self._json(
            503 if self.fake.status == "closing" else 200,
            {
                "status": "degraded" if self.fake.problem else self.fake.status,
                **({"problem": self.fake.problem} if self.fake.problem else {}),
                "service": "groupx",
                "protocol": self.fake.protocol,
                "version": VERSION,
                "runtimeScopeKey": self.fake.scope_key,
                "runtimeKey": "0" * 64,
                "uptimeS": 3725.0,
            },
        )

    def _route(self, method: str, path: str, body: Json) -> None:
        fake, parts = self.fake, path.removeprefix("/api/").split("/")
        whole: dict[tuple[str, str], Callable[[], None]] = {
            ("GET", "rooms"): lambda: self._json(200, {"rooms": fake.rooms}),
            ("POST", "rooms"): lambda: self._json(201, {"room": room("new", title=body["title"])}),
            ("GET", "agents"): lambda: self._json(200, {"agents": fake.agents}),
            ("POST", "messages"): lambda: self._json(202, fake.accept(body)),
            ("GET", "events"): self._stream,
            ("GET", "export"): self._export,
            ("GET", "assistant/events"): self._side,
            ("GET", "assistant"): lambda: self._json(200, fake.assistant),
            ("POST", "runtime/shutdown"): lambda: self._shutdown(body),
            ("GET", "turns"): lambda: self._json(200, {"turns": list(fake.turns.values())}),
        }
        if (handler := whole.get((method, "/".join(parts)))) is not None:
            handler()
        else:
            self._one(method, parts)

    def _side(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for frame in self.fake.side.pop(0) if self.fake.side else ():
            self.wfile.write(encode_transient(json.dumps(frame).encode()))

    def _one(self, method: str, parts: list[str]) -> None:
        """One room, agent, event or turn."""
        if method == "PATCH":
            self._json(200, {"room": room(parts[1].removeprefix("room:"))})
        elif parts[0] == "agents":
            self._json(202, {"actorId": parts[1], "accepted": True})
        elif parts[0] == "events":
            self._json(200, {"text": self.fake.texts[parts[1]]})
        elif parts[0] == "turns":
            self._turn(method, parts[1])
        else:
            self._page(parts[1])

    def _turn(self, method: str, turn_id: str) -> None:
        if turn_id not in self.fake.turns:
            self._refuse(404, "UNKNOWN_TURN", f"There is no turn “{turn_id}”.")
        elif method == "POST":
            self._json(202, {"turnId": turn_id, "accepted": True, "status": "cancelling"})
        else:
            self._json(200, self.fake.turns[turn_id])

    def _page(self, room_id: str) -> None:
        query = parse_qs(urlsplit(self.path).query)
        before = int(query.get("before", ["999999999"])[0])
        limit, types = int(query["limit"][0]), query.get("type")
        fitting = [
            each
            for each in self.fake.events
            if each["roomId"] == room_id
            and each["seq"] < before
            and (types is None or each["type"] in types)
        ]
        page = {"roomId": room_id, "events": fitting[-limit:], "hasMoreAfter": False}
        self._json(200, page | {"hasMoreBefore": len(fitting) > limit})

    def _shutdown(self, body: Json) -> None:
        if body.get("runtimeScopeKey") != self.fake.workspace.scope_key:
            self._refuse(409, "STORE_CONFLICT", "Another workspace.")
            return
        self._json(202, {"accepted": True})
        self.fake.on_shutdown()

    def _stream(self) -> None:
        after = int(parse_qs(urlsplit(self.path).query)["afterSeq"][0])
        self._start_chunks("text/event-stream")
        stream = Stream(self.fake, self._chunk)
        try:
            self._chunk(b": heartbeat\n\n")
            for each in self.fake.events:
                if each["seq"] > after:
                    self._chunk(encode_durable(each["seq"], json.dumps(each).encode()))
            script = self.fake.streams.pop(0) if self.fake.streams else Stream.hold
            script(stream)
            self._chunk(b"")
        except (DroppedError, OSError):
            return

    def _export(self) -> None:
        self._start_chunks("application/x-ndjson")
        for piece in self.fake.export:
            self._chunk(piece)
        if not self.fake.export_breaks:
            self._chunk(b"")

    def _start_chunks(self, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _refuse(self, status: int, code: str, sentence: str) -> None:
        self._json(status, {"error": {"code": code, "message": sentence}})

    def _json(self, status: int, body: Json) -> None:
        if status == 0:
            return
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main() -> int:
    """Be the server that a command starts in the background."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.add_argument("--default-workspace", action="store_true")
    options = parser.parse_args()
    how = os.environ.get("GROUPX_FAKE", "")
    if how == "broken":
        sys.stderr.write("groupx-server: The database \x1b[31m/x/groupx.db is damaged.\n")
        return 3
    if how == "raises":
        raise RuntimeError("nobody thought of \x1b[2Jthis")
    workspace = default_workspace() if options.default_workspace else find_workspace(options.config)
    with (workspace.data_folder / "lease").open("w") as lease:
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write("Another server holds this database.\n")
            return 3
        with (workspace.data_folder / "starts").open("a") as starts:
            starts.write(f"{os.getpid()} {Path.cwd()} {sys.flags.safe_path}\n")
        server = CliServer(workspace)
        server.publish()
        server.closed.wait()
        server.join()
        remove_runtime(workspace, os.getpid())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
