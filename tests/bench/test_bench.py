"""Every row measures, on amounts that say nothing about speed; no figure is judged here."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bench import ledgerfile, report
from bench.__main__ import GROUPS, all_rows, chosen
from bench.ledgerfile import ledger_folder, make, rare_word
from bench.report import as_json, kept_reasons, markdown, unexplained
from bench.rows import Figure, Outcome, Row, most, times, times_at_least
from groupx_server.domain.searchtext import INDEX_VERSION
from groupx_server.ledger import migrate, searchindex
from groupx_server.ledger.migrate import load_migrations
from groupx_server.ledger.verify import find_violations

TESTS = Path(__file__).parents[1]
MARK = ledgerfile.mark_of_today()
CHEAP = ("accepting", "streaming", "agentlines")
ROW = Row("speed", "speed", "ms", times(2), times(1.5), "floor")


@pytest.mark.slow
@pytest.mark.process
def test_each_row_of_the_cheap_groups_gives_a_figure() -> None:
    """The others are seen with `make bench BENCH=--quick`, which takes a minute."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--only", ",".join(CHEAP), "--json", "-"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    rows = json.loads(done.stdout)["rows"]
    troubles = {row["row"]: row["trouble"] for row in rows if row["verdict"] == "failed"}
    assert (troubles, done.returncode) == ({}, 0), done.stderr
    wanted = {row.key for group in CHEAP for row in all_rows()[group]}
    assert {row["row"] for row in rows if row["figure"] is not None} == wanted


def test_row_names_are_unique_and_are_no_names_of_groups() -> None:
    keys = [row.key for rows in all_rows().values() for row in rows]
    assert len(keys) == len(set(keys))
    assert not set(keys) & set(GROUPS)


def test_a_row_chosen_by_name_runs_its_group_alone() -> None:
    assert chosen("accept,turn") == (["accepting", "turns"], {"accept", "turn"})


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(SystemExit, match="speeed"):
        chosen("speeed")


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [(Figure(2.9, 2), "stretch"), (Figure(3.9, 2), "goal"), (Figure(4.1, 2), "short")],
)
def test_the_verdict_is_the_best_goal_that_is_kept(figure: Figure, verdict: str) -> None:
    assert Outcome("group", ROW, figure).verdict == verdict


def test_a_row_without_a_figure_has_failed() -> None:
    assert Outcome("group", ROW, None, "no disk").verdict == "failed"


def test_goals_join_with_and_and_or() -> None:
    figure = Figure(10, 5)
    assert not (times(1.5) & most(20)).holds(figure)
    assert (times(1.5) | most(20)).holds(figure)
    assert (times_at_least(2) & most(20)).text == "≥ 2× and ≤ 20"


def test_a_ratio_goal_is_not_kept_without_a_counterpart() -> None:
    assert not times(2).holds(Figure(1))
    assert not times_at_least(2).holds(Figure(1))


def test_a_new_table_keeps_what_was_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    first = Outcome("group", ROW, Figure(9, 2))
    page.write_text(markdown({"date": "monday"}, [first], kept_reasons(page)))
    page.write_text(page.read_text() + "\n### `speed`\n\nThe disk.\n")
    second = Outcome("group", ROW, Figure(8, 2))
    page.write_text(markdown({"date": "tuesday"}, [second], kept_reasons(page)))
    text = page.read_text()
    assert "monday" not in text
    assert "tuesday" in text
    assert "4.00×" in text
    assert text.endswith("### `speed`\n\nThe disk.\n")


def test_a_row_that_falls_short_without_a_reason_is_named() -> None:
    short = Outcome("group", ROW, Figure(9, 2))
    assert unexplained([short], report.NO_REASONS) == ["speed"]
    assert unexplained([short], report.NO_REASONS + "\n### `speed`\n\nThe disk.\n") == []


def test_reasons_in_the_docs_are_of_rows_that_exist() -> None:
    known = {row.key for rows in all_rows().values() for row in rows}
    page = TESTS.parent / "docs" / "BENCHMARKS.md"
    assert set(report.HEADING.findall(page.read_text("utf-8"))) <= known


def test_json_holds_everything() -> None:
    (row,) = as_json({}, [Outcome("group", ROW, Figure(4, 2))], 1.0)["rows"]
    assert (row["ratio"], row["goal"], row["verdict"]) == (2, "≤ 2×", "goal")


@pytest.mark.slow
def test_a_made_ledger_breaks_no_rule_of_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    make(path, 400)
    with closing(sqlite3.connect(path)) as book:
        assert find_violations(book) == []
        sql = "SELECT count(*), count(DISTINCT room_id) FROM events"
        events, rooms = book.execute(sql).fetchone()
        assert events >= 400
        assert rooms > 10


@pytest.mark.slow
def test_a_made_ledger_is_used_again_and_one_that_was_broken_off_is_not(tmp_path: Path) -> None:
    folder = ledger_folder(50, tmp_path)
    made = (folder / ".groupx" / "groupx.db").stat().st_mtime_ns
    assert (ledger_folder(50, tmp_path) / ".groupx" / "groupx.db").stat().st_mtime_ns == made
    (folder / "complete").unlink()
    assert (ledger_folder(50, tmp_path) / ".groupx" / "groupx.db").stat().st_mtime_ns > made


@pytest.mark.slow
def test_a_made_ledger_is_upgraded_when_only_newer_migrations_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = load_migrations()
    monkeypatch.setattr(ledgerfile, "mark_of_today", lambda: MARK[:-1])
    monkeypatch.setattr(migrate, "load_migrations", lambda: steps[:-1])
    monkeypatch.setattr(ledgerfile, "_index", lambda _: None)  # it knows today's tables alone
    path = ledger_folder(50, tmp_path) / ".groupx" / "groupx.db"
    monkeypatch.undo()
    with closing(sqlite3.connect(path)) as book:
        (before,) = book.execute("SELECT max(occurred_at) FROM events").fetchone()
    ledger_folder(50, tmp_path)
    with closing(sqlite3.connect(path)) as book:
        assert book.execute("SELECT max(occurred_at) FROM events").fetchone() == (before,)
        assert book.execute("PRAGMA user_version").fetchone() == (steps[-1].version,)
    assert len(list(path.parent.glob("*.bak.db"))) == 0


def test_a_made_ledger_is_indexed_anew_when_the_rules_of_the_index_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ledger_folder(50, tmp_path) / ".groupx" / "groupx.db"
    monkeypatch.setattr(searchindex, "INDEX_VERSION", INDEX_VERSION + 1)
    told: list[str] = []
    for _ in range(2):
        ledger_folder(50, tmp_path, told.append)
    assert told == ["upgrading the ledger of 50 events"]
    with closing(sqlite3.connect(path)) as book:
        assert not searchindex.is_outdated(book)


def test_rare_words_differ() -> None:
    assert len({rare_word(seq) for seq in range(1, 3_000)}) == 2_999
