"""How well search finds: Chinese, and English when an evaluator is given.

`--evaluator FILE` names a program that measures any retriever which speaks JSON lines on a
development split of its own, and prints recall; ours is `bench.retrieval_adapter`. Without one
those rows are skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from bench.chinese_retrieval import measure as measure_chinese
from bench.retrieval_adapter import Adapter
from bench.rows import Figure, Put, Row, Size, SkippedError, least
from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now

TESTS_FOLDER = Path(__file__).parents[2]
PATIENCE_S = 200.0

ROWS = (
    Row("chinese", "Chinese facts found among the first 5", "", least(0.95), least(0.98)),
    Row("english", "English, evidence among the first 10", "", least(0.77), least(0.82)),
    Row("mrr", "English, mean reciprocal rank", "", least(0.55), None),
    Row("pooled", "English, all in one scope, first 10", "", least(0.72), least(0.78)),
)


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    found = _chinese()
    put("chinese", Figure(found["all"], None, ", ".join(f"{w} {v}" for w, v in found.items())))
    if not size.evaluator or size.is_quick:
        raise SkippedError("no evaluator was given (BENCH='--evaluator FILE')")
    scoped = _evaluated(size.evaluator, "scoped")
    put("english", Figure(scoped["R@10"]))
    put("mrr", Figure(scoped["MRR"]))
    put("pooled", Figure(_evaluated(size.evaluator, "pooled")["R@10"]))


def _chinese() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        path = Path(name) / "groupx.db"
        prepare(path, now=utc_now)
        with closing(open_writer(path)) as book:
            found = measure_chinese(Adapter(book))
    recall = found["recall@5"]
    assert isinstance(recall, dict)
    return recall


def _evaluated(evaluator: str, mode: str) -> dict[str, float]:
    """Have the evaluator ask our adapter; return its figures over all questions."""
    adapter = f"env PYTHONPATH={TESTS_FOLDER} {sys.executable} -m bench.retrieval_adapter"
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        out = Path(name) / "out.json"
        argv = [sys.executable, evaluator, "--mode", mode, "--jsonl", adapter, "--out", str(out)]
        subprocess.run(argv, check=True, capture_output=True, timeout=PATIENCE_S)
        return _figures(json.loads(out.read_text()))


def _figures(report: dict[str, list[dict[str, float]]]) -> dict[str, float]:
    """Means over all questions."""
    rows = report["rows"]
    return {key: sum(row[key] for row in rows) / len(rows) for key in ("R@10", "MRR")}
