"""Who answers: the model, the guide, or one after the other; and what is remembered."""

from __future__ import annotations

from support.acp_dialogue import agent_in_process
from support.fake_openai import FakeOpenAI, delta, drop_after, refusal, text


async def test_free_text_goes_to_the_configured_model_and_streams_back() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        turn = await client.prompt(session, "the whole packet", current="hello there, model")
    assert turn.text == "Hello from the fake."
    assert turn.stop_reason == "end_turn"
    assert "fake-model" in turn.thoughts
    system, user = fake.requests[0]["messages"]
    assert system["role"] == "system"
    assert user == {"role": "user", "content": "the whole packet"}


async def test_a_command_goes_to_the_guide_although_there_is_a_model() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        turn = await client.prompt(session, "packet", current="@guide /help")
    assert "/find" in turn.text
    assert fake.requests == []


async def test_a_slash_word_that_is_no_command_goes_to_the_model() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        assert (await client.prompt(session, "/usr/bin is what?")).text == "Hello from the fake."
        assert (await client.prompt(session, "/frobnicate")).text == "Hello from the fake."


async def test_the_model_remembers_the_session_and_no_other_one() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        first, second = await client.open_session(), await client.open_session()
        fake.plan(text("one"), text("two"), text("three"))
        await client.prompt(first, "a")
        await client.prompt(second, "b")
        await client.prompt(first, "c")
    contents = [message["content"] for message in fake.requests[2]["messages"][1:]]
    assert contents == ["a", "one", "c"]
    assert len(fake.requests[1]["messages"]) == 2


async def test_a_failed_turn_stays_in_the_history_with_what_was_said() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        session = await client.open_session()
        fake.plan(drop_after(delta(content="half")), refusal(400, "no"), text("ok"))
        assert "broke" in (await client.prompt(session, "a")).error["message"]
        assert "HTTP 400" in (await client.prompt(session, "b")).error["message"]
        await client.prompt(session, "c")
    contents = [message["content"] for message in fake.requests[2]["messages"][1:]]
    assert contents == ["a", "half", "b", "(This message got no answer.)", "c"]


async def test_a_found_model_that_is_gone_hands_over_to_the_guide() -> None:
    async with FakeOpenAI() as fake:
        env = {"GROUPX_MODEL_DISCOVERY": "1", "GROUPX_MODEL_PORTS": str(fake.port)}
        async with agent_in_process(env) as client:
            session = await client.open_session()
            found = await client.prompt(session, "hello, who is there in this room?")
            assert found.text == "Hello from the fake."
            assert f"found on port {fake.port}" in found.thoughts
            await fake.__aexit__(None, None, None)
            gone = await client.prompt(session, "something that points nowhere")
    assert "Nothing answers" in gone.thoughts
    assert "No model is connected" in gone.text
    assert gone.stop_reason == "end_turn"


async def test_a_configured_model_that_is_gone_is_an_error_and_not_the_guide() -> None:
    async with FakeOpenAI() as fake:
        port = fake.port
    env = {"GROUPX_MODEL_BASE_URL": f"http://127.0.0.1:{port}", "GROUPX_MODEL_NAME": "m"}
    async with agent_in_process(env) as client:
        session = await client.open_session()
        turn = await client.prompt(session, "hello")
    assert turn.text == ""
    assert "Nothing answers at http://127.0.0.1" in turn.error["message"]
    assert turn.error["data"]["kind"] == "unreachable"
    assert turn.error["data"]["code"] == "AGENT_ERROR"


async def test_a_model_that_came_up_later_is_found_by_the_next_message() -> None:
    async with FakeOpenAI(models=[]) as fake:
        env = {"GROUPX_MODEL_DISCOVERY": "1", "GROUPX_MODEL_PORTS": str(fake.port)}
        async with agent_in_process(env) as client:
            session = await client.open_session()
            before = await client.prompt(session, "blue elephants")
            fake.models = [{"id": "late"}]
            after = await client.prompt(session, "blue elephants")
    assert "No model is connected" in before.text
    assert after.text == "Hello from the fake."
    assert fake.requests[0]["model"] == "late"


async def test_a_wrong_setting_of_the_model_is_told_for_text_and_leaves_the_commands() -> None:
    async with agent_in_process({"GROUPX_MODEL_BASE_URL": "localhost:1"}) as client:
        session = await client.open_session()
        assert "GROUPX_MODEL_BASE_URL" in (await client.prompt(session, "hi")).error["message"]
        assert "/find" in (await client.prompt(session, "/help")).text
        assert "GROUPX_MODEL_BASE_URL" in (await client.prompt(session, "/status")).text


async def test_a_text_for_the_server_is_written_by_a_model_or_refused() -> None:
    async with (
        FakeOpenAI() as fake,
        agent_in_process({"GROUPX_MODEL_BASE_URL": fake.base_url}) as client,
    ):
        turn = await client.prompt(
            await client.open_session(purpose="summary"), "/help and sum this up"
        )
        assert (turn.text, turn.stop_reason) == ("Hello from the fake.", "end_turn")
        assert fake.requests[0]["messages"][-1]["content"] == "/help and sum this up"
    async with agent_in_process({}) as client:
        turn = await client.prompt(await client.open_session(purpose="summary"), "sum this up")
        assert turn.stop_reason == "refusal"
