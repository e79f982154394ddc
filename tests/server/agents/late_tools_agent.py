"""A tiny ACP agent that connects a session's tools only after it has opened the session.

Tells of it with `toy/tools_ready`; a prompt is answered with what it had by then. With `--never` it
does not tell. Standard library only.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

AFTER_S = 0.1


class Agent:
    """The agent, and whether its tools are there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.has_tools = False

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def connect(self) -> None:
        self.has_tools = True
        if "--never" not in sys.argv:
            self.send({"method": "toy/tools_ready", "params": {"sessionId": "s"}})

    def answer(self, method: str) -> dict[str, Any]:
        if method == "initialize":
            return {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}}
        if method == "session/new":
            threading.Timer(AFTER_S, self.connect).start()
            return {"sessionId": "s"}
        said = {"type": "text", "text": f"has tools: {self.has_tools}"}
        update = {"sessionUpdate": "agent_message_chunk", "content": said}
        self.send({"method": "session/update", "params": {"sessionId": "s", "update": update}})
        return {"stopReason": "end_turn"}


if __name__ == "__main__":
    agent = Agent()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            agent.send({"id": request["id"], "result": agent.answer(request["method"])})
