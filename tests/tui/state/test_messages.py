"""Messages: who, to whom, when; by agents, people and the assistant."""

from __future__ import annotations

from groupx_tui.state.agents import agent_view
from groupx_tui.state.messages import display_names
from groupx_tui.state.model import Author, ClientView, MessageBlock
from groupx_tui.state.reduce import apply_events
from support.room_events import PERSON, RoomScript, agent_actor, agent_info, event

CARDS = (agent_view(agent_info("codex", display_name="Codex CLI")),)


def test_a_message_names_its_targets_as_their_cards_do() -> None:
    script = RoomScript()
    script.say("hi\x1b", to=("codex", "gone"))
    (block,) = apply_events(ClientView(agents=CARDS), script.durable).timeline.blocks
    assert block == MessageBlock(
        block_id=f"msg:{script.durable[0].event_id}",
        order_seq=1,
        event_id=script.durable[0].event_id,
        author=Author("user:web", "Operator", "user"),
        at="2026-01-01T00:00:01.000Z",
        text="hi␛",
        to=("Codex CLI", "gone"),
        root_id=script.durable[0].correlation_id,
    )


def test_a_handle_is_as_good_as_an_actor_id() -> None:
    assert display_names(["codex", "agent:codex"], CARDS) == ("Codex CLI", "Codex CLI")


def test_a_message_of_an_agent_without_a_turn_is_a_message() -> None:
    script = RoomScript()
    script.say("a word", actor=agent_actor("codex"))
    (block,) = apply_events(ClientView(), script.durable).timeline.blocks
    assert isinstance(block, MessageBlock)
    assert block.author.kind == "agent"


def test_a_dispatch_by_the_assistant_is_a_message() -> None:
    sent = event("operator.dispatch", {"content": "do it"}, seq=1, actor=PERSON)
    (block,) = apply_events(ClientView(), [sent]).timeline.blocks
    assert isinstance(block, MessageBlock)
    assert block.text == "do it"


def test_a_cut_message_says_so_and_a_reply_names_its_source() -> None:
    sent = event(
        "message.created",
        {"content": "long", "cut": True},
        seq=1,
        actor=PERSON,
        reply_to_event_id="evt_0",
    )
    (block,) = apply_events(ClientView(), [sent]).timeline.blocks
    assert isinstance(block, MessageBlock)
    assert (block.is_cut, block.reply_to_event_id) == (True, "evt_0")
