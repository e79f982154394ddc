"""Recorded conversations with the real `codex app-server`, played against our client."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.codex import MAX_CHILD_THREADS, CodexClient
from groupx_server.agents.jsonrpc import ErrorResponse, Noise
from groupx_server.agents.signals import (
    Activity,
    CallEnded,
    InteractionRefused,
    PromptAnswered,
)
from groupx_server.domain.native import (
    ContentDelta,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageReported,
)
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.codex_dialogue import RECORDINGS, Player

ALL = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))
CUT_SHORT = ("15-stdin-close-mid-turn", "16-sigterm-mid-turn")
HELLO = "Hello from the fake model. This text is streamed in small pieces."


def test_every_recording_is_here() -> None:
    assert len(ALL) == 21


@pytest.mark.parametrize("name", ALL)
def test_every_recorded_turn_starts_once_and_ends_once(name: str) -> None:
    played = Player().play(name)
    assert played.stray == []
    for turn in played.turns:
        assert isinstance(turn.events[0], TurnStarted)
        assert sum(isinstance(event, TurnStarted) for event in turn.events) == 1
        ends = [
            isinstance(event, TurnCompleted | TurnCancelled | TurnFailed) for event in turn.events
        ]
        assert (
            ends == [False] * len(ends)
            if name in CUT_SHORT
            else [
                *[False] * (len(ends) - 1),
                True,
            ]
        )
        started = {tool.call.call_id for tool in turn.tools if tool.phase == "started"}
        ended = {call.call_id for call in turn.ended_tools}
        assert name in CUT_SHORT or started == ended


def test_the_handshake_asks_for_the_experimental_protocol() -> None:
    player = Player()
    played = player.play("01-handshake-thread-text")
    first = player.sent[0]
    assert first["params"]["capabilities"] == {"experimentalApi": True}
    assert first["params"]["clientInfo"]["name"] == "groupx"
    assert "userAgent" in played.answers["initialize"][0]


def test_text_streams_under_the_id_of_its_message() -> None:
    [turn] = Player().play("01-handshake-thread-text").turns
    pieces = [event for event in turn.events if isinstance(event, ContentDelta)]
    assert {piece.message_id for piece in pieces} == {"msg_0fc1faadf23f4d59b61f"}
    assert len(pieces) > 1
    assert turn.text == HELLO
    assert turn.terminal == TurnCompleted()
    assert turn.turn.native_id == "id-03"


def test_usage_is_counted_for_the_turn_with_the_size_of_the_context() -> None:
    [turn] = Player().play("03-shell-tool").turns
    told = [event.usage for event in turn.events if isinstance(event, UsageReported)]
    assert [usage["totalTokens"] for usage in told] == [120, 240]
    assert told[-1] == {
        "inputTokens": 200,
        "cachedTokens": 20,
        "outputTokens": 40,
        "thoughtTokens": 10,
        "totalTokens": 240,
        "contextUsed": 120,
        "contextSize": 258400,
    }


def test_reasoning_is_the_summary_and_then_the_raw_thoughts() -> None:
    [turn] = Player().play("02-reasoning").turns
    assert turn.reasoning.startswith("**Planning** I think about the")
    assert "\n\nraw chain" in turn.reasoning
    assert turn.text == "After thinking, the answer is 42."


def test_a_command_shows_what_it_printed_even_where_the_stream_did_not() -> None:
    [turn] = Player().play("03-shell-tool").turns
    [call] = turn.ended_tools
    assert call.title == "echo hi; pwd; sleep 1; echo err >&2; exit 3"
    assert (call.kind, call.status) == ("execute", "failed")
    assert call.content == ({"type": "terminal", "output": "hi\n/workspace\nerr\n", "exitCode": 3},)
    assert isinstance(turn.terminal, TurnCompleted)
    phases = [tool.phase for tool in turn.tools]
    assert phases == ["started", "updated", "ended"]
    assert turn.tools[1].call.content == ({"type": "terminal", "output": "err\n"},)


def test_an_interrupt_in_text_keeps_what_was_said() -> None:
    player = Player()
    first, second, third, last = player.play("04-interrupt").turns
    assert first.terminal == TurnCancelled()
    assert first.text == "tick 0 tick 1 tick 2 "
    assert second.text == last.text == HELLO
    assert third.terminal == TurnCancelled()


def test_an_interrupted_command_is_cleaned_before_the_turn_counts_as_over() -> None:
    player = Player()
    turns = player.play("04-interrupt").turns
    methods = [message.get("method") for message in player.sent]
    assert methods.count("thread/backgroundTerminals/clean") == 1
    assert methods.index("thread/backgroundTerminals/clean") > methods.index("turn/interrupt")
    [call] = turns[2].ended_tools
    assert call.status == "cancelled"
    assert call.content == ({"type": "terminal", "output": "", "exitCode": -1},)


def test_an_interrupt_between_turns_is_not_sent() -> None:
    player = Player()
    player.play("04-interrupt")
    assert [message.get("method") for message in player.sent].count("turn/interrupt") == 2


def test_a_steered_turn_goes_on_with_the_new_message() -> None:
    player = Player()
    played = player.play("05-steer")
    first, second, third = played.turns
    assert first.text == third.text == "tick 0 " + HELLO
    assert [call.status for call in second.ended_tools] == ["completed"]
    steers = [m["params"] for m in player.sent if m.get("method") == "turn/steer"]
    assert [params["expectedTurnId"] for params in steers] == ["id-15", "id-18", "id-18"]
    refused = [isinstance(answer, ErrorResponse) for answer in played.answers["turn/steer"]]
    assert refused == [False, True, False]


def test_a_prompt_that_codex_would_merge_into_the_running_turn_is_not_sent() -> None:
    assert Player().play("05-steer").refused == 1


def test_a_resumed_thread_counts_only_its_own_tokens() -> None:
    played = Player().play("06b-resume-second-process")
    [turn] = played.turns
    assert turn.usage["totalTokens"] == 240
    assert [call.title for call in turn.ended_tools] == ["echo resumed"]
    _, unknown, malformed = played.answers["thread/resume"]
    assert isinstance(unknown, ErrorResponse)
    assert isinstance(malformed, ErrorResponse)


@pytest.mark.parametrize(
    ("index", "details"),
    [
        (0, {"codexError": "other", "reason": "fake error 400"}),
        (1, {"codexError": "httpConnectionFailed", "httpStatus": 401, "authRequired": True}),
        (2, {"codexError": "responseTooManyFailedAttempts", "rateLimited": True}),
        (3, {"codexError": "internalServerError"}),
        (5, {"codexError": "other"}),
    ],
)
def test_a_failed_turn_tells_why(index: int, details: dict[str, Any]) -> None:
    failure = Player().play("07-errors-http").turns[index].failure
    assert failure.code is ErrorCode.AGENT_ERROR
    assert not failure.session_lost
    assert details.items() <= failure.details.items()
    assert failure.details["reason"] in failure.message


def test_a_retry_is_a_notice_with_its_reason_and_no_end() -> None:
    turns = Player().play("07-errors-http").turns
    assert [len(turn.reasons) for turn in turns] == [0, 1, 1, 1, 0, 1, 1, 1, 0]
    assert turns[7].reasons[0].startswith("Reconnecting... 1/1: stream disconnected")
    assert isinstance(turns[7].terminal, TurnCompleted)


def test_what_a_lost_attempt_had_begun_to_say_is_not_said_twice() -> None:
    turns = Player().play("07-errors-http").turns
    assert turns[7].terminal.content == HELLO
    assert turns[6].failure.content == "this will be cut off"


def test_the_thread_lives_on_after_every_error() -> None:
    assert Player().play("07-errors-http").turns[-1].text == HELLO


def test_a_refused_request_is_answered_by_its_error() -> None:
    played = Player().play("08-protocol-errors")
    assert [type(answer) for answer in played.answers["no/such"]] == [ErrorResponse]
    assert played.refused == 1
    assert played.turns == []


def test_an_approval_is_cancelled_and_fails_the_turn() -> None:
    played = Player().play("09-approvals")
    assert [reply["result"] for reply in played.replies] == [{"decision": "cancel"}] * 4
    assert [reply["id"] for reply in played.replies] == [0, 1, 2, 3]
    *asked, free = played.turns
    for turn in asked:
        assert turn.failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
        assert turn.failure.details["kind"] == "command approval"
        assert "touch" in turn.failure.details["title"]
        assert not turn.failure.session_lost
    assert isinstance(free.terminal, TurnCompleted)
    assert [call.status for call in asked[1].ended_tools] == ["failed"]


def test_what_codex_refuses_by_itself_fails_nothing() -> None:
    played = Player().play("10-never-and-still-asked")
    assert played.replies == []
    assert [type(turn.terminal) for turn in played.turns] == [TurnCompleted] * 3


@pytest.mark.parametrize("name", ["11-user-input-and-elicitation", "18-feature-user-input"])
def test_questions_and_elicitations_are_answered_at_once(name: str) -> None:
    played = Player().play(name)
    assert len(played.replies) == len(played.turns)
    kinds = {turn.failure.details["kind"] for turn in played.turns}
    assert kinds <= {"elicitation", "question"}
    for reply in played.replies:
        assert reply["result"] in ({"action": "cancel", "content": None}, {"answers": {}})


def test_a_tool_of_a_server_shows_server_input_and_result() -> None:
    first, second = Player().play("12-mcp-stdio").turns
    [call] = first.ended_tools
    assert call.title == "room: room_say"
    assert call.raw_input == {"text": "hello room"}
    assert call.content == (
        {"type": "text", "text": "room heard: hello room (env ROOM_TOKEN=tok-7)"},
    )
    assert [call.status for call in second.ended_tools] == ["failed"]


def test_two_threads_of_one_process_do_not_mix() -> None:
    first, second, third = Player().play("17-two-threads-and-dynamic-tool").turns
    assert first.text == second.text
    assert first.turn.native_id != second.turn.native_id
    assert third.failure.details == {"title": "room_post", "kind": "tool call"}


def test_changed_files_come_as_diffs() -> None:
    create, move, delete, later = Player().play("19-file-change").turns
    assert create.ended_tools[0].title == "Create new.txt"
    assert create.ended_tools[0].content == (
        {"type": "diff", "path": "/workspace/new.txt", "oldText": None, "newText": "hello\nyou\n"},
    )
    assert move.ended_tools[0].title == "Edit new.txt → moved.txt"
    assert move.ended_tools[0].content == (
        {
            "type": "diff",
            "path": "/workspace/new.txt",
            "oldText": "hello\nyou",
            "newText": "bye\nyou",
        },
    )
    assert move.ended_tools[0].locations == ({"path": "/workspace/moved.txt", "line": 1},)
    assert delete.ended_tools[0].content[0]["newText"] == ""
    [call] = later.ended_tools
    assert call.status == "completed"
    assert call.content == ({"type": "terminal", "output": "later\n", "exitCode": 0},)


# --- one message at a time -------------------------------------------------------------------


def _opened() -> CodexClient:
    client = CodexClient("Codex")
    client.adopt("t")
    return client


def _feed(client: CodexClient, **message: Any) -> list[Any]:
    return list(client.receive(json.dumps(message).encode()))


def test_a_thread_is_known_before_the_caller_has_seen_its_answer() -> None:
    client = CodexClient("Codex")
    call_id = client.call("thread/start", {})
    answer = {"thread": {"id": "t"}}
    assert _feed(client, id=call_id, result=answer) == [CallEnded(call_id, answer)]
    params = {"threadId": "t", "name": "mine", "status": "starting"}
    _feed(client, method="mcpServer/startupStatus/updated", params=params)
    assert client.starting_servers("t") == ["mine"]
    _feed(client, method="mcpServer/startupStatus/updated", params=params | {"status": "failed"})
    assert client.starting_servers("t") == []
    assert client.starting_servers("unknown") == []


def test_a_prompt_for_an_unknown_thread_is_refused() -> None:
    with pytest.raises(AgentError) as refused:
        CodexClient("Codex").prompt("t", "hi")
    assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE


def test_a_lone_surrogate_in_a_prompt_is_made_harmless() -> None:
    client = _opened()
    client.prompt("t", "a\ud800b")
    assert json.loads(client.data_to_send())["params"]["input"][0]["text"] == "a?b"


def test_a_question_of_a_sub_agent_fails_the_turn_that_started_it() -> None:
    client = _opened()
    client.prompt("t", "hi")
    _feed(client, method="thread/started", params={"thread": {"id": "c", "parentThreadId": "t"}})
    _feed(client, method="thread/started", params={"thread": {"id": "d", "parentThreadId": "c"}})
    assert _feed(client, method="item/started", params={"threadId": "d"}) == [Activity("t")]
    signals = _feed(client, id=0, method="item/tool/requestUserInput", params={"threadId": "d"})
    assert signals == [Activity("t"), InteractionRefused("t")]


def test_a_runaway_of_sub_agents_does_not_fill_the_memory() -> None:
    client = _opened()
    for number in range(MAX_CHILD_THREADS + 10):
        thread = {"id": f"c{number}", "parentThreadId": "t"}
        _feed(client, method="thread/started", params={"thread": thread})
    last = f"c{MAX_CHILD_THREADS + 9}"
    assert _feed(client, method="warning", params={"threadId": last}) == []


def test_a_request_that_belongs_to_no_thread_is_refused_and_fails_nothing() -> None:
    client = _opened()
    client.prompt("t", "hi")
    client.data_to_send()
    assert _feed(client, id="x", method="account/chatgptAuthTokens/refresh", params={}) == []
    reply = json.loads(client.data_to_send())
    assert reply["id"] == "x"
    assert reply["error"]["code"] == -32601


def test_a_dropped_thread_says_nothing_more() -> None:
    client = _opened()
    client.prompt("t", "hi")
    call_id = json.loads(client.data_to_send())["id"]
    client.forget("t")
    [noise] = _feed(client, id=call_id, result={"turn": {"id": "1"}})
    assert isinstance(noise, Noise)
    assert client.finish("t") == []
    client.cancel("t")
    assert client.steer("t", "x") is None
    assert client.data_to_send() == b""


def test_a_late_answer_to_an_abandoned_call_is_noise() -> None:
    client = _opened()
    call_id = client.close_session("t")
    client.abandon(call_id)
    [noise] = _feed(client, id=call_id, result={})
    assert isinstance(noise, Noise)


# --- hostile input ---------------------------------------------------------------------------

_LINES = [
    json.loads(line)["msg"]
    for name in ALL
    for line in (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines()
    if json.loads(line)["from"] == "agent"
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("t"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def _garbled(draw: st.DrawFn) -> bytes:
    """A recorded line of Codex in which values were replaced, or that was cut short."""
    message = json.loads(json.dumps(draw(st.sampled_from(_LINES))))
    holder: Any = message
    for _ in range(draw(st.integers(0, 4))):
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if not isinstance(holder[key], dict | list) or draw(st.booleans()):
            holder[key] = draw(_JSON)
            break
        holder = holder[key]
    if isinstance(params := message.get("params"), dict) and draw(st.booleans()):
        params["threadId"], params["turnId"] = "t", "1"
    line = json.dumps(message).encode()
    return line[: draw(st.integers(0, len(line)))] if draw(st.booleans()) else line


@pytest.mark.parametrize("kind", [[], {}, 3, None])
def test_an_item_whose_type_is_no_text_means_nothing(kind: object) -> None:
    client = _opened()
    client.prompt("t", "hi")
    call_id = json.loads(client.data_to_send())["id"]
    _feed(client, id=call_id, result={"turn": {"id": "1"}})
    item = {"type": kind, "id": "i", "text": "x"}
    ids = {"threadId": "t", "turnId": "1", "item": item}
    for phase in ("started", "completed"):
        line = json.dumps({"method": f"item/{phase}", "params": ids}).encode()
        (signal,) = client.receive(line)
        assert isinstance(signal, Activity)
        assert signal.events == ()


@given(st.lists(_garbled(), max_size=12))
def test_no_garbled_notification_raises_or_breaks_the_turn(lines: list[bytes]) -> None:
    client = _opened()
    turn = client.prompt("t", "hi")
    call_id = json.loads(client.data_to_send())["id"]
    _feed(client, id=call_id, result={"turn": {"id": "1"}})
    signals = [signal for line in lines for signal in client.receive(line)]
    for signal in signals:
        assert isinstance(
            signal, Activity | CallEnded | InteractionRefused | PromptAnswered | Noise
        )
    for line in client.data_to_send().splitlines():
        assert "jsonrpc" not in json.loads(line)
    events = client.finish("t")
    assert isinstance(events[-1], TurnCompleted | TurnCancelled | TurnFailed)
    assert sum(isinstance(e, TurnCompleted | TurnCancelled | TurnFailed) for e in events) == 1
    assert not turn.has_open_tool


@given(st.binary(max_size=200))
def test_no_bytes_raise(line: bytes) -> None:
    _opened().receive(line)
