"""What a run found: the table for people, JSON for programs, and the page in the docs.

The page's upper part is written anew by each whole run. What stands below `REASONS` is written by
hand, one heading for each row that falls short, and is kept.
"""

from __future__ import annotations

import os
import platform
import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.rows import Outcome
from groupx_shared.version import VERSION

REASONS = "## Reasons"
HEADING = re.compile(r"^### `([a-z0-9-]+)`", re.MULTILINE)
LIBRARIES = ("uvicorn", "uvloop", "starlette", "textual", "orjson", "mcp")
COLUMNS = ("row", "figure", "counterpart", "ratio", "goal", "stretch", "verdict")

ABOUT = """\
# Benchmarks

Written by `make bench`; only what stands below “Reasons” is written by hand. Each figure stands
beside its floor or its counterpart of the same run: ratios are the thing to read, because
milliseconds are a machine's. Figures are medians of five rounds or more that took turns with
their counterpart; start-up is measured with compiled bytecode, agents are programs of their own.
`make bench BENCH=--quick` shows in a minute that everything measures; its figures mean nothing.

The code is `tests/bench`: a file for each group of rows. Verdicts: **stretch** and **goal** are
reached, **short** falls short (the reason stands below), **failed** gave no figure.
"""

NO_REASONS = """\
## Reasons

For each row that falls short: why, and what its floor is.
"""


def machine() -> dict[str, str]:
    """What was measured on."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{_cpu_name()}, {os.cpu_count()} cores, {_memory_gb():.0f} GB",
        "kernel": f"{platform.system()} {platform.release()}",
        "load": f"{os.getloadavg()[0]:.1f} at the start",
        "Python": f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        "GroupX": VERSION,
        "libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES),
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except FileNotFoundError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), "?")


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def as_json(facts: dict[str, str], outcomes: Sequence[Outcome], seconds: float) -> dict[str, Any]:
    """The whole run."""
    rows = [outcome.as_json() for outcome in outcomes]
    return {"run": facts, "seconds": round(seconds), "rows": rows}


def cells(outcome: Outcome) -> tuple[str, ...]:
    """One line of the table."""
    row, figure = outcome.row, outcome.figure
    goals = ("" if g is None else g.text for g in (row.goal, row.stretch))
    if figure is None:
        return (row.title, outcome.trouble, "", "", *goals, outcome.verdict)
    measured = f"{_number(figure.value)} {row.unit}".strip()
    beside = "" if figure.floor is None else f"{_number(figure.floor)} ({row.against})"
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}×"
    note = f" ({figure.note})" if figure.note else ""
    return (row.title, measured + note, beside, ratio, *goals, outcome.verdict)


def _number(value: float) -> str:
    if value != value:
        return "?"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def text_table(outcomes: Sequence[Outcome]) -> str:
    """Aligned columns for a terminal."""
    lines = [("", *COLUMNS)] + [(o.row.key, *cells(o)) for o in outcomes]
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def markdown(facts: dict[str, str], outcomes: Sequence[Outcome], reasons: str) -> str:
    """The page."""
    parts = [ABOUT]
    if not outcomes:
        parts.append("No whole run was recorded yet.\n")
    else:
        parts.append("\n".join(f"* {name}: {value}" for name, value in facts.items()) + "\n")
    for group in dict.fromkeys(outcome.group for outcome in outcomes):
        parts.append(f"## {group}\n")
        parts.append(_table([outcome for outcome in outcomes if outcome.group == group]))
    return "\n".join([*parts, reasons])


def _table(outcomes: Sequence[Outcome]) -> str:
    lines = ["| | " + " | ".join(COLUMNS[1:]) + " |", "|---" * len(COLUMNS) + "|"]
    for outcome in outcomes:
        title, *rest = (cell.replace("|", "\\|") for cell in cells(outcome))
        lines.append(f"| {title} (`{outcome.row.key}`) | " + " | ".join(rest) + " |")
    return "\n".join(lines) + "\n"


def kept_reasons(page: Path) -> str:
    """The part that is written by hand."""
    if not page.exists() or REASONS not in (text := page.read_text(encoding="utf-8")):
        return NO_REASONS
    return text[text.index(REASONS) :]


def unexplained(outcomes: Sequence[Outcome], reasons: str) -> list[str]:
    """Rows that fall short without a reason in the docs."""
    explained = set(HEADING.findall(reasons))
    return [o.row.key for o in outcomes if o.verdict == "short" and o.row.key not in explained]
