"""Plays a recorded conversation with `codex app-server` against our client.

A recording is JSON lines `{"from": "client"|"agent", "msg": {...}}`. What the recorded client asked
is asked by our client (by itself where it does so: an interrupt after a question, the cleaning of
commands), and the recorded answers go to our ids. What Codex says is fed as it is. Our client
answers Codex's questions in its own way, so from there on the recording only shows that nothing
breaks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupx_server.agents.codex import CodexClient
from groupx_server.agents.codex_turn import CodexTurn
from groupx_server.agents.signals import Activity, CallEnded, PromptAnswered
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ReasoningDelta,
    TerminalEvent,
    ToolCall,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    UsageReported,
    Waiting,
)
from groupx_shared.errors import AgentError

RECORDINGS = Path(__file__).parent / "recordings" / "codex"
_OURS = frozenset({"turn/interrupt", "thread/backgroundTerminals/clean"})


@dataclass
class PlayedTurn:
    """One turn as our client understood it."""

    turn: CodexTurn
    events: list[NativeEvent] = field(default_factory=list)

    @property
    def terminal(self) -> TerminalEvent:
        last = self.events[-1]
        assert isinstance(last, TurnCompleted | TurnCancelled | TurnFailed)
        return last

    @property
    def failure(self) -> TurnFailed:
        assert isinstance(self.terminal, TurnFailed)
        return self.terminal

    @property
    def text(self) -> str:
        """The answer as it stands at the end."""
        if self.terminal.content is not None:
            return self.terminal.content
        return "".join(e.text for e in self.events if isinstance(e, ContentDelta))

    @property
    def reasoning(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ReasoningDelta))

    @property
    def reasons(self) -> list[str]:
        return [e.reason for e in self.events if isinstance(e, Waiting)]

    @property
    def tools(self) -> list[ToolProgress]:
        return [e for e in self.events if isinstance(e, ToolProgress)]

    @property
    def ended_tools(self) -> list[ToolCall]:
        return [progress.call for progress in self.tools if progress.phase == "ended"]

    @property
    def usage(self) -> dict[str, int | float | str]:
        told = [e.usage for e in self.events if isinstance(e, UsageReported)]
        return told[-1] if told else {}


@dataclass
class Played:
    """What came of a whole recording."""

    turns: list[PlayedTurn] = field(default_factory=list)
    answers: dict[str, list[Any]] = field(default_factory=dict)
    """Answers to calls that belong to no turn, by method."""
    replies: list[dict[str, Any]] = field(default_factory=list)
    """What we answered to Codex's requests."""
    stray: list[NativeEvent] = field(default_factory=list)
    """Events given while no turn was in flight; there must never be any."""
    refused: int = 0
    """Prompts that our client does not send, since a turn is in flight."""


class Player:
    """Plays one recording; use `play(name)`."""

    def __init__(self) -> None:
        self.client = CodexClient("Codex")
        self.played = Played()
        self.sent: list[dict[str, Any]] = []
        self._ids: dict[int, int | None] = {}
        """Recorded id of a request to ours; None when we do not ask."""
        self._waiting: dict[str, list[int]] = {}
        """Requests that we sent by ourselves and the recording has not come to yet."""
        self._methods: dict[int, str] = {}
        self._open: dict[str, PlayedTurn] = {}
        self._over: set[str] = set()

    def play(self, name: str) -> Played:
        for line in (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines():
            step = json.loads(line)
            if step["from"] == "client":
                self._client_says(step["msg"])
            else:
                self._codex_says(step["msg"])
        for thread_id in list(self._over):
            self._finish(thread_id)
        return self.played

    # --- the recorded client ----------------------------------------------------------------

    def _client_says(self, wanted: dict[str, Any]) -> None:
        method = wanted.get("method")
        if method is None:
            return  # its answer to a request of Codex; ours was given at once
        if method == "initialized":
            self.client.initialized()
            assert self._flush()[-1] == {"method": "initialized"}
            return
        self._ids[wanted["id"]] = self._ask(method, wanted.get("params", {}))

    def _ask(self, method: str, params: dict[str, Any]) -> int | None:
        thread_id = params.get("threadId", "")
        match method:
            case "initialize":
                self.client.initialize()
            case "turn/start":
                if not self._prompt(thread_id, params):
                    return None
            case "turn/steer":
                return self._steer(thread_id, params)
            case "turn/interrupt":
                self.client.cancel(thread_id)
            case _ if method not in _OURS:
                self.client.call(method, params)
        for message in self._flush():
            if message.get("method") == method and method in ("turn/start", "turn/interrupt"):
                assert message["params"]["threadId"] == thread_id
                assert message["params"].get("turnId") == params.get("turnId")
        return self._take(method)

    def _prompt(self, thread_id: str, params: dict[str, Any]) -> bool:
        if thread_id in self._over:
            self._finish(thread_id)
        try:
            turn = self.client.prompt(thread_id, params.get("input", [{"text": ""}])[0]["text"])
        except AgentError:
            self.played.refused += 1
            return False
        self._open[thread_id] = PlayedTurn(turn)
        self.played.turns.append(self._open[thread_id])
        return True

    def _steer(self, thread_id: str, params: dict[str, Any]) -> int | None:
        call_id = self.client.steer(thread_id, params["input"][0]["text"])
        if call_id is not None:
            self._flush()
            assert self.sent[-1]["params"]["input"] == params["input"]
        return call_id

    def _take(self, method: str) -> int | None:
        waiting = self._waiting.get(method, [])
        return waiting.pop(0) if waiting else None

    def _flush(self) -> list[dict[str, Any]]:
        messages = [json.loads(line) for line in self.client.data_to_send().splitlines()]
        for message in messages:
            assert "jsonrpc" not in message
            if "method" in message and "id" in message:
                self._methods[message["id"]] = message["method"]
                self._waiting.setdefault(message["method"], []).append(message["id"])
        self.sent.extend(messages)
        return messages

    # --- Codex ------------------------------------------------------------------------------

    def _codex_says(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            ours = self._ids.get(message["id"])
            if ours is None:
                return
            message = {**message, "id": ours}
        for signal in self.client.receive(json.dumps(message).encode()):
            match signal:
                case CallEnded(call_id=call_id, answer=answer):
                    self.played.answers.setdefault(self._methods[call_id], []).append(answer)
                case PromptAnswered(session_id=thread_id):
                    self._over.add(thread_id)
                case Activity(session_id=thread_id, events=events):
                    played = self._open.get(thread_id)
                    (played.events if played is not None else self.played.stray).extend(events)
                case _:
                    pass
        sent = self._flush()
        if "method" in message and "id" in message:
            assert sent[0]["id"] == message["id"]
            assert ("result" in sent[0]) != ("error" in sent[0])
            self.played.replies.append(sent[0])

    def _finish(self, thread_id: str) -> None:
        self._over.discard(thread_id)
        self._open.pop(thread_id).events.extend(self.client.finish(thread_id))
