"""`groupx export`: whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from support.cli_run import Groupx
from support.cli_server import CliServer

LINES = [b'{"seq":1,"body":{"content":"\xe4\xbd', b'\xa0\xc2\x9b"}}\n{"seq":2}\n']


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"groupx.json", ".groupx"}


def test_it_writes_every_byte_to_stdout(groupx: Groupx, server: CliServer) -> None:
    server.export = LINES
    result = groupx("export")
    assert (result.code, result.out.encode()) == (0, b"".join(LINES))
    assert [path for _, path, _ in server.requests] == ["/api/export?format=jsonl"]


def test_a_file_is_private_and_whole(groupx: Groupx, server: CliServer, tmp_path: Path) -> None:
    server.export = LINES
    result = groupx("export", "--room", "dev", "-o", "room.jsonl")
    assert (result.code, result.out, result.err) == (0, "", "")
    target = tmp_path / "room.jsonl"
    assert target.read_bytes() == b"".join(LINES)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert left(tmp_path) == {"room.jsonl"}
    assert [path for _, path, _ in server.requests] == ["/api/export?roomId=room:dev&format=jsonl"]


def test_a_broken_stream_leaves_no_file_and_is_said(
    groupx: Groupx, server: CliServer, tmp_path: Path
) -> None:
    server.export, server.export_breaks = LINES, True
    result = groupx("export", "-o", "room.jsonl")
    assert result.code == 3
    assert "too early" in result.err
    assert left(tmp_path) == set()


def test_a_broken_stream_to_stdout_is_said(groupx: Groupx, server: CliServer) -> None:
    server.export, server.export_breaks = LINES, True
    result = groupx("export")
    assert (result.code, "too early" in result.err) == (3, True)


def test_an_existing_file_is_left_alone_before_anything_is_asked(
    groupx: Groupx, server: CliServer, tmp_path: Path
) -> None:
    (tmp_path / "room.md").write_text("mine")
    result = groupx("export", "-o", "room.md")
    assert result.code == 6
    assert "--force" in result.err
    assert (tmp_path / "room.md").read_text() == "mine"
    assert server.requests == []


def test_force_replaces_it(groupx: Groupx, server: CliServer, tmp_path: Path) -> None:
    (tmp_path / "room.jsonl").write_text("old")
    server.export = LINES
    assert groupx("export", "--force", "-o", "room.jsonl").code == 0
    assert (tmp_path / "room.jsonl").read_bytes() == b"".join(LINES)


def test_a_file_that_appears_meanwhile_is_left_alone(
    groupx: Groupx, server: CliServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def appear(descriptor: int) -> None:
        (tmp_path / "room.jsonl").write_text("theirs")

    monkeypatch.setattr(os, "fsync", appear)
    server.export = LINES
    assert groupx("export", "-o", "room.jsonl").code == 6
    assert (tmp_path / "room.jsonl").read_text() == "theirs"
    assert left(tmp_path) == {"room.jsonl"}


def test_a_file_system_without_links_gets_a_rename(
    groupx: Groupx, server: CliServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    server.export = LINES
    assert groupx("export", "-o", "room.jsonl").code == 0
    assert left(tmp_path) == {"room.jsonl"}


def test_a_full_disk_leaves_nothing(
    groupx: Groupx, server: CliServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    server.export = LINES
    result = groupx("export", "-o", "room.jsonl")
    assert (result.code, "No space left" in result.err) == (6, True)
    assert left(tmp_path) == set()


@pytest.mark.parametrize("name", ["no/such/room.jsonl", "."])
def test_a_place_that_cannot_be_written_is_named(
    groupx: Groupx, server: CliServer, name: str
) -> None:
    server.export = LINES
    result = groupx("export", "-o", name)
    assert result.code == 6
    assert result.err.startswith("groupx: ")


def test_markdown_holds_no_control_sequences(
    groupx: Groupx, server: CliServer, tmp_path: Path
) -> None:
    hostile = "# Guide\x1b]0;x\x07 你\n\x9b2J\u202eevil\n".encode()
    server.export = [hostile[:10], hostile[10:21], hostile[21:]]
    shown = groupx("export", "--format", "md").out
    assert shown == "# Guide␛]0;x␇ 你\n\ufffd2J\ufffdevil\n"
    groupx("export", "-f", "md", "-o", "room.md")
    assert (tmp_path / "room.md").read_text() == shown


def test_json_lines_on_a_terminal_are_harmless(
    groupx: Groupx, server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupx_tui.cli.output.is_terminal", lambda: True)
    server.export = LINES
    assert groupx("export").out == '{"seq":1,"body":{"content":"你\\u009b"}}\n{"seq":2}\n'


def test_progress_is_shown_while_much_is_written(
    groupx: Groupx, server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("groupx_tui.cli.diagnostics.progress", shown.append)
    server.export = [b"x" * 700_000] * 4
    groupx("export", "-o", "big")
    assert shown == ["1 MiB", "2 MiB", ""]


def test_an_unknown_room_leaves_no_file(groupx: Groupx, server: CliServer, tmp_path: Path) -> None:
    error = {"error": {"code": "UNKNOWN_ROOM", "message": "There is no room “dve”."}}
    server.replies["GET", "/api/export"] = (404, error)
    assert groupx("export", "-r", "dve", "-o", "x").code == 6
    assert left(tmp_path) == set()
