"""A window on a server elsewhere: at a forwarded port, with the token in a private file."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from groupx_shared.errors import ConfigError, WorkspaceError
from groupx_tui.cli.elsewhere import place_of, server_at
from groupx_tui.cli.main import main
from support.cli_run import Groupx

URL = "http://127.0.0.1:40123"


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("abc-123_x\n")
    path.chmod(0o600)
    return path


def test_the_token_alone_or_a_copied_runtime_file_will_do(token_file: Path) -> None:
    find = server_at(f"{URL}/", token_file)
    assert (find().url, find().token) == (URL, "abc-123_x")
    token_file.write_text(json.dumps({"url": "http://127.0.0.1:1", "token": "next"}))
    assert find().token == "next", "read anew: a server that starts again has another one"


def test_a_file_that_others_can_read_is_refused(token_file: Path) -> None:
    token_file.chmod(0o644)
    with pytest.raises(WorkspaceError, match="chmod 600"):
        server_at(URL, token_file)()


@pytest.mark.parametrize("text", ["", "two words", "{}", "{", "é"])
def test_a_file_without_a_token_is_refused(token_file: Path, text: str) -> None:
    token_file.write_text(text)
    with pytest.raises(WorkspaceError, match="token"):
        server_at(URL, token_file)()


@pytest.mark.parametrize("url", ["127.0.0.1:1", "https://x:1", "http://x", "http://x:1/y", "", "x"])
def test_what_is_no_address_is_told_with_one_that_is(url: str) -> None:
    with pytest.raises(ConfigError, match="expected one like"):
        place_of(url)


def test_drafts_of_two_servers_are_kept_apart() -> None:
    assert place_of(URL).scope_key != place_of("http://127.0.0.1:40124").scope_key


def test_both_options_go_together(groupx: Groupx) -> None:
    assert "go together" in groupx("--plain", "--connect", URL).err
    words = ("--plain", "--connect", URL, "--token-file", "/nonexistent")
    assert "cannot be read" in groupx(*words).err


@pytest.mark.parametrize("is_plain", [False, True])
def test_the_room_of_the_server_elsewhere_opens(
    token_file: Path, monkeypatch: pytest.MonkeyPatch, is_plain: bool
) -> None:
    opened: list[Any] = []
    app, plain = types.ModuleType("groupx_tui.opening"), types.ModuleType("groupx_tui.plain.client")
    app.run_tui = lambda place, *, room, elsewhere: opened.append(elsewhere)  # type: ignore[attr-defined]
    plain.run_plain = lambda place, room, elsewhere: opened.append(elsewhere)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "groupx_tui.opening", app)
    monkeypatch.setitem(sys.modules, "groupx_tui.plain.client", plain)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("groupx_tui.cli.output.is_terminal", lambda: True)
    words = ["--connect", URL, "--token-file", str(token_file)]
    assert main([*words, "--plain"] if is_plain else words) == 0
    assert opened[0]().url == URL
