"""The agents' cards.

The invariant: a card shows the newest word about its agent, from the bootstrap, from an
`agent.status` event or from an `agents.changed`, which replaces them all; an agent that is not
known yet gets a card.
"""

from __future__ import annotations

from dataclasses import replace

from groupx_shared.wire.bodies import AgentStatusBody
from groupx_shared.wire.replies import AgentInfo
from groupx_tui.state.clean import clean_id, clean_name, clean_sentence, optional_line
from groupx_tui.state.model import AgentView


def agent_view(info: AgentInfo) -> AgentView:
    """Return the card of an agent as the server lists it."""
    actor_id = clean_id(info.actor_id)
    return AgentView(
        actor_id=actor_id,
        name=clean_name(info.display_name) or actor_id.removeprefix("agent:"),
        status=info.status,
        detail=clean_sentence(info.detail),
        until=optional_line(info.until_iso),
        enabled=info.enabled,
        driver=clean_name(info.driver),
        cwd=optional_line(info.cwd, 4_096) or "",
        queued_turns=info.queued_turns,
        active_turn_id=optional_line(info.active_turn_id),
        is_default=info.is_default,
    )


def with_status(agents: tuple[AgentView, ...], body: AgentStatusBody) -> tuple[AgentView, ...]:
    """Return the cards after an `agent.status` event; the same tuple when nothing changed."""
    actor_id = clean_id(body.actor_id)
    for index, card in enumerate(agents):
        if card.actor_id == actor_id:
            changed = _updated(card, body)
            return agents if changed == card else (*agents[:index], changed, *agents[index + 1 :])
    new = AgentView(actor_id=actor_id, name="", status="", detail=None, enabled=True)
    return (*agents, _updated(new, body))


def _updated(card: AgentView, body: AgentStatusBody) -> AgentView:
    status = clean_name(body.status)
    return replace(
        card,
        name=clean_name(body.display_name) or card.name or card.handle,
        status=status,
        enabled=status != "disabled",
        detail=clean_sentence(body.detail),
        until=optional_line(body.until_iso),
        queued_turns=body.queued_turns,
        active_turn_id=optional_line(body.active_turn_id),
    )
