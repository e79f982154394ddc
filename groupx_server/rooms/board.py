"""What each agent is doing, in the same words everywhere: cards, live events, CLI.

Combines the host's state (process facts) with the lane's (turns) and with what the agent's own
errors say of it (sign-in, limits). Invariants: only facts, nothing guessed; only what changed is
published. What happens to a program is told at once, and so is the first change of a turn; what
follows on that within a moment leaves together. An agent that was taken out of the config keeps its
card while its last turn runs.
"""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, cast

from groupx_server.domain.condition import Condition
from groupx_server.ledger.times import parse_iso, to_iso
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.live import Outlet, Speaker, live_event
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_shared.ids import MAIN_ROOM, SYSTEM, new_id
from groupx_shared.wire.agents import AgentInfo, AgentState
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import AgentsChangedBody, AgentStatusBody
from groupx_shared.wire.events import EventType

LONGEST_LIMIT_S: Final = 40 * 86_400.0
"""A limit that is said to last longer (a month is the longest known) has no end that one can
believe."""


WINDOW_S: Final = 0.02
"""Changes of one card that follow each other faster leave as one: a short turn is queued, begun
and ended within it, and nobody reads three words in a fiftieth of a second."""

_OBSTACLES: Final = frozenset({"failed", "retrying", "needs_login", "rate_limited"})


@dataclass(frozen=True, slots=True)
class Card:
    """The changing part of an agent's card. Times are seconds since 1970."""

    host_state: str = "stopped"
    detail: str | None = None
    retry_at_s: float | None = None
    agent_name: str | None = None
    agent_version: str | None = None
    model: str = ""
    """As the agent told; empty: it did not."""
    queued_turns: int = 0
    active_turn_id: str | None = None
    is_waiting: bool = False
    last_error: str | None = None
    condition: Condition | None = None

    @property
    def state(self) -> AgentState:
        """One word: a running turn's, else what stands in the way, else the program's."""
        if self.active_turn_id is not None and self.host_state != "starting":
            return "waiting" if self.is_waiting else "working"
        if self.condition is not None and self.host_state not in ("starting", "retrying"):
            return self.condition.kind
        return cast("AgentState", self.host_state)

    @property
    def sentence(self) -> str | None:
        """Why it is so: the error that the state comes from, else what the program does."""
        if self.state in ("needs_login", "rate_limited"):
            return self.last_error or self.detail
        return self.detail or self.last_error

    @property
    def until_iso(self) -> str | None:
        """When the state ends by itself, if that is known."""
        until_s = self.retry_at_s if self.state == "retrying" else None
        if self.condition is not None and self.state == self.condition.kind:
            until_s = self.condition.until_s
        return None if until_s is None else to_iso(datetime.fromtimestamp(until_s, UTC))


class Board:
    """Cards of all agents."""

    def __init__(self, roster: Roster, outlet: Outlet, clock: Clock) -> None:
        self._roster = roster
        self._outlet = outlet
        self._clock = clock
        self._entries: dict[str, RosterEntry] = {}
        self._cards: dict[str, Card] = {}
        self._told: dict[str, Card] = {}
        """What was published last of a card, while its window lasts."""
        self._take(roster)

    def update(self, actor_id: str, **changes: object) -> None:
        """Change fields of a card; publish when something did change."""
        card = self._cards.get(actor_id)
        if card is None or all(getattr(card, name) == new for name, new in changes.items()):
            return  # every delta passes here
        changed = replace(card, **changes)  # type: ignore[arg-type]  # names checked by replace
        self._cards[actor_id] = changed
        told = self._told.get(actor_id)
        if told is None or told.host_state != changed.host_state:
            self._publish(actor_id, changed)

    def count_queued(self, actor_id: str, difference: int) -> None:
        """Add to the number of waiting turns."""
        card = self._cards.get(actor_id)
        if card is not None:
            self.update(actor_id, queued_turns=max(0, card.queued_turns + difference))

    def turn_ended(self, actor_id: str, error: str | None, condition: Condition | None) -> None:
        """Say what the last turn told of the agent. A limit that ends is lifted by itself."""
        if condition is not None and condition.until_s is not None:
            left_s = condition.until_s - parse_iso(self._clock.now()).timestamp()
            if not 0 < left_s < LONGEST_LIMIT_S:
                condition = replace(condition, until_s=None) if left_s > 0 else None
            else:
                loop = asyncio.get_running_loop()
                loop.call_later(left_s, self._lift, actor_id, condition)
        self.update(actor_id, last_error=error, condition=condition)

    def sign_in(self, actor_id: str, problem: str | None) -> None:
        """The program told at its start that nobody is signed in (`problem`), or that somebody
        is."""
        card = self._cards.get(actor_id)
        if problem is not None:
            self.update(actor_id, last_error=problem, condition=Condition("needs_login"))
        elif card is not None and card.condition == Condition("needs_login"):
            self.update(actor_id, last_error=None, condition=None)

    def replace(self, roster: Roster, leaving: frozenset[str]) -> None:
        """Take over another roster; tell everybody. `leaving` still have a running turn."""
        for actor_id in self._entries.keys() - roster.entries.keys() - leaving:
            del self._entries[actor_id], self._cards[actor_id]
        self._roster = roster
        self._take(roster)
        self.publish_all()

    def vacate(self, actor_id: str) -> None:
        """The agent's program and lane are gone for good (or until it is switched on again)."""
        if actor_id not in self._cards:
            return
        if actor_id in self._roster.entries:
            kept = self._cards[actor_id].queued_turns
            self._cards[actor_id] = Card(host_state="disabled", queued_turns=kept)
        else:
            del self._entries[actor_id], self._cards[actor_id]
        self.publish_all()

    def name(self, actor_id: str) -> str:
        """What an agent is called."""
        entry = self._entries.get(actor_id)
        return actor_id if entry is None else entry.display_name

    def obstacle(self, actor_id: str) -> str | None:
        """What a sender should know before the agent tries again; None when it is fine."""
        card = self._cards.get(actor_id)
        if card is None or card.state not in _OBSTACLES:
            return None
        return card.sentence or card.state

    def info(self, entry: RosterEntry) -> AgentInfo:
        """The whole card of one agent."""
        card = self._cards[entry.actor_id]
        return AgentInfo(
            actor_id=entry.actor_id,
            display_name=entry.display_name,
            driver=entry.driver,
            enabled=entry.enabled,
            status=card.state,
            detail=card.sentence,
            until_iso=card.until_iso,
            cwd=str(entry.spec.cwd),
            command=shlex.join(entry.spec.argv) or None,
            agent_name=card.agent_name,
            agent_version=card.agent_version,
            model=card.model or entry.model or None,
            queued_turns=card.queued_turns,
            active_turn_id=card.active_turn_id,
            is_default=entry.actor_id == self._roster.default_actor_id,
        )

    def all(self) -> tuple[AgentInfo, ...]:
        """Every agent's card: in config order, then those that are leaving."""
        return tuple(self.info(entry) for entry in self._entries.values())

    def publish_all(self) -> None:
        """Tell everybody who is here now."""
        speaker = Speaker(SYSTEM, "GroupX", MAIN_ROOM, new_id("corr"))
        body = AgentsChangedBody(agents=self.all())
        self._send(speaker, EventType.AGENTS_CHANGED, body, "agents")

    def _take(self, roster: Roster) -> None:
        leaving = {k: e for k, e in self._entries.items() if k not in roster.entries}
        self._entries = {**roster.entries, **leaving}
        for actor_id, entry in roster.entries.items():
            card = self._cards.get(actor_id)
            if card is None or card.host_state == "disabled":
                queued = 0 if card is None else card.queued_turns
                state = "stopped" if entry.enabled else "disabled"
                self._cards[actor_id] = Card(host_state=state, queued_turns=queued)

    def _lift(self, actor_id: str, condition: Condition) -> None:
        """The limit is over, unless a later turn said something else."""
        card = self._cards.get(actor_id)
        if card is not None and card.condition is condition:
            self.update(actor_id, condition=None, last_error=None)

    def _publish(self, actor_id: str, card: Card) -> None:
        if actor_id not in self._told:
            asyncio.get_running_loop().call_later(WINDOW_S, self._end_window, actor_id)
        self._told[actor_id] = card
        self._tell(self._entries[actor_id], card)

    def _end_window(self, actor_id: str) -> None:
        told, card = self._told.pop(actor_id), self._cards.get(actor_id)
        if card is not None and card != told:
            self._publish(actor_id, card)

    def _tell(self, entry: RosterEntry, card: Card) -> None:
        speaker = Speaker(entry.actor_id, entry.display_name, MAIN_ROOM, new_id("corr"))
        body = AgentStatusBody(
            actor_id=entry.actor_id,
            display_name=entry.display_name,
            status=card.state,
            detail=card.sentence,
            until_iso=card.until_iso,
            queued_turns=card.queued_turns,
            active_turn_id=card.active_turn_id,
        )
        self._send(speaker, EventType.AGENT_STATUS, body, f"status:{entry.actor_id}")

    def _send(self, speaker: Speaker, kind: EventType, body: WireModel, key: str) -> None:
        wire = body.model_dump(mode="json", by_alias=True, exclude_none=True)
        data = live_event(speaker, kind, wire, self._clock.now())
        self._outlet.publish_transient(data, None, key)
