"""What the fake agents talk through: lines on stdout, and the room's tools over HTTP.

Standard library only: they are run as programs of their own.
"""

from __future__ import annotations

import json
import sys
import threading
import urllib.request
import uuid
from typing import Any

WAIT_S = 300.0  # longer than any test; an abandoned agent still ends by itself
TOOL_TIMEOUT_S = 70.0


class Tools:
    """The room's tools over HTTP, as any MCP client calls them."""

    def __init__(self, server: dict[str, Any]) -> None:
        self._url = server["url"]
        self._headers = {header["name"]: header["value"] for header in server["headers"]}
        self._count = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "scripted", "version": "1"},
        }
        self._post("initialize", hello)
        self._post("notifications/initialized", {}, has_answer=False)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The tool's JSON; a refusal is `{"code": …}`."""
        result = self._post("tools/call", {"name": tool, "arguments": arguments})["result"]
        answer: dict[str, Any] = json.loads(result["content"][0]["text"])
        return answer

    def _post(self, method: str, params: dict[str, Any], *, has_answer: bool = True) -> Any:
        self._count += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if has_answer:
            message["id"] = self._count
        headers = {
            **self._headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        data = json.dumps(message).encode()
        request = urllib.request.Request(self._url, data, headers)  # loopback, by the server
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=TOOL_TIMEOUT_S) as response:
            body = response.read()
        return json.loads(body) if has_answer else None


class Wire:
    """stdout, one message at a time, and the answers to our own requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[int, threading.Event] = {}
        self._results: dict[int, Any] = {}
        self._next_id = 0  # real agents number from 0

    def raw(self, data: bytes) -> None:
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def update(self, session: str, **update: Any) -> None:
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        request_id = self._next_id
        self._next_id += 1
        event = self._answers[request_id] = threading.Event()
        self.send({"id": request_id, "method": method, "params": params})
        event.wait(WAIT_S)
        return self._results.get(request_id)

    def answered(self, message: dict[str, Any]) -> None:
        self._results[message["id"]] = message.get("result", message.get("error"))
        if message["id"] in self._answers:
            self._answers[message["id"]].set()


class ControlWire:
    """The same in Claude Code's lines, where every line has a type and an id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[str, threading.Event] = {}
        self._results: dict[str, Any] = {}

    def raw(self, data: bytes) -> None:
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, kind: str, **message: Any) -> None:
        self.raw(json.dumps({"type": kind, "uuid": str(uuid.uuid4()), **message}).encode() + b"\n")

    def answer(self, request_id: Any, response: dict[str, Any]) -> None:
        body = {"subtype": "success", "request_id": request_id, "response": response}
        self.send("control_response", response=body)

    def refuse(self, request_id: Any, error: str, code: str) -> None:
        body = {"subtype": "error", "request_id": request_id, "error": error, "error_code": code}
        self.send("control_response", response=body)

    def ask(self, request: dict[str, Any]) -> Any:
        request_id = str(uuid.uuid4())
        event = self._answers[request_id] = threading.Event()
        self.send("control_request", request_id=request_id, request=request)
        event.wait(WAIT_S)
        return self._results.get(request_id)

    def answered(self, response: dict[str, Any]) -> None:
        self._results[response["request_id"]] = response
        if response["request_id"] in self._answers:
            self._answers[response["request_id"]].set()
