"""The table says what was seen last, and touches nothing but its own place."""

from __future__ import annotations

from live.capabilities import BEGIN, CASES, DOCUMENT, END, table, written
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


def test_the_document_has_the_table_of_these_programs() -> None:
    shown = DOCUMENT.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [_cells(line) for line in shown.strip().splitlines()]
    assert rows[0][3:-1] == list(CASES)
    assert [(row[0].strip("`"), row[1]) for row in rows[2:]] == [
        (program.name, program.version) for program in PROGRAMS.values()
    ]


def test_every_cell_of_the_table_was_seen_and_none_failed() -> None:
    shown = DOCUMENT.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    cells = [cell for line in shown.strip().splitlines()[2:] for cell in _cells(line)]
    assert len(cells) == len(PROGRAMS) * (len(CASES) + 4)
    assert [cell for cell in cells if cell in ("", "–", "**no**")] == []
