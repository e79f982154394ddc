"""Plays a recorded conversation against our client and compares what both sides say.

A recording is JSON lines `{"from": "client"|"agent", "msg": {...}}`. Each recorded client message
is made by a call of our client, and must come out as recorded (ids included); each agent message
is fed to it. A turn ends as in life: late updates up to the next client message still belong to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupx_server.agents.acp import AcpClient
from groupx_server.agents.acp_facts import Capabilities, SessionFacts
from groupx_server.agents.acp_setup import Step
from groupx_server.agents.acp_turn import AcpTurn, Quirks
from groupx_server.agents.signals import CallEnded, PromptAnswered
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ReasoningDelta,
    TerminalEvent,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
)

RECORDINGS = Path(__file__).parent / "recordings"
_TERMINALS = (TurnCompleted, TurnCancelled, TurnFailed)


@dataclass
class PlayedTurn:
    """One turn as our client understood it."""

    turn: AcpTurn
    events: list[NativeEvent] = field(default_factory=list)

    @property
    def terminal(self) -> TerminalEvent:
        last = self.events[-1]
        assert isinstance(last, _TERMINALS)
        return last

    @property
    def failure(self) -> TurnFailed:
        assert isinstance(self.terminal, TurnFailed)
        return self.terminal

    @property
    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ContentDelta))

    @property
    def reasoning(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ReasoningDelta))

    @property
    def tools(self) -> list[ToolProgress]:
        return [e for e in self.events if isinstance(e, ToolProgress)]


@dataclass
class Played:
    """What came of a whole recording."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    facts: SessionFacts = field(default_factory=SessionFacts)
    turns: list[PlayedTurn] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    stray: list[NativeEvent] = field(default_factory=list)
    """Events given while no turn was in flight; there must never be any."""


class Player:
    """Plays one recording; use `play(name)`."""

    def __init__(self, quirks: Quirks | None = None) -> None:
        self.client = AcpClient("the agent", quirks)
        self.played = Played()
        self._answered: str | None = None
        self._open: PlayedTurn | None = None

    def play(self, name: str) -> Played:
        lines = (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines()
        for line in lines:
            step = json.loads(line)
            if step["from"] == "client":
                self._client_says(step["msg"])
            else:
                self._agent_says(step["msg"])
        self._finish_turn()
        return self.played

    def _client_says(self, wanted: dict[str, Any]) -> None:
        params = wanted.get("params", {})
        if wanted.get("method") != "session/cancel" and "method" in wanted:
            self._finish_turn()
        match wanted.get("method"):
            case "initialize":
                self.client.initialize()
            case "session/new":
                self.client.open_session("session/new", Path(params["cwd"]), [])
            case "session/load" | "session/resume" as method:
                session_id = params["sessionId"]
                self.client.open_session(method, Path(params["cwd"]), [], session_id)
                self.client.adopt(session_id)
            case "session/prompt":
                turn = self.client.prompt(params["sessionId"], params["prompt"][0]["text"])
                self._open = PlayedTurn(turn)
                self.played.turns.append(self._open)
            case "session/cancel":
                self.client.cancel(params["sessionId"])
            case "session/set_mode":
                self.client.apply(
                    "session-1", Step("session/set_mode", {"modeId": params["modeId"]})
                )
            case "session/set_config_option":
                step = Step(
                    "session/set_config_option",
                    {"configId": params["configId"], "value": params["value"]},
                )
                self.client.apply("session-1", step)
            case None:
                pass  # an answer to the agent's request: compared below
        self._compare(wanted)

    def _compare(self, wanted: dict[str, Any]) -> None:
        sent = [json.loads(line) for line in self.client.data_to_send().splitlines()]
        if "method" in wanted:
            assert wanted["method"] in [message.get("method") for message in sent]
            ours = next(m for m in sent if m.get("method") == wanted["method"])
            if wanted["method"] == "initialize":
                ours["params"].pop("clientInfo")
                wanted["params"].pop("clientInfo")
            assert ours == wanted

    def _agent_says(self, message: dict[str, Any]) -> None:
        for event in self.client.receive(json.dumps(message).encode()):
            match event:
                case CallEnded(answer=answer):
                    self._call_ended(answer)
                case PromptAnswered(session_id=session_id):
                    self._answered = session_id
                case _:
                    events = getattr(event, "events", ())
                    if self._open is None:
                        self.played.stray.extend(events)
                    else:
                        self._open.events.extend(events)
        if "method" in message and "id" in message:
            self._check_reply(message)

    def _check_reply(self, request: dict[str, Any]) -> None:
        """A request of the agent has its answer at once, before anything else is sent."""
        reply = json.loads(self.client.data_to_send().splitlines()[0])
        assert reply["id"] == request["id"]
        if request["method"] == "session/request_permission":
            assert reply["result"] == {"outcome": {"outcome": "cancelled"}}
        else:
            assert reply["error"]["code"] == -32601

    def _call_ended(self, answer: Any) -> None:
        self.played.answers.append(answer)
        if isinstance(answer, dict) and "protocolVersion" in answer:
            self.played.capabilities = Capabilities.read(answer, "the agent")
            return
        facts = SessionFacts.read(answer)
        if facts.modes or facts.choices or facts.session_id:
            self.played.facts = facts
        if facts.session_id is not None:
            self.client.adopt(facts.session_id)

    def _finish_turn(self) -> None:
        if self._open is not None and self._answered is not None:
            self._open.events.extend(self.client.finish(self._answered))
            self._open = self._answered = None
