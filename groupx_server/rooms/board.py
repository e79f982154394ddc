"""What each agent is doing, in the same words everywhere: cards, live `agent.status`, CLI.

Combines the host's state (process facts) with the lane's (turns). Publishes only what changed.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import cast

from groupx_server.rooms.clock import Clock
from groupx_server.rooms.live import Outlet, Speaker, live_event
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_shared.ids import MAIN_ROOM, new_id
from groupx_shared.wire.bodies import AgentStatusBody
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import AgentInfo, AgentState


@dataclass(frozen=True, slots=True)
class Card:
    """The changing part of an agent's card."""

    host_state: str = "stopped"
    detail: str | None = None
    agent_name: str | None = None
    agent_version: str | None = None
    queued_turns: int = 0
    active_turn_id: str | None = None
    is_waiting: bool = False
    last_error: str | None = None

    @property
    def state(self) -> AgentState:
        """One word: the host's state, unless a turn runs."""
        if self.active_turn_id is not None and self.host_state != "starting":
            return "waiting" if self.is_waiting else "working"
        return cast("AgentState", self.host_state)


class Board:
    """Cards of all agents."""

    def __init__(self, roster: Roster, outlet: Outlet, clock: Clock) -> None:
        self._roster = roster
        self._outlet = outlet
        self._clock = clock
        self._cards = {
            entry.actor_id: Card(host_state="stopped" if entry.enabled else "disabled")
            for entry in roster.entries.values()
        }

    def update(self, actor_id: str, **changes: object) -> None:
        """Change fields of a card; publish when something did change."""
        card = self._cards.get(actor_id)
        if card is None:
            return
        changed = replace(card, **changes)  # type: ignore[arg-type]  # names checked by replace
        if changed != card:
            self._cards[actor_id] = changed
            self._publish(self._roster.entries[actor_id], changed)

    def count_queued(self, actor_id: str, difference: int) -> None:
        """Add to the number of waiting turns."""
        card = self._cards.get(actor_id)
        if card is not None:
            self.update(actor_id, queued_turns=max(0, card.queued_turns + difference))

    def info(self, entry: RosterEntry) -> AgentInfo:
        """The whole card of one agent."""
        card = self._cards[entry.actor_id]
        return AgentInfo(
            actor_id=entry.actor_id,
            display_name=entry.display_name,
            driver=entry.driver,
            enabled=entry.enabled,
            status=card.state,
            detail=card.detail or card.last_error,
            cwd=str(entry.spec.cwd),
            command=shlex.join(entry.spec.argv) or None,
            agent_name=card.agent_name,
            agent_version=card.agent_version,
            queued_turns=card.queued_turns,
            active_turn_id=card.active_turn_id,
            is_default=entry.actor_id == self._roster.default_actor_id,
        )

    def all(self) -> tuple[AgentInfo, ...]:
        """Every agent's card, in config order."""
        return tuple(self.info(entry) for entry in self._roster.entries.values())

    def _publish(self, entry: RosterEntry, card: Card) -> None:
        speaker = Speaker(entry.actor_id, entry.display_name, MAIN_ROOM, new_id("corr"))
        body = AgentStatusBody(
            actor_id=entry.actor_id,
            display_name=entry.display_name,
            status=card.state,
            detail=card.detail or card.last_error,
            queued_turns=card.queued_turns,
            active_turn_id=card.active_turn_id,
        )
        wire = body.model_dump(by_alias=True, exclude_none=True)
        data = live_event(speaker, EventType.AGENT_STATUS, wire, self._clock.now())
        self._outlet.publish_transient(data, None, f"status:{entry.actor_id}")
