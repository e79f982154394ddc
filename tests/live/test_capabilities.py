"""The table says what was seen last, and touches nothing but its own place."""

from __future__ import annotations

import pytest

from live.capabilities import (
    BEGIN,
    CASES,
    DOCUMENT,
    END,
    UPKEEP_BEGIN,
    UPKEEP_CASES,
    table,
    written,
)
from live.programs import PROGRAMS


def _result(agent: str, case: str, outcome: str = "passed", **told: str) -> dict[str, str]:
    version = PROGRAMS[agent].version
    base = {"agent": agent, "case": case, "date": "2026-01-02", "outcome": outcome}
    return {**base, "version": version, **told}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_each_agent_that_ran_has_a_row_with_its_newest_results() -> None:
    results = [
        _result("codex", "text", usage="tokens"),
        _result("codex", "tool", "failed"),
        _result("codex", "tool", how="in a new process"),
        _result("codex", "stop", "failed"),
        _result("gemini", "text", "skipped"),
    ]
    head, _, codex = map(_cells, table(results).splitlines())
    row = dict(zip(head, codex, strict=True))
    assert (row["agent"], row["version"], row["seen"]) == ("`codex`", "0.171.0", "2026-01-02")
    assert (row["text"], row["tool"], row["stop"]) == ("yes", "in a new process", "**no**")
    assert (row["death"], row["tells"]) == ("–", "tokens")


def test_the_document_keeps_all_but_the_table() -> None:
    document = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert written(document, "| new |") == f"before\n{BEGIN}\n\n| new |\n\n{END}\nafter\n"


TABLES = pytest.mark.parametrize(
    ("begin", "cases", "more"),
    [(BEGIN, CASES, ["tells"]), (UPKEEP_BEGIN, UPKEEP_CASES, [])],
    ids=["turns", "texts for the server"],
)


def _shown(begin: str) -> list[list[str]]:
    shown = DOCUMENT.read_text("utf-8").partition(begin)[2].partition(END)[0]
    return [_cells(line) for line in shown.strip().splitlines()]


@TABLES
def test_the_document_has_the_table_of_these_programs(
    begin: str, cases: tuple[str, ...], more: list[str]
) -> None:
    rows = _shown(begin)
    assert rows[0] == ["agent", "version", "seen", *cases, *more]
    assert [(row[0].strip("`"), row[1]) for row in rows[2:]] == [
        (program.name, program.version) for program in PROGRAMS.values()
    ]


@TABLES
def test_every_cell_of_the_table_was_seen_and_none_failed(
    begin: str, cases: tuple[str, ...], more: list[str]
) -> None:
    cells = [cell for row in _shown(begin)[2:] for cell in row]
    assert len(cells) == len(PROGRAMS) * (len(cases) + len(more) + 3)
    assert [cell for cell in cells if cell in ("", "–", "**no**")] == []


def test_a_table_of_other_cases_has_its_own_columns() -> None:
    head, _, row = map(_cells, table([_result("goose", "summary")], UPKEEP_CASES).splitlines())
    assert head == ["agent", "version", "seen", *UPKEEP_CASES]
    assert row[3:] == ["yes", "–", "–", "–"]
