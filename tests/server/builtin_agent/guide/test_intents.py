"""What a message is understood as."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.guide.commands import BY_NAME
from groupx_server.builtin_agent.guide.intents import telling_words, understand


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("/help", "help", ""),
        ("/?", "help", ""),
        ("/FIND  a b\n", "find", "a b"),
        ("/search x", "find", "x"),
        ("/who", "agents", ""),
        ("/last 5", "last", "5"),
        ("/recap", "summary", ""),
    ],
)
def test_commands_and_their_aliases(text: str, command: str, argument: str) -> None:
    understood = understand(text)
    assert (understood.command, understood.argument) == (command, argument)
    assert understood.is_known_command


def test_an_unknown_slash_word_is_no_command() -> None:
    understood = understand("/fnd x")
    assert (understood.command, understood.argument) == ("unknown", "fnd")
    assert not understood.is_known_command


@pytest.mark.parametrize("text", ["/usr/bin", "/ help", "a /help", "//", "/"])
def test_a_path_is_no_command(text: str) -> None:
    assert not understand(text).by_slash


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("hi", "greeting", ""),
        ("Hello there!", "greeting", ""),
        ("你好", "greeting", ""),
        ("please find the message about the deploy port", "find", "deploy port"),
        ("who said we go live?", "find", "go live"),
        ("search for 'retry'", "find", "retry"),
        ("where did we put the keys?", "find", "put keys"),
        ("搜索 端口", "find", "端口"),
        ("find", "find", ""),
        ("who is here?", "agents", ""),
        ("which agents are there", "agents", ""),
        ("有谁在？", "agents", ""),
        ("summarise this please", "summary", ""),
        ("总结一下", "summary", ""),
        ("what happened while I was away?", "summary", ""),
        ("show the last 5 messages", "last", "5"),
        ("latest messages", "last", ""),
        ("which rooms are there?", "rooms", ""),
        ("how do I connect a model?", "setup", ""),
        ("can you use ollama", "setup", ""),
        ("what do you remember?", "memory", ""),
        ("what version are you", "status", ""),
        ("help", "help", ""),
        ("", "help", ""),
        ("Write a poem about the sea", "none", "Write poem sea"),
    ],
)
def test_free_text_points_to_the_nearest_command(text: str, command: str, argument: str) -> None:
    understood = understand(text)
    assert (understood.command, understood.argument) == (command, argument)
    assert not understood.is_known_command


@settings(deadline=None)
@given(st.text())
def test_any_text_is_understood_as_something_known(text: str) -> None:
    understood = understand(text)
    assert understood.command in {*BY_NAME, "greeting", "unknown", "none"}
    assert "\n" not in understood.line
    assert len(understood.line) <= 120


def test_a_long_text_is_only_looked_at_from_the_front() -> None:
    assert understand("x " * 5000 + "summary").command == "none"


def test_a_phrase_is_kept_whole() -> None:
    assert telling_words('the "two words" please') == ['"two words"']
