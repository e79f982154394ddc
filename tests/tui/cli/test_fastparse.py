"""The fast parser and typer read every command line alike; the fast one may only decline."""

from __future__ import annotations

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_tui.cli.commands import COMMANDS, ROOT
from groupx_tui.cli.fastparse import parse
from groupx_tui.cli.options import Command, Invocation, Option
from groupx_tui.cli.surface import build

WORDS = ["hi", "-", "--", "", "room:dev", "7", "0", "-3", "x y", "--nope", "-z", "你好", "1e3"]
VALUES = {
    "text": ["hi", "", "-", "--json", "a b"],
    "integer": ["0", "1", "7", "007", "-1", "x", "1_0", "²", "999999999999", "1.0", " 5"],
    "number": ["0", "1.5", ".5", "5.", "-1", "nan", "inf", "1e3", "x", "604801", "1.2.3", "٣"],
    "choice": ["jsonl", "md", "open", "all", "x", ""],
}


NOTED: list[Invocation] = []
TYPER = typer.main.get_command(build(NOTED.append, on_terminal=False))


def typer_reads(words: list[str]) -> Invocation | None:
    """What typer makes of `words`; None when it is a usage error (or help)."""
    NOTED.clear()
    try:
        TYPER(words, prog_name="groupx")
    except SystemExit as end:
        if end.code:
            return None
    return NOTED[-1] if NOTED else None


def option_words(option: Option) -> st.SearchStrategy[list[str]]:
    flag = st.sampled_from(option.flags)
    if option.kind == "flag":
        return st.one_of(flag.map(lambda f: [f]), flag.map(lambda f: [f + "=1"]))
    value = st.sampled_from(VALUES[option.kind])
    pair = st.tuples(flag, value)
    return st.one_of(
        pair.map(lambda p: [*p]), pair.map(lambda p: [f"{p[0]}={p[1]}"]), flag.map(lambda f: [f])
    )


def command_lines() -> st.SearchStrategy[list[str]]:
    def line(command: Command) -> st.SearchStrategy[list[str]]:
        needed = [[argument.name] for argument in command.arguments if argument.required]
        part = [option_words(option) for option in command.options]
        extra = st.one_of(st.sampled_from(WORDS).map(lambda word: [word]), *part)
        parts = st.lists(st.one_of(*part, extra) if part else extra, max_size=3)
        root = st.sampled_from([[], [], [], ["--config", "c"], ["--room", "r"], ["-V"]])
        return st.tuples(root, parts.flatmap(lambda some: st.permutations([*needed, *some]))).map(
            lambda both: [*both[0], *command.words, *(word for part in both[1] for word in part)]
        )

    return st.sampled_from([ROOT, *COMMANDS]).flatmap(line)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(command_lines())
def test_what_the_fast_parser_takes_typer_reads_the_same(words: list[str]) -> None:
    fast = parse(words)
    if fast is None:
        return
    slow = typer_reads(words)
    assert slow is not None
    assert (slow.command, slow.values) == (fast.command, fast.values)
    assert {name: type(value) for name, value in slow.values.items()} == {
        name: type(value) for name, value in fast.values.items()
    }


def plain_lines() -> list[list[str]]:
    """A line for each command with all of its arguments and options, and a bare one."""
    values = {"text": "x", "integer": "1", "number": "1.5"}
    lines = []
    for command in (ROOT, *COMMANDS):
        words = [*command.words, *(argument.name for argument in command.arguments)]
        lines.append(words.copy())
        for option in command.options:
            words.append(option.flags[-1])
            if option.kind != "flag":
                words.append(option.choices[0] if option.choices else values[option.kind])
        lines.append(words)
    return lines


@pytest.mark.parametrize("words", plain_lines(), ids=" ".join)
def test_the_fast_parser_takes_every_plain_line(words: list[str]) -> None:
    fast = parse(words)
    assert fast is not None
    expected = typer_reads(words)
    assert expected is not None
    assert expected.values == fast.values


@pytest.mark.parametrize(
    "words",
    [
        ["sned"],
        ["rooms"],
        ["rooms", "remove"],
        ["rooms", "create"],
        ["send", "a", "b"],
        ["send", "--nope"],
        ["send", "--to"],
        ["send", "--wait=1"],
        ["send", "-n=5"],
        ["history", "--limit", "0"],
        ["history", "--limit", "many"],
        ["export", "--format", "pdf"],
        ["--room", "dev", "send", "hi"],
        ["send", "--help"],
    ],
    ids=" ".join,
)
def test_what_is_wrong_or_help_is_left_to_typer(words: list[str]) -> None:
    assert parse(words) is None


def test_a_config_before_the_command_counts_unless_the_command_has_its_own() -> None:
    before = parse(["--config", "a", "status"])
    both = parse(["--config", "a", "status", "--config", "b"])
    assert before is not None
    assert before.text("config") == "a"
    assert both is not None
    assert both.text("config") == "b"


def test_the_last_of_a_repeated_option_counts_and_targets_add_up() -> None:
    call = parse(["send", "hi", "--to", "a", "-r", "one", "--to=b", "--room", "two"])
    assert call is not None
    assert (call.texts("to"), call.text("room")) == (["a", "b"], "two")


def test_lists_are_never_shared_between_command_lines() -> None:
    first = parse(["send", "--to", "a", "x"])
    second = parse(["send", "x"])
    assert first is not None
    assert second is not None
    assert second.texts("to") == []
