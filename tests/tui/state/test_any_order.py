"""Stream, pages, bootstraps and repetitions in any order give what the ledger says.

A state machine plays a server that writes and a client that reads late, jumps, switches rooms and
reconnects; after every step what is loaded equals the ledger's events taken in order.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Literal
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from groupx_shared.wire.replies import BootstrapReply
from groupx_tui.state import window
from support.reader_model import AGENTS, ROOMS, ReaderModel, changed_matches
from support.room_events import MAIN

STEPS = ("text", "text", "think", "tool", "completed", "failed")
EXAMPLES = int(os.environ.get("GROUPX_TEST_EXAMPLES", "20"))
"""Raise it to search longer."""
rooms = st.sampled_from(ROOMS)
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class Reading(RuleBasedStateMachine):
    """The steps; the model does them."""

    def __init__(self) -> None:
        super().__init__()
        self.model = ReaderModel()
        self.reply: BootstrapReply | None = None

    @initialize(messages=st.integers(0, 20), turns=st.integers(0, 3))
    def history(self, messages: int, turns: int) -> None:
        for number in range(messages):
            self.model.say(MAIN, by_agent=number % 5 == 0)
        for _ in range(turns):
            self.model.queue(MAIN, "codex")
        self.model.connect(MAIN)

    @rule(room=rooms, by_agent=st.booleans())
    def somebody_speaks(self, room: str, by_agent: bool) -> None:
        self.model.say(room, by_agent)

    @rule(room=rooms, kind=st.sampled_from(["room.renamed", "dream.seen", "session.ready"]))
    def something_else_happens(self, room: str, kind: str) -> None:
        self.model.note(room, kind)

    @rule(room=rooms, key=st.sampled_from(AGENTS))
    def a_turn_is_queued(self, room: str, key: str) -> None:
        self.model.queue(room, key)

    @precondition(lambda self: self.model.open)
    @rule(
        data=st.data(),
        step=st.sampled_from(STEPS),
    )
    def a_turn_goes_on(self, data: st.DataObject, step: str) -> None:
        turn_id = data.draw(st.sampled_from(sorted(self.model.open)))
        self.model.advance(self.model.open[turn_id], step)

    @rule(count=st.integers(1, 12), transient_too=st.sampled_from([True, True, True, False]))
    def events_arrive(self, count: int, transient_too: bool) -> None:
        before = self.model.view
        self.model.deliver(count, transient_too=transient_too)
        if len(before.timeline.blocks) < 10:  # nothing was dropped
            changed_matches(before, self.model.view)

    @rule(start=st.integers(0, 60), count=st.integers(1, 10))
    def old_events_arrive_again(self, start: int, count: int) -> None:
        blocks = self.model.view.timeline.blocks
        self.model.repeat(start, count)
        assert self.model.view.timeline.blocks == blocks
        assert self.model.view.timeline.changed == frozenset()

    @rule(side=st.sampled_from(["before", "after"]))
    def a_page_is_asked_for(self, side: Literal["before", "after"]) -> None:
        self.model.ask(side)

    @rule(around=st.integers(0, 80))
    def the_reader_jumps(self, around: int) -> None:
        self.model.ask_jump(around)

    @rule()
    def a_page_arrives(self) -> None:
        self.model.apply_asked()

    @rule()
    def all_is_read_anew(self) -> None:
        before = self.model.view
        self.model.reread()
        changed_matches(before, self.model.view)

    @rule(room=rooms)
    def a_room_is_asked_for(self, room: str) -> None:
        self.reply = self.model.bootstrap_reply(room)

    @precondition(lambda self: self.reply is not None)
    @rule()
    def the_room_arrives(self) -> None:
        assert self.reply is not None
        self.model.switch(self.reply)
        self.reply = None

    @rule(room=rooms)
    def the_client_starts_anew(self, room: str) -> None:
        self.model.connect(room)

    @invariant()
    def what_is_loaded_is_the_truth(self) -> None:
        self.model.check()

    def teardown(self) -> None:
        self.model.settle()


@pytest.fixture(params=[2_000, 12], ids=["all-is-kept", "much-is-dropped"])
def block_limit(request: pytest.FixtureRequest) -> Iterator[int]:
    with (
        patch.object(window, "MAX_BLOCKS", request.param),
        patch.object(window, "KEEP_BLOCKS", request.param * 2 // 3),
    ):
        yield request.param


@pytest.mark.slow
def test_any_order_of_arrival_shows_what_the_ledger_says(block_limit: int) -> None:
    assert block_limit
    run_state_machine_as_test(Reading, settings=SETTINGS)


class Walk:
    """The same steps without Hypothesis: long, plain random walks find other faults."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.model = ReaderModel()
        self.replies: list[BootstrapReply] = []
        for number in range(self.draw.randrange(25)):
            self.model.say(MAIN, by_agent=number % 5 == 0)
        self.model.connect(MAIN)

    def step(self) -> None:
        """One step, the frequent ones more often."""
        draw, model = self.draw, self.model
        room = draw.choice(ROOMS)
        choices: list[tuple[int, Callable[[], None]]] = [
            (2, lambda: model.say(room, draw.random() < 0.5)),
            (1, lambda: model.note(room, draw.choice(["room.renamed", "dream.seen"]))),
            (2, lambda: model.queue(room, draw.choice(AGENTS))),
            (12, self._turn_goes_on),
            (4, lambda: model.deliver(draw.randrange(1, 12), transient_too=draw.random() < 0.95)),
            (1, lambda: model.repeat(draw.randrange(60), draw.randrange(1, 10))),
            (2, lambda: model.ask("before")),
            (2, lambda: model.ask("after")),
            (1, lambda: model.ask_jump(draw.randrange(80))),
            (4, model.apply_asked),
            (1, model.reread),
            (1, lambda: self.replies.append(model.bootstrap_reply(room))),
            (1, self._room_arrives),
        ]
        draw.choices([act for _, act in choices], [weight for weight, _ in choices])[0]()
        model.check()

    def _turn_goes_on(self) -> None:
        if self.model.open:
            turn = self.model.open[self.draw.choice(sorted(self.model.open))]
            self.model.advance(turn, self.draw.choice(STEPS))

    def _room_arrives(self) -> None:
        if self.replies:
            self.model.switch(self.replies.pop())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_random_walks_show_what_the_ledger_says(block_limit: int, seed: int) -> None:
    assert block_limit
    walk = Walk(seed)
    for _ in range(120):
        walk.step()
    walk.model.settle()
