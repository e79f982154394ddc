"""The server's log file: private, one JSON object a line, and silent when it cannot be written."""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.logs import get_logger, open_log


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root, raises = logging.getLogger(), logging.raiseExceptions
    handlers, level = list(root.handlers), root.level
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.raiseExceptions = raises


def test_a_line_is_a_json_object_in_a_private_file(tmp_path: Path) -> None:
    path = open_log(tmp_path, to_stderr=False)
    get_logger("groupx_server.test").info("turn.ended", turn="turn_1", seconds=1.5)
    assert path.stat().st_mode & 0o777 == 0o600
    (line,) = path.read_text("utf-8").splitlines()
    told = json.loads(line)
    assert told.pop("at")
    assert told == {
        "level": "info",
        "logger": "groupx_server.test",
        "event": "turn.ended",
        "turn": "turn_1",
        "seconds": 1.5,
    }


def test_a_line_that_a_full_disk_does_not_take_says_nothing_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_log(tmp_path, to_stderr=False)
    (handler,) = logging.getLogger().handlers
    assert isinstance(handler, logging.FileHandler)

    def full(_: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(handler.stream, "write", full)
    get_logger("groupx_server.test").error("ledger.failed")
    assert capsys.readouterr().err == ""
