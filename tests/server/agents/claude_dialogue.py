"""Plays a recorded conversation with Claude Code against our client.

A recording is JSON lines `{"from": "client"|"agent"|"stderr"|"exit", "msg": {...}}`. What the
recorded client asked is asked by our client, and the recorded answers and ids are put in the place
of ours. What Claude Code says is fed as it is. Our client answers Claude Code's questions in its
own way, so from there on a recording only shows that nothing breaks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupx_server.agents.claude import ClaudeClient
from groupx_server.agents.claude_turn import ClaudeTurn
from groupx_server.agents.jsonrpc import ErrorResponse, Noise
from groupx_server.agents.signals import Activity, CallEnded, PromptAnswered
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    TerminalEvent,
    ToolCall,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
    Waiting,
)

RECORDINGS = Path(__file__).parent / "recordings" / "claude"


@dataclass
class PlayedTurn:
    """One turn as our client understood it."""

    turn: ClaudeTurn
    events: list[NativeEvent] = field(default_factory=list)
    is_over: bool = False

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
    def streamed(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ContentDelta))

    @property
    def text(self) -> str:
        """The answer as it stands at the end."""
        content = self.terminal.content
        return self.streamed if content is None else content

    @property
    def reasoning(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ReasoningDelta))

    @property
    def progress(self) -> list[ToolProgress]:
        return [event for event in self.events if isinstance(event, ToolProgress)]

    @property
    def calls(self) -> list[ToolCall]:
        """Each call in its last state, in the order of their beginnings."""
        last: dict[str, ToolCall] = {}
        for event in self.progress:
            last[event.call.call_id] = event.call
        return list(last.values())

    @property
    def plans(self) -> list[PlanUpdated]:
        return [event for event in self.events if isinstance(event, PlanUpdated)]

    @property
    def waits(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, Waiting)]

    @property
    def usage(self) -> dict[str, Any]:
        told = [event.usage for event in self.events if isinstance(event, UsageReported)]
        last = self.terminal
        return dict(last.usage) if isinstance(last, TurnCompleted) else dict((told or [{}])[-1])


@dataclass
class Played:
    """What came of a whole recording."""

    turns: list[PlayedTurn] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    noise: list[Noise] = field(default_factory=list)
    stray: list[NativeEvent] = field(default_factory=list)
    """Events given while no turn was in flight; there must never be any."""
    stderr: str = ""
    model: str = ""
    """What the client knows at the end."""

    @property
    def refused(self) -> list[ErrorResponse]:
        return [answer for answer in self.answers if isinstance(answer, ErrorResponse)]

    def replies(self) -> list[dict[str, Any]]:
        """What our client answered to Claude Code's own requests."""
        return [m["response"] for m in self.sent if m["type"] == "control_response"]


class Player:
    """Plays one recording; use `play(name)`."""

    def __init__(self) -> None:
        self.played = Played()
        self._client = ClaudeClient("", Path("/"), is_new=True)
        self._ids: dict[str, str] = {}
        self._open: PlayedTurn | None = None

    def play(self, name: str) -> Played:
        lines = (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines()
        steps = [json.loads(line) for line in lines]
        self._client = self._make_client(steps)
        for step in steps:
            match step["from"]:
                case "client":
                    self._client_says(step["msg"])
                case "agent":
                    self._agent_says(step["msg"])
                case "stderr":
                    self.played.stderr += step["msg"]["text"] + "\n"
        self.played.model = self._client.model
        return self.played

    def _make_client(self, steps: list[dict[str, Any]]) -> ClaudeClient:
        inits = [s["msg"] for s in steps if s["msg"].get("subtype") == "init"]
        init = inits[0] if inits else {"session_id": "session-1", "cwd": "/workspace"}
        return ClaudeClient(init["session_id"], Path(init["cwd"]), is_new=True)

    # --- the client's side ------------------------------------------------------------------

    def _client_says(self, wanted: dict[str, Any]) -> None:
        match wanted["type"]:
            case "user" if self._open is not None and not self._open.is_over:
                self._client.steer(wanted["message"]["content"][0]["text"])
            case "user":
                text = wanted["message"]["content"][0]["text"]
                turn = self._client.prompt(self._client.session_id, text)
                self._open = PlayedTurn(turn)
                self.played.turns.append(self._open)
            case "control_request":
                self._request(wanted["request"])
            case _:
                return  # an answer to Claude Code's question: ours is another one
        self._take_ids(wanted)

    def _request(self, wanted: dict[str, Any]) -> None:
        fields = dict(wanted)
        subtype = fields.pop("subtype")
        if subtype == "interrupt":
            self._client.cancel(self._client.session_id)
        else:
            self._client.request(subtype, **fields)

    def _take_ids(self, wanted: dict[str, Any]) -> None:
        """Ours for each id of the recording; what was sent must be of the recorded kind."""
        sent = self._sent()
        key = "uuid" if wanted["type"] == "user" else "request_id"
        if not sent or wanted.get(key) is None:
            return
        ours = sent[-1]
        assert ours["type"] == wanted["type"]
        self._ids[wanted[key]] = ours[key]
        if wanted["type"] == "user":
            assert ours["message"]["content"][0]["text"].lstrip() == (
                wanted["message"]["content"][0]["text"].lstrip()
            )
            assert ours.get("priority") == wanted.get("priority")
        else:
            assert ours["request"].items() >= wanted["request"].items()

    def _sent(self) -> list[dict[str, Any]]:
        sent = [json.loads(line) for line in self._client.data_to_send().splitlines()]
        self.played.sent.extend(sent)
        return sent

    # --- Claude Code's side -----------------------------------------------------------------

    def _agent_says(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False)
        for theirs, ours in self._ids.items():
            line = line.replace(f'"{theirs}"', f'"{ours}"')
        for signal in self._client.receive(line.encode()):
            match signal:
                case CallEnded(answer=answer):
                    self.played.answers.append(answer)
                case Noise():
                    self.played.noise.append(signal)
                case Activity(events=events):
                    self._heard(list(events))
                case PromptAnswered():
                    self._finish()
        self._sent()
        if message["type"] == "control_request":
            assert self.played.replies()[-1]["request_id"] == message["request_id"]

    def _heard(self, events: list[NativeEvent]) -> None:
        if self._open is None or self._open.is_over:
            self.played.stray.extend(events)
        else:
            self._open.events.extend(events)

    def _finish(self) -> None:
        assert self._open is not None
        assert not self._open.is_over
        self._open.events.extend(self._client.finish(self._client.session_id))
        self._open.is_over = True


def check_shape(played: PlayedTurn) -> None:
    """What holds for the stream of every turn."""
    kinds = [type(event) for event in played.events]
    assert kinds.count(TurnStarted) == 1
    assert kinds[0] is TurnStarted
    terminals = [k for k in kinds if k in (TurnCompleted, TurnCancelled, TurnFailed)]
    assert len(terminals) == 1
    assert kinds[-1] is terminals[0]
    phases: dict[str, list[str]] = {}
    for event in played.progress:
        phases.setdefault(event.call.call_id, []).append(event.phase)
    for told in phases.values():
        assert told[0] == "started"
        assert told[-1] == "ended"
        assert told.count("started") == 1
        assert "updated" not in told[told.index("ended") :]
