"""Message text from arguments and pipes."""

from __future__ import annotations

import io

import pytest

from groupx_shared.wire.requests import MAX_MESSAGE_CHARS as WIRE_LIMIT
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.textinput import MAX_MESSAGE_CHARS, message_text


def piped(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content))


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def refusal(argument: str | None, content: bytes = b"") -> CommandError:
    with pytest.raises(CommandError) as caught:
        message_text(argument, piped(content))
    return caught.value


def test_the_limit_is_the_wires() -> None:
    assert MAX_MESSAGE_CHARS == WIRE_LIMIT


def test_an_argument_is_taken_as_it_is_and_stdin_left_alone() -> None:
    stdin = piped(b"other")
    assert message_text("  hi\n", stdin) == "  hi\n"
    assert stdin.read() == "other"


def test_a_pipe_is_read_as_utf8_without_its_mark_and_last_newlines() -> None:
    assert message_text("-", piped("\ufeffgrüß\r\ndich\r\n\n".encode())) == "grüß\r\ndich"


def test_the_longest_message_fits_whatever_its_characters() -> None:
    text = "\U0001f600" * MAX_MESSAGE_CHARS
    assert message_text("-", piped(text.encode())) == text


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"ok \xff\xfe", "byte 0xff at position 3"),
        (b"a\0b", "NUL character at position 1"),
        (b"\x89PNG\r\n", "byte 0x89 at position 0"),
    ],
)
def test_binary_is_refused_with_its_place(content: bytes, found: str) -> None:
    error = refusal("-", content)
    assert error.exit_code is ExitCode.REFUSED
    assert found in error.message


def test_undecodable_arguments_are_refused() -> None:
    assert refusal("a\udcff").exit_code is ExitCode.REFUSED


def test_one_character_too_many_is_refused_with_size_and_limit() -> None:
    error = refusal("x" * (MAX_MESSAGE_CHARS + 1))
    assert error.exit_code is ExitCode.REFUSED
    assert "131,073 characters" in error.message
    assert "131,072 characters" in error.message


def test_ten_megabytes_are_refused_with_their_size() -> None:
    error = refusal("-", b"x" * 10_000_000)
    assert error.exit_code is ExitCode.REFUSED
    assert "10,000,000 bytes" in error.message


@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_nothing_to_send_is_a_usage_error(content: bytes) -> None:
    assert refusal(None, content).exit_code is ExitCode.USAGE


def test_a_terminal_is_not_read() -> None:
    with pytest.raises(CommandError) as caught:
        message_text(None, Terminal(io.BytesIO(b"typed")))
    assert caught.value.exit_code is ExitCode.USAGE


def test_without_a_stdin_there_is_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CommandError) as caught:
        message_text(None)
    assert caught.value.exit_code is ExitCode.USAGE
