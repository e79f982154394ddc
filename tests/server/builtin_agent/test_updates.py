"""A turn's updates: pieces that join again, bounded lines, unique call ids."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.updates import MAX_UPDATE_CHARS, TurnSink, pieces


@settings(deadline=None)
@given(st.text(alphabet="ab \n"), st.integers(1, 9))
def test_pieces_join_to_the_text_and_none_is_too_long(text: str, size: int) -> None:
    parts = list(pieces(text, size))
    assert "".join(parts) == text
    assert all(0 < len(part) <= size for part in parts)


class Told:
    def __init__(self, turn: int = 1) -> None:
        self.updates: list[dict[str, Any]] = []
        self.sink = TurnSink("s", self._notify, turn)

    async def _notify(self, method: str, params: dict[str, Any]) -> None:
        assert (method, params["sessionId"]) == ("session/update", "s")
        self.updates.append(params["update"])


async def test_a_long_text_is_sent_in_several_updates() -> None:
    told = Told()
    text = "x" * (2 * MAX_UPDATE_CHARS + 1)
    await told.sink.message(text)
    texts = [update["content"]["text"] for update in told.updates]
    assert [len(part) for part in texts] == [MAX_UPDATE_CHARS, MAX_UPDATE_CHARS, 1]
    assert told.sink.said == text


async def test_an_empty_text_is_not_sent() -> None:
    told = Told()
    await told.sink.message("")
    await told.sink.thought("")
    assert told.updates == []


async def test_call_ids_of_one_session_never_meet() -> None:
    ids = []
    for turn in (1, 2):
        told = Told(turn)
        ids += [await told.sink.tool_started("t", "read") for _ in range(3)]
    assert len(set(ids)) == 6


async def test_a_tool_call_is_announced_changed_and_closed() -> None:
    told = Told()
    call = await told.sink.tool_started("t", "search", raw_input={"a": 1})
    await told.sink.tool_ended(call, "no", failed=True)
    first, second = told.updates
    assert first["sessionUpdate"] == "tool_call"
    assert (first["status"], first["rawInput"], first["kind"]) == (
        "in_progress",
        {"a": 1},
        "search",
    )
    assert second["sessionUpdate"] == "tool_call_update"
    assert second["status"] == "failed"
    assert second["content"][0]["content"]["text"] == "no"


async def test_paragraphs_are_set_apart_unless_a_tool_call_does_that() -> None:
    told = Told()
    await told.sink.say("one")
    await told.sink.say("two")
    await told.sink.tool_started("t", "read")
    await told.sink.say("three")
    assert told.sink.said == "one\n\ntwo\n\nthree"


async def test_thoughts_are_no_part_of_what_was_said() -> None:
    told = Told()
    await told.sink.thought("hm")
    await told.sink.say("a b")
    assert told.sink.said == "a b"
