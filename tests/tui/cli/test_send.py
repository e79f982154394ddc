"""`groupx send`: what it sends, what it prints, how it ends."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from support.cli_run import Groupx
from support.cli_server import CliServer, Stream, agent, answered, delta, ended, message, play

HOSTILE = "a\x1b]0;owned\x07b\x9bc\u202ed"
HARMLESS = "a␛]0;owned␇b\ufffdc\ufffdd"


def sent(server: CliServer) -> dict[str, Any]:
    [body] = [body for method, path, body in server.requests if path == "/api/messages"]
    assert body is not None
    return body


def test_without_wait_it_prints_the_ids_and_returns(groupx: Groupx, server: CliServer) -> None:
    result = groupx("send", "hello")
    assert (result.code, result.err) == (0, "")
    assert result.out == "message\tevt_message\nturn\tturn_guide\tguide\n"


def test_the_message_goes_to_the_default_agent_of_the_main_room(
    groupx: Groupx, server: CliServer
) -> None:
    server.agents = [agent("kimi"), agent("guide", isDefault=True)]
    groupx("send", "hello")
    body = sent(server)
    assert body.pop("clientCommandId").startswith("cmd_")
    assert body == {"roomId": "room:main", "to": ["agent:guide"], "content": "hello"}


def test_every_option_arrives(groupx: Groupx, server: CliServer) -> None:
    groupx(
        *("send", "--to", "@kimi", "-t", "codex", "--to", "kimi", "--room", "dev"),
        *("--reply-to", "evt_1", "--id", "mine", "--", "-1 degrees"),
    )
    assert sent(server) == {
        "clientCommandId": "mine",
        "roomId": "room:dev",
        "to": ["kimi", "codex"],
        "content": "-1 degrees",
        "replyToEventId": "evt_1",
    }


def test_agents_can_be_named_in_one_word(groupx: Groupx, server: CliServer) -> None:
    groupx("send", "--to", "@kimi, codex,", "--to", "grok", "--observer", "a,b", "hello")
    assert sent(server)["to"] == ["kimi", "codex", "grok"]
    assert sent(server)["supervision"]["observers"] == ["a", "b"]


def test_all_wakes_every_enabled_agent(groupx: Groupx, server: CliServer) -> None:
    server.agents = [agent("a"), agent("off", enabled=False), agent("b")]
    groupx("send", "--all", "hello")
    assert sent(server)["to"] == ["agent:a", "agent:b"]


def test_without_an_enabled_agent_it_is_refused(groupx: Groupx, server: CliServer) -> None:
    server.agents = [agent("guide", enabled=False)]
    result = groupx("send", "hello")
    assert result.code == 6
    assert "no enabled agent" in result.err


@pytest.mark.parametrize("words", [("send",), ("send", "-")])
def test_text_comes_from_a_pipe(groupx: Groupx, server: CliServer, words: tuple[str, ...]) -> None:
    groupx(*words, stdin="zwei\nZeilen 你好\n".encode())
    assert sent(server)["content"] == "zwei\nZeilen 你好"


def test_json_without_wait_has_the_turns_as_queued(groupx: Groupx, server: CliServer) -> None:
    result = groupx("send", "--json", "hello")
    assert json.loads(result.out) == {
        "roomId": "room:main",
        "messageEventId": "evt_message",
        "correlationId": "corr_1",
        "turns": [
            {
                "turnId": "turn_guide",
                "target": "agent:guide",
                "status": "queued",
                "content": None,
                "responseEventId": None,
                "errorCode": None,
            }
        ],
    }


def test_wait_prints_one_agents_text_alone(groupx: Groupx, server: CliServer) -> None:
    server.streams = [
        play(
            delta("turn_guide", 0, "Hel"),
            delta("turn_other", 0, "not ours"),
            delta("turn_guide", 3, "lo"),
            *answered("turn_guide", 11, "Hello you"),
        )
    ]
    result = groupx("send", "--wait", "hi")
    assert (result.code, result.out, result.err) == (0, "Hello you\n", "")
    assert ("GET", "/api/events?afterSeq=10&roomId=room:main", None) in server.requests


def test_wait_with_json_prints_one_object(groupx: Groupx, server: CliServer) -> None:
    server.streams = [play(delta("turn_guide", 0, "He"), *answered("turn_guide", 11, "Hello"))]
    result = groupx("send", "--wait", "--json", "hi")
    [turn] = json.loads(result.out)["turns"]
    assert (result.code, turn["status"], turn["content"]) == (0, "completed", "Hello")
    assert turn["responseEventId"] == "evt_11"


def test_answers_of_several_agents_are_labelled_and_never_mixed(
    groupx: Groupx, server: CliServer
) -> None:
    server.agents = [agent("a"), agent("b"), agent("c")]
    server.streams = [
        play(
            delta("turn_b", 0, "B1 "),
            delta("turn_a", 0, "A1 "),
            delta("turn_b", 3, "B2"),
            *answered("turn_c", 11, "C"),
            *answered("turn_a", 13, "A1 A2"),
            *answered("turn_b", 15, "B1 B2"),
        )
    ]
    result = groupx("send", "--wait", "--all", "hi")
    assert result.out == "[b]\nB1 B2\n\n[c]\nC\n\n[a]\nA1 A2\n"
    assert result.code == 0


def test_control_sequences_of_a_model_do_not_reach_the_terminal(
    groupx: Groupx, server: CliServer
) -> None:
    server.agents = [agent("a"), agent("b\x1b[2J")]
    server.streams = [
        play(
            delta("turn_a", 0, HOSTILE),
            *answered("turn_a", 11, HOSTILE),
            ended("turn_b\x1b[2J", 13, "failed", errorCode="X\x1b[1m", errorMessage=HOSTILE),
        )
    ]
    result = groupx("send", "--wait", "--all", "hi")
    assert result.out == f"[a]\n{HARMLESS}\n"
    assert HARMLESS in result.err
    assert "\x1b" not in result.out + result.err


def test_pieces_missed_before_listening_are_taken_from_the_turn(
    groupx: Groupx, server: CliServer
) -> None:
    def script(stream: Stream) -> None:
        server.turns["turn_guide"] = {"turnId": "turn_guide", "partialText": "Once upon "}
        stream.send(delta("turn_guide", 10, "a time"))
        stream.hold()

    server.streams = [script]
    result = groupx("send", "--wait", "--timeout", "0.2", "hi")
    assert result.out == "Once upon a time\n"


def test_a_cut_answer_is_printed_whole(groupx: Groupx, server: CliServer) -> None:
    server.texts["evt_11"] = "a very long answer"
    end = answered("turn_guide", 11, "a ve[… cut]")
    end[0]["body"]["cut"] = True
    server.streams = [play(delta("turn_guide", 0, "a very"), *end)]
    assert groupx("send", "--wait", "hi").out == "a very long answer\n"


def test_an_answer_that_differs_from_its_stream_is_printed_again(
    groupx: Groupx, server: CliServer
) -> None:
    server.streams = [play(delta("turn_guide", 0, "wrong"), *answered("turn_guide", 11, "right"))]
    result = groupx("send", "--wait", "hi")
    assert result.out == "wrong\n\nright\n"
    assert "differs" in result.err


def test_other_messages_of_the_turn_are_not_its_answer(groupx: Groupx, server: CliServer) -> None:
    aside = message(11, "an aside", turnId="turn_guide")
    server.streams = [play(aside, *answered("turn_guide", 12, "answer"))]
    assert groupx("send", "--wait", "hi").out == "answer\n"


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        ("failed", {"errorCode": "AGENT_ERROR", "errorMessage": "no credit"}, 1),
        ("cancelled", {}, 1),
        ("failed", {"deliveryCertainty": "unknown"}, 5),
        ("interrupted", {"deliveryCertainty": "unknown"}, 5),
    ],
)
def test_a_turn_that_did_not_complete_is_said_with_its_partial_text(
    groupx: Groupx, server: CliServer, status: str, body: dict[str, Any], code: int
) -> None:
    server.streams = [
        play(
            delta("turn_guide", 0, "half"),
            ended("turn_guide", 11, status, partialText="half an", **body),
        )
    ]
    result = groupx("send", "--wait", "hi")
    assert (result.code, result.out) == (code, "half an\n")
    assert status in result.err
    assert "groupx turns show turn_guide" in result.err
    assert str(body.get("errorMessage", "")) in result.err


def test_the_worst_of_several_turns_decides(groupx: Groupx, server: CliServer) -> None:
    server.agents = [agent("a"), agent("b"), agent("c")]
    server.streams = [
        play(
            ended("turn_a", 11, "interrupted"),
            ended("turn_b", 12, "failed"),
            *answered("turn_c", 13, "fine"),
        )
    ]
    result = groupx("send", "--wait", "--all", "hi")
    assert (result.code, result.out) == (5, "[c]\nfine\n")


def test_the_time_can_be_up_while_the_turn_goes_on(groupx: Groupx, server: CliServer) -> None:
    server.streams = [play(delta("turn_guide", 0, "Hm"), then=Stream.hold)]
    result = groupx("send", "--wait", "--timeout", "0.2", "--json", "hi")
    [turn] = json.loads(result.out)["turns"]
    assert (result.code, turn["status"], turn["content"]) == (4, "running", "Hm")
    assert "groupx turns show turn_guide" in result.err
    assert "groupx turns cancel turn_guide" in result.err


def test_ctrl_c_says_that_the_turn_goes_on_and_how_to_cancel_it(
    groupx: Groupx, server: CliServer
) -> None:
    def script(stream: Stream) -> None:
        stream.send(delta("turn_guide", 0, "Hm"))
        os.kill(os.getpid(), signal.SIGINT)
        stream.hold()

    server.streams = [script]
    # A shell starts background jobs with SIGINT ignored, and so this test with them.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = groupx("send", "--wait", "hi")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.code == 5
    assert "groupx turns cancel turn_guide" in result.err


def test_a_restart_of_the_server_in_the_middle_is_waited_out(
    groupx: Groupx, server: CliServer
) -> None:
    server.streams = [
        play(delta("turn_guide", 0, "one "), then=Stream.drop),
        play(delta("turn_guide", 4, "two"), *answered("turn_guide", 11, "one two three")),
    ]
    result = groupx("send", "--wait", "hi")
    assert (result.code, result.out) == (0, "one two three\n")
    assert "The server is back." in result.err


def test_what_stands_in_the_way_is_said_at_once(groupx: Groupx, server: CliServer) -> None:
    turn = {"turnId": "turn_guide", "target": "agent:guide", "queuePosition": 2}
    reply = {
        "messageEventId": "evt_message",
        "roomId": "room:main",
        "correlationId": "corr",
        "turns": [{**turn, "obstacle": "no such\x1b[2J program"}],
    }
    server.replies["POST", "/api/messages"] = (202, reply)
    result = groupx("send", "hello")
    assert (result.code, result.out) == (0, "message\tevt_message\nturn\tturn_guide\tguide\n")
    assert result.err == (
        "guide is busy; 2 before us.\nguide tries again, but: no such␛[2J program\n"
    )


def test_a_busy_agent_is_said(groupx: Groupx, server: CliServer) -> None:
    turn = {"turnId": "turn_guide", "target": "agent:guide", "queuePosition": 2}
    server.accepted = [
        {
            "messageEventId": "evt_m",
            "seq": 1,
            "roomId": "room:main",
            "correlationId": "c",
            "turns": [turn],
        }
    ]
    server.streams = [play(*answered("turn_guide", 11, "yes"))]
    result = groupx("send", "--wait", "hi")
    assert (result.out, "guide is busy" in result.err) == ("yes\n", True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--all", "--to", "kimi", "hi"), "not both"),
        (("--timeout", "5", "hi"), "--wait"),
        (("--id", "", "hi"), "128"),
        (("  ",), "empty"),
    ],
)
def test_contradictions_are_usage_errors(groupx: Groupx, words: tuple[str, ...], hint: str) -> None:
    result = groupx("send", *words)
    assert (result.code, result.out) == (2, "")
    assert hint in result.err


def test_a_refusal_names_its_sentence_and_code(groupx: Groupx, server: CliServer) -> None:
    sentence = "There is no agent “kimmi”. Did you mean “kimi”?"
    error = {"error": {"code": "UNKNOWN_TARGET", "message": sentence}}
    server.replies["POST", "/api/messages"] = (404, error)
    result = groupx("send", "--to", "kimmi", "hi")
    assert (result.code, result.out) == (6, "")
    assert result.err == f"groupx: {sentence} (UNKNOWN_TARGET)\n"
