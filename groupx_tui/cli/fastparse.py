"""Reads a plain command line with the standard library only, or declines.

Declining is always right: `surface` then reads the same line with typer, which also words every
error. So this parser takes only what it is sure of: known words and options, values that fit, no
abbreviations, no joined short options.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from groupx_tui.cli.commands import COMMANDS, GROUPS, ROOT
from groupx_tui.cli.options import Argument, Command, Invocation, Option

MAX_DIGITS: Final = 15
"""A float holds every whole number of so many digits exactly."""

_BY_WORDS: Final = {command.words: command for command in COMMANDS}


class _DeclinedError(Exception):
    """This line is not plain."""


def parse(argv: Sequence[str]) -> Invocation | None:
    """Return what `argv` (without the program's name) says, or None to leave it to typer."""
    try:
        return _parse(list(argv))
    except _DeclinedError:
        return None


def _parse(argv: list[str]) -> Invocation:
    given: dict[str, Any] = {}
    command_at = _take_options(ROOT, argv, given)
    if command_at is None:
        return Invocation(ROOT, {**_start_values(ROOT), **given})
    command, rest = _find(argv[command_at:])
    if given.keys() - {"config"}:
        raise _DeclinedError
    values = _start_values(command)
    if "config" in given and "config" in values:
        values["config"] = given["config"]
    _place(command, _take_all(command, rest, values), values)
    return Invocation(command, values)


def _start_values(command: Command) -> dict[str, Any]:
    values: dict[str, Any] = {option.name: option.start_value for option in command.options}
    values.update({argument.name: None for argument in command.arguments})
    return values


def _find(words: list[str]) -> tuple[Command, list[str]]:
    length = 2 if words[0] in GROUPS else 1
    command = _BY_WORDS.get(tuple(words[:length]))
    if command is None:
        raise _DeclinedError
    return command, words[length:]


def _take_options(command: Command, argv: list[str], values: dict[str, Any]) -> int | None:
    """Read options until the first word; return its position, None when there is none."""
    position = 0
    while position < len(argv):
        if not argv[position].startswith("-") or argv[position] in ("-", "--"):
            return position
        position = _take_option(command, argv, position, values)
    return None


def _take_all(command: Command, argv: list[str], values: dict[str, Any]) -> list[str]:
    """Read options anywhere; return the words between them."""
    words: list[str] = []
    position = 0
    while position < len(argv):
        word = argv[position]
        if word == "--":
            return words + argv[position + 1 :]
        if word.startswith("-") and word != "-":
            position = _take_option(command, argv, position, values)
        else:
            words.append(word)
            position += 1
    return words


def _take_option(command: Command, argv: list[str], position: int, values: dict[str, Any]) -> int:
    """Read the option at `position` into `values`; return the position after it."""
    flag, joined, joined_value = argv[position].partition("=")
    option = next((option for option in command.options if flag in option.flags), None)
    if option is None or (joined and not flag.startswith("--")):
        raise _DeclinedError
    if option.kind == "flag":
        if joined:
            raise _DeclinedError
        values[option.name] = True
        return position + 1
    if not joined and position + 1 >= len(argv):
        raise _DeclinedError
    value = _value(option, joined_value if joined else argv[position + 1])
    if option.many:
        values[option.name].append(value)
    else:
        values[option.name] = value
    return position + (1 if joined else 2)


def _value(option: Option, text: str) -> str | int | float:
    if text.startswith("-") and text != "-":
        raise _DeclinedError
    if option.kind == "choice" and text not in option.choices:
        raise _DeclinedError
    if option.kind == "integer":
        return int(_bounded(option, text))
    return _bounded(option, text) if option.kind == "number" else text


def _bounded(option: Option, text: str) -> float:
    digits = text.replace(".", "", 1) if option.kind == "number" else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS):
        raise _DeclinedError
    number = float(text)
    too_small = option.minimum is not None and number < option.minimum
    if too_small or (option.maximum is not None and number > option.maximum):
        raise _DeclinedError
    return number


def _place(command: Command, words: list[str], values: dict[str, Any]) -> None:
    arguments: tuple[Argument, ...] = command.arguments
    needed = sum(argument.required for argument in arguments)
    if not needed <= len(words) <= len(arguments):
        raise _DeclinedError
    for argument, word in zip(arguments, words, strict=False):
        values[argument.name] = word
