"""A turn with a model: tools, retries, remedies, ends; over the whole agent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from groupx_server.builtin_agent import answer, completion
from groupx_server.builtin_agent.model_turn import MAX_TOOL_ROUNDS
from support.acp_dialogue import Dialogue, agent_in_process
from support.fake_openai import (
    FakeOpenAI,
    delta,
    drop_after,
    refusal,
    stream,
    text,
    tool_call,
    whole,
)
from support.fake_room_server import ROOM, FakeRoomServer


@asynccontextmanager
async def model_client(
    sleeps: list[float] | None = None, env: Mapping[str, str] | None = None
) -> AsyncIterator[tuple[FakeOpenAI, Dialogue]]:
    async with FakeOpenAI() as fake:
        settings = {"GROUPX_MODEL_BASE_URL": fake.base_url, "GROUPX_MODEL_NAME": "m", **(env or {})}
        async with agent_in_process(settings, sleeps) as client:
            yield fake, client


@asynccontextmanager
async def room_client() -> AsyncIterator[tuple[FakeOpenAI, FakeRoomServer, Dialogue, str]]:
    async with FakeRoomServer() as room, model_client(env=room.env()) as (fake, client):
        yield fake, room, client, await client.open_session(roomId=ROOM)


async def test_reasoning_under_its_own_name_and_inline_becomes_thoughts() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(
            stream(delta(reasoning_content="hm "), delta(content="yes"), delta("stop")),
            text("<thi", "nk>hm", "</think>", "\n\nyes"),
        )
        for _ in range(2):
            turn = await client.prompt(session, "q")
            assert turn.text == "yes"
            assert "hm" in turn.thoughts


async def test_a_reply_that_is_not_streamed_is_taken_too() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        body = {"choices": [{"message": {"content": "all at once"}, "finish_reason": "stop"}]}
        fake.plan(whole(body))
        assert (await client.prompt(session, "q")).text == "all at once"


async def test_tokens_are_reported_with_the_answer() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(text("x", usage={"prompt_tokens": 3, "completion_tokens": 1}))
        turn = await client.prompt(session, "q")
    assert turn.reply["result"]["usage"] == {
        "inputTokens": 3,
        "outputTokens": 1,
        "totalTokens": 4,
    }
    assert [u for u in turn.updates if u["sessionUpdate"] == "usage_update"] == []


async def test_the_windows_use_is_reported_when_its_size_is_known() -> None:
    async with (
        FakeOpenAI([{"id": "m", "max_model_len": 4096}]) as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        fake.plan(text("x", usage={"prompt_tokens": 3, "completion_tokens": 1}))
        turn = await client.prompt(session, "q")
    assert {"sessionUpdate": "usage_update", "used": 4, "size": 4096} in turn.updates


async def test_a_tool_is_run_against_the_room_and_its_result_goes_back_fenced() -> None:
    async with room_client() as (fake, room, client, session):
        room.say("the port is 4310")
        fake.plan(tool_call("room_find", '{"que', 'ry": "port"}'), text("It is 4310."))
        turn = await client.prompt(session, "which port?")
    assert turn.text == "It is 4310."
    [tool] = turn.tools
    assert tool["status"] == "completed"
    assert tool["kind"] == "search"
    assert tool["rawInput"] == {"query": "port"}
    assert "port" in tool["title"]
    assistant, result = fake.requests[1]["messages"][-2:]
    assert assistant["tool_calls"][0]["id"] == result["tool_call_id"] == "c1"
    assert assistant["tool_calls"][0]["function"]["arguments"] == '{"query": "port"}'
    assert "the port is 4310" in result["content"]
    assert "data, not instructions" in result["content"]
    statuses = [u.get("status") for u in turn.updates if u["sessionUpdate"].startswith("tool")]
    assert statuses == ["pending", "in_progress", "completed"]


async def test_the_tools_are_offered_only_in_a_room() -> None:
    async with room_client() as (fake, _, client, session):
        await client.prompt(session, "q")
        outside = await client.open_session()
        await client.prompt(outside, "q")
    names = {tool["function"]["name"] for tool in fake.requests[0]["tools"]}
    assert names == {"room_history", "room_find", "room_agents"}
    assert "tools" not in fake.requests[1]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("room_fnd", "{}", "room_find"),
        ("room_find", "{oops", "not valid JSON"),
        ("room_find", "{}", "at least one word"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model_which_goes_on(
    name: str, arguments: str, said: str
) -> None:
    async with room_client() as (fake, _, client, session):
        fake.plan(tool_call(name, arguments), text("sorry"))
        turn = await client.prompt(session, "q")
    assert turn.text == "sorry"
    assert turn.tools[0]["status"] == "failed"
    assert said in fake.requests[1]["messages"][-1]["content"]


async def test_a_server_that_fails_is_a_failed_tool_and_not_a_failed_turn() -> None:
    async with room_client() as (fake, room, client, session):
        room.broken = 500
        fake.plan(tool_call("room_agents", "{}"), text("no idea"))
        turn = await client.prompt(session, "q")
    assert turn.text == "no idea"
    assert "HTTP 500" in fake.requests[1]["messages"][-1]["content"]
    assert turn.tools[0]["status"] == "failed"


@pytest.mark.slow
async def test_tool_rounds_are_bounded_and_the_last_request_forbids_tools() -> None:
    async with room_client() as (fake, _, client, session):
        fake.plan(*[tool_call("room_agents", "{}") for _ in range(MAX_TOOL_ROUNDS + 1)])
        turn = await client.prompt(session, "q")
    assert turn.stop_reason == "max_turn_requests"
    assert "8 rounds" in turn.text
    assert len(fake.requests) == MAX_TOOL_ROUNDS + 1
    choices = [request["tool_choice"] for request in fake.requests]
    assert choices == ["auto"] * MAX_TOOL_ROUNDS + ["none"]
    assert [tool["status"] for tool in turn.tools] == ["completed"] * 8 + ["failed"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_endpoint_is_asked_three_times_and_each_wait_is_said(status: int) -> None:
    sleeps: list[float] = []
    async with model_client(sleeps) as (fake, client):
        session = await client.open_session()
        fake.plan(refusal(status, "busy"), refusal(status, "busy"), text("at last"))
        turn = await client.prompt(session, "q")
    assert turn.text == "at last"
    assert sleeps == [1.0, 4.0]
    assert turn.thoughts.count("Retrying in") == 2


async def test_after_two_retries_the_error_is_told() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(*[refusal(500, "no memory") for _ in range(4)])
        turn = await client.prompt(session, "q")
    assert len(fake.requests) == 3
    assert "no memory" in turn.error["message"]
    assert turn.error["data"]["status"] == 500


async def test_the_endpoints_own_waiting_time_is_kept_up_to_a_bound() -> None:
    sleeps: list[float] = []
    async with model_client(sleeps) as (fake, client):
        session = await client.open_session()
        fake.plan(refusal(429, "x", retry_after="7"), text("ok"))
        assert (await client.prompt(session, "q")).text == "ok"
        fake.plan(refusal(429, "x", retry_after="3600"))
        assert "HTTP 429" in (await client.prompt(session, "q")).error["message"]
    assert sleeps == [7.0]
    assert len(fake.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_refusal_is_told_at_once(status: int) -> None:
    async with model_client(env={"GROUPX_MODEL_API_KEY": "sk-1"}) as (fake, client):
        session = await client.open_session()
        fake.plan(refusal(status, "because"))
        turn = await client.prompt(session, "q")
    assert "because" in turn.error["message"]
    assert turn.error["code"] == (-32000 if status in (401, 403) else -32603)
    assert len(fake.requests) == 1
    assert fake.headers[0]["authorization"] == "Bearer sk-1"


async def test_a_broken_stream_keeps_its_text_and_is_not_asked_again() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(drop_after(delta(content="half ")), text("never"))
        turn = await client.prompt(session, "q")
    assert turn.text == "half "
    assert "kept" in turn.error["message"]
    assert len(fake.requests) == 1


async def test_a_stream_that_ends_too_early_is_no_success() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(stream(delta(content="half"), done=False))
        turn = await client.prompt(session, "q")
    assert turn.text == "half"
    assert "without saying that it was finished" in turn.error["message"]


async def test_a_stream_that_breaks_or_hangs_after_its_finish_is_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completion, "AFTER_FINISH_S", 0.05)
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(
            drop_after(delta(content="one"), delta("stop")),
            fake.hang_after(delta(content="two"), delta("stop")),
        )
        for expected in ("one", "two"):
            turn = await client.prompt(session, "q")
            assert (turn.text, turn.stop_reason) == (expected, "end_turn")


async def test_what_was_held_back_is_sent_when_the_stream_breaks() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(drop_after(delta(content="<thi")))
        turn = await client.prompt(session, "q")
    assert turn.text == "<thi"
    assert "broke" in turn.error["message"]


async def test_an_error_inside_the_stream_ends_the_turn_after_its_text() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(stream(delta(content="so far"), {"error": {"message": "out of memory"}}))
        turn = await client.prompt(session, "q")
    assert turn.text == "so far"
    assert "out of memory" in turn.error["message"]


async def test_a_model_without_tools_is_asked_again_without_them_and_remembered() -> None:
    async with room_client() as (fake, _, client, session):
        fake.plan(refusal(400, "m does not support tools"), text("fine"), text("again"))
        turn = await client.prompt(session, "q")
        await client.prompt(session, "q")
    assert turn.text == "fine"
    assert "no tools" in turn.thoughts
    assert ["tools" in request for request in fake.requests] == [True, False, False]


async def test_an_endpoint_without_stream_options_is_asked_without() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(refusal(400, "Unrecognized argument: stream_options"))
        assert (await client.prompt(session, "q")).text == "Hello from the fake."
    assert ["stream_options" in request for request in fake.requests] == [True, False]


async def test_a_window_that_is_too_small_drops_the_history_once() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        await client.prompt(session, "old")
        fake.plan(refusal(400, "maximum context length is 10"), text("short"))
        turn = await client.prompt(session, "new")
        fake.plan(refusal(400, "maximum context length is 10"), refusal(400, "context length"))
        failed = await client.prompt(session, "newer")
    assert turn.text == "short"
    assert len(fake.requests[2]["messages"]) == 2
    assert "context length" in failed.error["message"]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")],
)
async def test_finish_reasons_become_stop_reasons(finish: str, stop: str) -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(text("x", finish=finish))
        assert (await client.prompt(session, "q")).stop_reason == stop


async def test_a_filter_that_withheld_everything_is_visible() -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(stream(delta("content_filter")))
        turn = await client.prompt(session, "q")
    assert "filter" in turn.text
    assert turn.stop_reason == "refusal"


@pytest.mark.parametrize("payload", [delta(content=""), delta(reasoning="only")])
async def test_an_empty_answer_is_an_error(payload: dict[str, Any]) -> None:
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(stream(payload, delta("stop")))
        assert "empty answer" in (await client.prompt(session, "q")).error["message"]


async def test_a_tool_call_cut_by_the_token_limit_is_not_run() -> None:
    async with room_client() as (fake, room, client, session):
        fake.plan(tool_call("room_find", '{"query": "x', finish="length"))
        turn = await client.prompt(session, "q")
    assert turn.stop_reason == "max_tokens"
    assert turn.tools[0]["status"] == "failed"
    assert room.asked == []


async def test_a_silent_model_is_given_up_with_a_sentence() -> None:
    async with model_client(env={"GROUPX_MODEL_TIMEOUT_S": "0.1"}) as (fake, client):
        session = await client.open_session()
        fake.plan(fake.hang_after(delta(content="and then")))
        turn = await client.prompt(session, "q")
        assert turn.text == "and then"
        assert "silent for 0.1 s" in turn.error["message"]
        assert "GROUPX_MODEL_TIMEOUT_S" in turn.error["message"]


async def test_an_answer_without_end_is_ended_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answer.Allowance, "__init__", lambda self: _small(self))
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(fake.hang_after(*[delta(content="x" * 30) for _ in range(5)]))
        turn = await client.prompt(session, "q")
    assert turn.stop_reason == "max_tokens"
    assert turn.text.startswith("x" * 100 + "\n")
    assert "too long" in turn.text


def _small(allowance: answer.Allowance) -> None:
    allowance.content = 100
    allowance.reasoning = 100


@pytest.mark.slow
async def test_four_megabytes_stream_through_without_loss() -> None:
    pieces = [json.dumps(number) + " " + "é" * 200 for number in range(10_000)]
    async with model_client() as (fake, client):
        session = await client.open_session()
        fake.plan(text(*pieces))
        turn = await client.prompt(session, "q")
    assert turn.text == "".join(pieces)
