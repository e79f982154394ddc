"""Streamed pieces and whole blocks: everything once, nothing of a message that broke off."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents import claude_answer
from groupx_server.agents.claude_answer import Answer
from groupx_server.agents.claude_calls import ClaudeCalls
from groupx_server.agents.claude_messages import MAX_BLOCKS, Messages
from groupx_server.agents.claude_plan import PlanBook
from groupx_server.domain.native import ContentDelta, ReasoningDelta, ToolProgress


class Model:
    """Feeds a `Messages` as Claude Code does."""

    def __init__(self) -> None:
        self.messages = Messages(ClaudeCalls(PlanBook()))
        self.events: list[Any] = []

    def start(self, message_id: str) -> None:
        self._stream(type="message_start", message={"id": message_id})

    def block(self, index: Any, **block: Any) -> None:
        self._stream(type="content_block_start", index=index, content_block=block)

    def delta(self, index: Any, **delta: Any) -> None:
        self._stream(type="content_block_delta", index=index, delta=delta)

    def text(self, index: int, *pieces: str) -> None:
        self.block(index, type="text", text="")
        for piece in pieces:
            self.delta(index, type="text_delta", text=piece)

    def stop(self, index: int) -> None:
        self._stream(type="content_block_stop", index=index)

    def whole(self, message_id: str, *blocks: Any) -> None:
        self.events += self.messages.whole({"id": message_id, "content": list(blocks)})

    def _stream(self, **event: Any) -> None:
        self.events += self.messages.stream(event)

    @property
    def streamed(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ContentDelta))

    @property
    def thoughts(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ReasoningDelta))

    @property
    def paragraphs(self) -> list[str | None]:
        return [e.message_id for e in self.events if isinstance(e, ContentDelta)]


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_a_block_that_was_streamed_is_not_told_again() -> None:
    model = Model()
    model.start("m")
    model.text(0, "He", "llo")
    model.whole("m", _text("Hello"))
    assert model.streamed == "Hello"
    assert model.messages.answer.whole() is None


def test_the_rest_of_a_block_is_told_when_the_stream_was_cut() -> None:
    model = Model()
    model.start("m")
    model.text(0, "He")
    model.whole("m", _text("Hello"))
    assert model.streamed == "Hello"


def test_a_block_without_a_stream_is_told_whole() -> None:
    model = Model()
    model.whole("m", _text("Hello"), {"type": "thinking", "thinking": "hm"})
    assert (model.streamed, model.thoughts) == ("Hello", "hm")
    model.events.clear()
    model.events += model.messages.whole({"id": "n", "content": "just a text"})
    assert model.streamed == "just a text"


def test_a_block_that_reads_otherwise_when_whole_is_corrected_at_the_end() -> None:
    model = Model()
    model.start("m")
    model.text(0, "wrong")
    model.whole("m", _text("right"))
    assert model.streamed == "wrong"
    assert model.messages.answer.whole() == "right"


@pytest.mark.parametrize("whole", ["Hello ", " Hello"])
def test_white_space_around_a_block_is_no_difference(whole: str) -> None:
    model = Model()
    model.start("m")
    model.text(0, "Hello")
    model.whole("m", _text(whole))
    assert model.messages.answer.whole() is None


def test_a_message_that_broke_off_is_void_when_another_begins() -> None:
    model = Model()
    model.start("m")
    model.text(0, "half an ans")
    model.start("n")
    model.text(0, "an answer")
    model.whole("n", _text("an answer"))
    assert model.streamed == "half an ansan answer"
    assert model.messages.answer.whole() == "an answer"


def test_a_block_that_was_whole_counts_although_its_message_broke_off_later() -> None:
    model = Model()
    model.start("m")
    model.text(0, "first")
    model.whole("m", _text("first"))
    model.text(1, "half")
    model.messages.discard()
    model.start("n")
    model.text(0, "second")
    model.whole("n", _text("second"))
    assert model.messages.answer.whole() == "first\n\nsecond"


def test_what_was_streamed_before_the_end_counts() -> None:
    model = Model()
    model.start("m")
    model.text(0, "as far as it came")
    model.messages.keep()
    model.start("n")
    assert model.messages.answer.whole() is None
    assert not model.messages.answer.is_empty


def test_a_block_that_is_no_text_begins_a_paragraph() -> None:
    model = Model()
    model.start("m")
    model.text(0, "a")
    model.text(1, "b")
    model.block(2, type="thinking", thinking="")
    model.text(3, "c")
    model.start("n")
    model.text(0, "d")
    first, second, third, fourth = model.paragraphs
    assert first == second
    assert len({second, third, fourth}) == 3


def test_hidden_thoughts_that_come_whole_are_told() -> None:
    model = Model()
    model.start("m")
    model.block(0, type="thinking", thinking="")
    model.delta(0, type="signature_delta", signature="x")
    model.whole("m", {"type": "thinking", "thinking": "hm"})
    assert model.thoughts == "hm"


def test_thoughts_that_were_streamed_are_not_told_again() -> None:
    model = Model()
    model.start("m")
    model.block(0, type="thinking", thinking="")
    model.delta(0, type="thinking_delta", thinking="hm")
    model.whole("m", {"type": "thinking", "thinking": "hm"})
    assert model.thoughts == "hm"


def test_a_call_is_made_of_its_streamed_input_when_its_block_does_not_come() -> None:
    model = Model()
    model.start("m")
    model.block(0, type="tool_use", id="t", name="Bash", input={})
    for piece in ('{"comm', 'and": "ls"}'):
        model.delta(0, type="input_json_delta", partial_json=piece)
    model.stop(0)
    model.whole("m", {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}})
    progress = [event for event in model.events if isinstance(event, ToolProgress)]
    assert [event.phase for event in progress] == ["started", "updated"]
    assert progress[-1].call.raw_input == {"command": "ls"}


def test_an_input_that_broke_off_is_no_call() -> None:
    model = Model()
    model.start("m")
    model.block(0, type="tool_use", id="t", name="Bash", input={})
    model.delta(0, type="input_json_delta", partial_json='{"comm')
    model.stop(0)
    [started] = model.events
    assert started.call.status == "pending"


def test_a_piece_whose_block_was_lost_is_told() -> None:
    model = Model()
    model.start("m")
    model.delta(0, type="text_delta", text="Hello")
    model.delta("x", type="text_delta", text="no")
    model.delta(0, type="thinking_delta", thinking="no")
    model.whole("m", _text("Hello"))
    assert (model.streamed, model.thoughts) == ("Hello", "")


def test_blocks_without_end_are_not_kept() -> None:
    model = Model()
    model.start("m")
    for index in range(MAX_BLOCKS + 50):
        model.delta(index, type="text_delta", text="x")
    assert len(model.messages._blocks) == MAX_BLOCKS


def test_a_very_long_answer_is_left_as_it_was_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_answer, "MAX_KEPT_CHARS", 10)
    answer = Answer()
    part = answer.open("m/0")
    told = [*answer.add(part, "x" * 8), *answer.add(part, "y" * 8)]
    told += answer.settle(part, "x" * 8 + "y" * 8 + "z")
    assert "".join(delta.text for delta in told) == "x" * 8 + "y" * 8 + "z"
    assert part.pieces == []
    answer.void(part)
    assert answer.whole() is None
