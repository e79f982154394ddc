"""The list of what was removed: ids only, never in doubt about a line that was cut."""

from __future__ import annotations

import stat
from pathlib import Path

from groupx_server.ledger.revocations import list_path, note_removals, read_removals


def test_what_is_noted_is_read_once_and_a_cut_line_is_passed_over(tmp_path: Path) -> None:
    database = tmp_path / "groupx.db"
    assert read_removals(database) == []
    note_removals(database, [("event", "evt_1"), ("memory", "mem_1")])
    note_removals(database, [("event", "evt_1")])
    with list_path(database).open("ab") as file:
        file.write(b'{"kind":"other","id":"x"}\n[1]\n{"kind":"eve')
    assert read_removals(database) == [("event", "evt_1"), ("memory", "mem_1")]
    assert stat.S_IMODE(list_path(database).stat().st_mode) == 0o600
