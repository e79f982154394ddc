"""The agents' cards follow the newest word about them."""

from __future__ import annotations

from groupx_tui.state.agents import agent_view
from groupx_tui.state.model import ClientView
from groupx_tui.state.reduce import apply_event, with_agents
from support.room_events import agent_info, event

CARD = agent_view(agent_info("codex", driver="codex", is_default=True))


def status(**fields: object) -> ClientView:
    body = {"actorId": "agent:codex", "displayName": "Codex", "status": "working", **fields}
    return apply_event(ClientView(agents=(CARD,)), event("agent.status", body))


def test_a_card_takes_its_new_status_and_keeps_the_rest() -> None:
    (card,) = status(detail="Asks\x1b the model", queuedTurns=2, activeTurnId="t").agents
    assert (card.status, card.detail, card.queued_turns, card.active_turn_id) == (
        "working",
        "Asks␛ the model",
        2,
        "t",
    )
    assert (card.driver, card.is_default, card.handle, card.enabled) == (
        "codex",
        True,
        "codex",
        True,
    )


def test_a_disabled_agent_is_not_enabled() -> None:
    assert not status(status="disabled").agents[0].enabled


def test_the_same_status_again_changes_nothing() -> None:
    before = ClientView(agents=(CARD,))
    body = {"actorId": "agent:codex", "displayName": "Codex", "status": "ready"}
    assert apply_event(before, event("agent.status", body)) is before


def test_an_agent_that_is_not_known_gets_a_card() -> None:
    cards = status(actorId="agent:new", displayName="").agents
    assert [(card.actor_id, card.name) for card in cards] == [
        ("agent:codex", "Codex"),
        ("agent:new", "new"),
    ]


def test_another_roster_replaces_all_cards() -> None:
    cards = [agent_info("kimi"), agent_info("codex", status="working")]
    body = {"agents": [card.model_dump(by_alias=True) for card in cards]}
    after = apply_event(ClientView(agents=(CARD,)), event("agents.changed", body)).agents
    assert [(card.actor_id, card.status) for card in after] == [
        ("agent:kimi", "ready"),
        ("agent:codex", "working"),
    ]


def test_a_card_says_when_its_state_ends() -> None:
    (card,) = status(status="rate_limited", untilIso="2026-01-31T14:05:00.000Z").agents
    assert (card.status, card.until) == ("rate_limited", "2026-01-31T14:05:00.000Z")
    assert status(status="ready").agents[0].until is None


def test_a_list_that_was_asked_for_gives_way_to_newer_words() -> None:
    asked_at = (CARD, agent_view(agent_info("kimi")))
    body = {"actorId": "agent:kimi", "displayName": "Kimi", "status": "working"}
    view = apply_event(ClientView(agents=asked_at), event("agent.status", body))
    view = apply_event(view, event("agent.status", {**body, "actorId": "agent:new"}))
    listed = [agent_info("codex", status="failed"), agent_info("kimi"), agent_info("other")]
    cards = with_agents(view, listed, asked_at).agents
    assert [(card.handle, card.status) for card in cards] == [
        ("codex", "failed"),
        ("kimi", "working"),
        ("other", "ready"),
        ("new", "working"),
    ]
