"""A purge is waited for with its stages told, and whoever does not wait hears what is so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from groupx_shared.errors import GroupXError, RefusedError, ServerUnreachableError
from groupx_shared.purgewords import STAGE_WORDS
from groupx_tui.cli import diagnostics, purging
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.purging import Purging

WITHIN_S = 5.0
REPLY = {"auditEventId": "evt_9", "purged": True}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purging, "LOOK_S", 0.0)


class Server:
    """Answers the request once it was looked at as often as it has stages."""

    def __init__(self, *stages: dict[str, Any] | BaseException) -> None:
        self.stages = list(stages)
        self.ended = threading.Event()
        self.error: GroupXError | None = None

    def redact(self) -> dict[str, Any]:
        assert self.ended.wait(WITHIN_S)
        if self.error is not None:
            raise self.error
        return REPLY

    def look(self) -> dict[str, Any] | None:
        if not self.stages:
            self.ended.set()
            return None
        stage = self.stages.pop(0)
        if isinstance(stage, BaseException):
            raise stage
        return stage


def stage(name: str, **more: Any) -> dict[str, Any]:
    return {"refId": "evt_1", "stage": name, "removed": name != "removing", **more}


def test_in_a_pipe_each_stage_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    server = Server(stage("removing"), stage("index"), stage("index", steps=16), stage("wiping"))
    assert Purging(server.redact, server.look, is_plain=False).wait() == REPLY
    told = capsys.readouterr().err.splitlines()
    assert told == [f"{STAGE_WORDS[name]} …" for name in ("removing", "index", "wiping")]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "is_terminal", lambda: True)


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_one_line_changes_and_is_gone_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = Server(stage("removing"), stage("index", steps=1024))
    Purging(server.redact, server.look, is_plain=False).wait()
    told = capsys.readouterr().err
    assert "\n" not in told
    assert "out of the search index · 1,024 steps · 0 s" in told
    assert told.endswith("\r\x1b[K")


@pytest.mark.usefixtures("terminal")
def test_plain_lines_are_written_on_a_terminal_too(capsys: pytest.CaptureFixture[str]) -> None:
    server = Server(stage("backups"))
    Purging(server.redact, server.look, is_plain=True).wait()
    assert capsys.readouterr().err == f"{STAGE_WORDS['backups']} …\n"


@pytest.mark.parametrize(
    ("at", "says", "code"),
    [
        (stage("removing"), "Nobody knows yet whether", ExitCode.UNCERTAIN),
        (stage("wiping"), "(now: overwriting what is left", ExitCode.STILL_RUNNING),
        (stage("done", endedAt="2026-01-01"), "It has ended meanwhile", ExitCode.STILL_RUNNING),
        (ServerUnreachableError("Gone."), "Nobody knows yet whether", ExitCode.UNCERTAIN),
    ],
)
def test_whoever_stops_waiting_hears_what_is_so(
    at: dict[str, Any] | BaseException, says: str, code: ExitCode
) -> None:
    server = Server(KeyboardInterrupt(), at)
    with pytest.raises(CommandError) as caught:
        Purging(server.redact, server.look, is_plain=True).wait()
    server.ended.set()
    assert says in caught.value.message
    assert "same command again" in caught.value.message
    assert caught.value.exit_code is code


def test_a_refusal_is_raised_as_the_server_gave_it() -> None:
    server = Server()
    server.error = RefusedError("There is no such event.")
    with pytest.raises(RefusedError, match="no such event"):
        Purging(server.redact, server.look, is_plain=True).wait()


def test_a_server_that_does_not_tell_is_waited_for_all_the_same() -> None:
    server = Server(ServerUnreachableError("Gone."), stage("a later stage"))
    told: Callable[[], dict[str, Any]] = Purging(server.redact, server.look, is_plain=True).wait
    assert told() == REPLY
