"""Runs the benchmarks: `make bench`, or `PYTHONPATH=tests python -m bench [--quick] [--only …]`.

Each group of rows is measured by a process of its own (`child`), which is bounded; a group that
fails or hangs costs its own rows. Prints every row when it is there and a table at the end; a
whole run writes docs/BENCHMARKS.md. Exit code 1 when a row has no figure, or leaves processes.
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench import report
from bench.child import load
from bench.ledgerfile import ledger_folder
from bench.rows import QUICK, Figure, Outcome, Row, Size
from bench.site import SHELF, tell
from support.marked_processes import marked

GROUPS = (
    "accepting", "streaming", "turns", "flatroom", "flatmessage", "searching", "starting",
    "window", "footprint", "agentlines", "moving", "soak", "recall", "forgetting",
)  # fmt: skip
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "BENCHMARKS.md"
MARK = "GROUPX_BENCH_RUN"
GROUP_S = 240.0
"""Bound of one group."""
WHOLE_S = 2_040.0
"""Bound of everything, besides a longer soak; what is not measured by then has no figure."""
MEANT_S = 900.0
"""Longer, for an embeddings endpoint that reads thousands of texts on this machine."""
QUICK_S = 280.0
TOLD = 70


def all_rows() -> dict[str, list[Row]]:
    """Every row, by group."""
    return {group: list(load(group).ROWS) for group in GROUPS}


class Run:
    """One run over some groups."""

    def __init__(self, size: Size, groups: Sequence[str], keys: set[str]) -> None:
        self._size = size
        self._groups = groups
        self._mark = uuid.uuid4().hex
        self._rows = {
            (group, row.key): row
            for group, rows in all_rows().items()
            for row in rows
            if group in groups and (not keys or row.key in keys)
        }
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.left: list[str] = []
        """Commands of processes that a group left behind; they were ended."""

    def measure(self) -> list[Outcome]:
        """Measure the groups one after the other; a quick run has one process for all."""
        begun = time.monotonic()
        parts = [list(self._groups)] if self._size.is_quick else [[g] for g in self._groups]
        for part in parts:
            soak_s, meant_s = self._size.soak_s, MEANT_S if self._size.embeddings else 0
            more_s = max(0, soak_s - Size().soak_s) + meant_s
            left_s = WHOLE_S + more_s - (time.monotonic() - begun)
            group_s = GROUP_S + (soak_s if "soak" in part else 0)
            group_s += meant_s if "recall" in part else 0
            limit = QUICK_S if self._size.is_quick else min(group_s, left_s)
            if limit > 1:
                asyncio.run(self._run_child(part, limit))
            self._close(part, f"it took longer than {max(0, limit):.0f} s")
        return [self.outcomes[place] for place in self._rows]

    async def _run_child(self, groups: list[str], limit_s: float) -> None:
        with tempfile.TemporaryDirectory(prefix="groupx-bench-home-") as home:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bench.child", json.dumps(self._size.as_json()), *groups,
                stdout=asyncio.subprocess.PIPE, env=self._environment(home),
                start_new_session=True,
            )  # fmt: skip
            assert process.stdout is not None
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(limit_s):
                        while line := await process.stdout.readline():
                            self._take(json.loads(line))
                        await process.wait()
            finally:
                self._end_all(process)
                await process.wait()

    def _environment(self, home: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GROUPX_")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        path = os.pathsep.join(filter(None, (str(ROOT / "tests"), kept.get("PYTHONPATH"))))
        shelf = str(SHELF.resolve())
        own = {MARK: self._mark, "GROUPX_HOME": home, "GROUPX_BENCH_SHELF": shelf}
        return kept | own | {"PYTHONPATH": path}

    def _end_all(self, process: asyncio.subprocess.Process) -> None:
        """End the child, and whatever it started and still lives."""
        is_over = process.returncode is not None
        for other in marked(MARK, self._mark):
            if other.pid != process.pid:
                self.left += [other.command[:TOLD]] if is_over else []
            with contextlib.suppress(ProcessLookupError):
                os.kill(other.pid, signal.SIGKILL)

    def _take(self, line: dict[str, object]) -> None:
        place = str(line["group"]), str(line["row"])
        if place not in self._rows:
            return
        value = line.get("figure")
        figure = Figure(*value) if isinstance(value, list) else None
        trouble, is_skipped = str(line.get("trouble", "")), bool(line.get("skipped"))
        self._keep(place, Outcome(place[0], self._rows[place], figure, trouble, is_skipped))

    def _close(self, groups: list[str], trouble: str) -> None:
        for place, row in self._rows.items():
            if place[0] in groups and place not in self.outcomes:
                self._keep(place, Outcome(place[0], row, None, trouble))

    def _keep(self, place: tuple[str, str], outcome: Outcome) -> None:
        self.outcomes[place] = outcome
        _, measured, beside, ratio, *_ = report.cells(outcome)
        tell(f"{place[0]:>12}  {place[1]:<16} {outcome.verdict:<8} {measured}  {ratio}  {beside}")


def chosen(only: str) -> tuple[list[str], set[str]]:
    """The groups to run and the rows to show, for `--only`. Raises: SystemExit."""
    if not only:
        return list(GROUPS), set()
    rows = all_rows()
    groups, keys = set(), set()
    for word in only.split(","):
        if word in rows:
            groups.add(word)
            keys |= {row.key for row in rows[word]}
            continue
        found = [group for group, each in rows.items() if word in {row.key for row in each}]
        if not found:
            raise SystemExit(f"there is no row or group “{word}”; see --list")
        groups |= set(found)
        keys.add(word)
    return [group for group in GROUPS if group in groups], keys


def prepare(size: Size) -> None:
    """Compile what is started, and make the ledgers, before anything is timed."""
    tell("compiling")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for folder in ("groupx_server", "groupx_tui", "shared", "themes", "tests/bench"):
        compileall.compile_dir(ROOT / folder, quiet=2)
    libraries = sysconfig.get_path("purelib")
    argv = [sys.executable, "-m", "compileall", "-qq", "-j", "0", libraries]
    subprocess.run(argv, check=False, stdout=subprocess.DEVNULL)
    for count in size.sizes:
        ledger_folder(count, SHELF.resolve(), tell)


def main() -> int:
    """Run what the command line asks for."""
    options = _options()
    if options.list:
        for group, rows in all_rows().items():
            for row in rows:
                print(f"{group:>12}  {row.key:<16} {row.title}")
        return 0
    size = replace(
        QUICK if options.quick else Size(),
        evaluator=options.evaluator,
        embeddings=options.embeddings,
    )
    if options.soak:
        size = replace(size, soak_s=options.soak * 60)
    groups, keys = chosen(options.only)
    if not options.quick:
        prepare(size)
    facts, begun = report.machine(), time.monotonic()
    run = Run(size, groups, keys)
    outcomes = run.measure()
    took = time.monotonic() - begun
    found = json.dumps(report.as_json(facts, outcomes, took), indent=2, ensure_ascii=False)
    if options.json == "-":
        print(found)
    else:
        print(report.text_table(outcomes))
        if options.json:
            Path(options.json).write_text(found, encoding="utf-8")
    reasons = report.kept_reasons(PAGE)
    if not options.quick and not options.only:
        PAGE.write_text(report.markdown(facts, outcomes, reasons), encoding="utf-8")
    return _conclude(run, outcomes, reasons, took, is_quick=options.quick)


def _conclude(
    run: Run, outcomes: list[Outcome], reasons: str, took: float, *, is_quick: bool
) -> int:
    counts = {name: sum(o.verdict == name for o in outcomes) for name in VERDICTS}
    tell(
        f"{len(outcomes)} rows in {took:.0f} s: " + ", ".join(f"{n} {w}" for w, n in counts.items())
    )
    if not is_quick and (bare := report.unexplained(outcomes, reasons)):
        tell(f"short without a reason in {PAGE.name}: {', '.join(bare)}")
    for command in run.left:
        tell(f"left behind, ended: {command}")
    return int(bool(counts["failed"] or run.left))


VERDICTS = ("stretch", "goal", "short", "failed", "skipped")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny amounts: does it measure?")
    parser.add_argument("--only", default="", metavar="NAMES", help="rows or groups, by comma")
    parser.add_argument("--json", default="", metavar="FILE", help="write JSON there; - is stdout")
    parser.add_argument("--evaluator", default="", metavar="FILE", help="for the recall rows")
    parser.add_argument("--embeddings", default="", metavar="URL", help="for those with meaning")
    parser.add_argument("--soak", type=float, default=0, metavar="MINUTES", help="default: 15")
    parser.add_argument("--list", action="store_true", help="name all rows")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
