"""A loopback model server that speaks the OpenAI Responses API, in the test's own process.

`async with FakeResponses() as model:` then `model.plan(...)` says how the next requests are
answered, one `Behaviour` each; without a plan it streams a short text. A request that brings the
result of a tool is answered with that result, so that a test sees what the agent sent back.
`model.requests` holds the bodies.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from support.loopback_http import HttpRequest, LoopbackServer, Responder

Behaviour = Callable[["Reply"], Awaitable[None]]
PIECES: Final = 3
"""Into so many deltas a text is cut."""
_USAGE: Final = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 1},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 15,
}


class Reply:
    """One streamed answer; behaviours call its methods."""

    def __init__(self, request: dict[str, Any], responder: Responder) -> None:
        self.request = request
        self.responder = responder
        self._ids = itertools.count()
        self._output: list[dict[str, Any]] = []
        self._has_begun = False

    async def event(self, kind: str, **fields: Any) -> None:
        """Send one server-sent event."""
        if not self._has_begun:
            self._has_begun = True
            await self.responder.begin("text/event-stream")
            await self.event("response.created", response={"id": "resp_1", "output": []})
        data = json.dumps({"type": kind, **fields})
        await self.responder.chunk(f"event: {kind}\ndata: {data}\n\n".encode())

    async def message(self, text: str, *, is_whole: bool = True) -> None:
        """Stream a message; one that is not whole never completes."""
        item = {"id": self._new_id("msg"), "type": "message", "role": "assistant"}
        await self._added(item, content=[])
        for piece in _pieces(text):
            await self.event(
                "response.output_text.delta",
                item_id=item["id"],
                output_index=len(self._output),
                content_index=0,
                delta=piece,
            )
        if is_whole:
            part = {"type": "output_text", "text": text, "annotations": []}
            await self._done({**item, "status": "completed", "content": [part]})

    async def reasoning(self, summary: str) -> None:
        """Stream a reasoning summary."""
        item = {"id": self._new_id("rs"), "type": "reasoning"}
        place = {"item_id": item["id"], "output_index": len(self._output), "summary_index": 0}
        await self._added(item, summary=[])
        part = {"type": "summary_text", "text": ""}
        await self.event("response.reasoning_summary_part.added", **place, part=part)
        for piece in _pieces(summary):
            await self.event("response.reasoning_summary_text.delta", **place, delta=piece)
        await self._done({**item, "summary": [{"type": "summary_text", "text": summary}]})

    async def call(self, name: str, arguments: dict[str, Any], namespace: str | None) -> None:
        """Call a tool of the agent."""
        item = {
            "id": self._new_id("fc"),
            "type": "function_call",
            "call_id": self._new_id("call"),
            "name": name,
            **({} if namespace is None else {"namespace": namespace}),
        }
        await self._added(item, arguments="")
        await self._done({**item, "status": "completed", "arguments": json.dumps(arguments)})

    async def completed(self, *, is_cut: bool = False) -> None:
        """End the answer; one that is cut, as at the model's limit."""
        response = {"id": "resp_1", "output": self._output, "usage": _USAGE}
        if is_cut:
            why = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
            await self.event("response.incomplete", response={**response, **why})
        else:
            await self.event("response.completed", response=response)
        await self.responder.end()

    def tools(self) -> list[tuple[str, str | None]]:
        """Every tool that was offered, with its namespace."""
        found: list[tuple[str, str | None]] = []
        for tool in self.request.get("tools", []):
            inner = tool.get("tools")
            if inner is None:
                found.append((tool.get("name", ""), None))
            else:
                found.extend((each["name"], tool["name"]) for each in inner)
        return found

    async def _added(self, item: dict[str, Any], **empty: Any) -> None:
        shown = {**item, "status": "in_progress", **empty}
        index = len(self._output)
        await self.event("response.output_item.added", output_index=index, item=shown)

    async def _done(self, item: dict[str, Any]) -> None:
        index = len(self._output)
        await self.event("response.output_item.done", output_index=index, item=item)
        self._output.append(item)

    def _new_id(self, kind: str) -> str:
        return f"{kind}_{id(self)}_{next(self._ids)}"


class FakeResponses(LoopbackServer):
    """The server; `base_url` is what an agent is configured with."""

    def __init__(self) -> None:
        super().__init__(self._handle)
        self.requests: list[dict[str, Any]] = []
        self._plan: list[Behaviour] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def plan(self, *behaviours: Behaviour) -> None:
        """Answer the next requests so, in this order."""
        self._plan.extend(behaviours)

    def forget_plan(self) -> None:
        """Answer as without a plan again."""
        self._plan.clear()

    def said(self) -> str:
        """Everything that the last request told the model, as one text."""
        return json.dumps(self.requests[-1]["input"], ensure_ascii=False)

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        if not request.path.endswith("/responses"):
            await respond.whole(404, b"{}")
            return
        self.requests.append(request.json)
        reply = Reply(request.json, respond)
        result = tool_result(request.json)
        if result is not None:
            await text(f"The tool said: {result}")(reply)
            return
        behave = self._plan.pop(0) if self._plan else text("Hello from the fake.")
        await behave(reply)


def tool_result(request: dict[str, Any]) -> str | None:
    """What a tool gave back, when the request ends with that."""
    last = request["input"][-1] if request.get("input") else {}
    if last.get("type") != "function_call_output":
        return None
    output = last.get("output")
    return output if isinstance(output, str) else json.dumps(output)


def text(*messages: str) -> Behaviour:
    """Stream messages and end."""

    async def behave(reply: Reply) -> None:
        for message in messages:
            await reply.message(message)
        await reply.completed()

    return behave


def thought(summary: str, message: str) -> Behaviour:
    """Stream a reasoning summary, then a message, and end."""

    async def behave(reply: Reply) -> None:
        await reply.reasoning(summary)
        await reply.message(message)
        await reply.completed()

    return behave


def shell(command: str, **arguments: Any) -> Behaviour:
    """Run a command with the agent's own shell tool."""

    async def behave(reply: Reply) -> None:
        names = [name for name, _ in reply.tools()]
        if "exec_command" in names:
            await reply.call("exec_command", {"cmd": command, **arguments}, None)
        else:
            await reply.call("shell", {"command": ["bash", "-lc", command]}, None)
        await reply.completed()

    return behave


def tool_of(namespace: str, name: str, arguments: dict[str, Any]) -> Behaviour:
    """Call a tool of an MCP server; when it is not offered, say what is."""

    async def behave(reply: Reply) -> None:
        offered = [tool for tool in reply.tools() if tool[1] is not None and namespace in tool[1]]
        if (match := next((tool for tool in offered if tool[0] == name), None)) is None:
            await reply.message(f"no such tool; offered: {reply.tools()}")
        else:
            await reply.call(name, arguments, match[1])
        await reply.completed()

    return behave


def lost(beginning: str) -> Behaviour:
    """Begin to say something, then drop the connection."""

    async def behave(reply: Reply) -> None:
        await reply.message(beginning, is_whole=False)

    return behave


def refused(status: int, message: str) -> Behaviour:
    """Answer with an HTTP error."""

    async def behave(reply: Reply) -> None:
        body = {"error": {"message": message, "type": "fake", "code": None}}
        await reply.responder.whole(status, json.dumps(body).encode())

    return behave


def endless(beginning: str) -> Behaviour:
    """Say something and then nothing, until the client goes away."""

    async def behave(reply: Reply) -> None:
        await reply.message(beginning, is_whole=False)
        await reply.responder.client_gone()

    return behave


def _pieces(whole: str) -> list[str]:
    size = max(1, -(-len(whole) // PIECES))
    return [whole[start : start + size] for start in range(0, len(whole), size)]
