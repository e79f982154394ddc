"""How well search finds: Chinese, and English when an evaluator is given.

`--evaluator FILE` names a program that measures any retriever which speaks JSON lines on a
development split of its own, and writes figures by question; ours is `bench.retrieval_adapter`.
`--embeddings URL` names an endpoint for the rows with meaning. Without them those rows are skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench.chinese_retrieval import measure as measure_chinese
from bench.retrieval_adapter import Adapter
from bench.rows import Figure, Put, Row, Size, SkippedError, gains, least, most
from bench.sampling import p50, p95
from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now
from groupx_server.rooms.embedding import EmbeddingEndpoint
from groupx_shared.settings import EmbeddingSettings

TESTS_FOLDER = Path(__file__).parents[2]
PATIENCE_S = 200.0
MEANT_S = 800.0

ROWS = (
    Row("chinese", "Chinese facts found among the first 5", "", least(0.95), least(0.98)),
    Row("english", "English, evidence among the first 10", "", least(0.77), least(0.82)),
    Row("mrr", "English, mean reciprocal rank", "", least(0.55), None),
    Row("pooled", "English, all in one scope, first 10", "", least(0.72), least(0.78)),
    Row("renamed", "English, speakers renamed: most that it changes", "", most(0.015), None),
    Row("weakest", "English, each kind of question less its floor, the least", "", least(0), None),
    Row(
        "meant", "English with meaning, first 10", "", least(0.78) & gains(0), least(0.82), "words"
    ),
    Row("meant-kinds", "… each kind less what words find, the least", "", least(-0.015), None),
    Row("encode", "asking the endpoint for a query's vector, p95", "ms", most(60, "ms"), None),
)

FLOORS = {
    1: ("several turns", 0.40),
    2: ("when", 0.70),
    3: ("open", 0.38),
    4: ("one turn", 0.86),
    5: ("not said so", 0.85),
}
"""What the first ten must hold of each kind of question, by the evaluator's number of it."""
RENAMES = (3, 11, 29)
"""Seeds by which the evaluator gives the speakers other names: recall must not rest on them."""
QUESTIONS = 50


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    found = _chinese()
    put("chinese", Figure(found["all"], None, ", ".join(f"{w} {v}" for w, v in found.items())))
    if not size.evaluator or size.is_quick:
        raise SkippedError("no evaluator was given (BENCH='--evaluator FILE')")
    scoped = _evaluated(size.evaluator)
    put("english", Figure(scoped.first_ten))
    put("mrr", Figure(scoped.mrr))
    put("pooled", Figure(_evaluated(size.evaluator, "--mode", "pooled").first_ten))
    others = [_evaluated(size.evaluator, "--rename", str(seed)).first_ten for seed in RENAMES]
    changes = [abs(other - scoped.first_ten) for other in others]
    put("renamed", Figure(max(changes), None, ", ".join(f"{other:.3f}" for other in others)))
    spare = {kind: scoped.kinds[kind] - floor for kind, (_, floor) in FLOORS.items()}
    put("weakest", Figure(min(spare.values()), None, _by_kind(scoped)))
    if not size.embeddings:
        raise SkippedError("no embeddings endpoint was given (BENCH='--embeddings URL')")
    meant = _evaluated(size.evaluator, embeddings=size.embeddings)
    put("meant", Figure(meant.first_ten, scoped.first_ten, f"MRR {meant.mrr:.3f}"))
    gained = [meant.kinds[kind] - scoped.kinds[kind] for kind in FLOORS]
    put("meant-kinds", Figure(min(gained), None, _by_kind(meant)))
    took = await _encoding(size.embeddings)
    put("encode", Figure(p95(took), None, f"p50 {p50(took):.3g} ms"))


def _chinese() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        path = Path(name) / "groupx.db"
        prepare(path, now=utc_now)
        with closing(open_writer(path)) as book:
            found = measure_chinese(Adapter(book))
    recall = found["recall@5"]
    assert isinstance(recall, dict)
    return recall


@dataclass(frozen=True)
class Evaluated:
    """Means over all questions, and of the first ten by kind of question."""

    first_ten: float
    mrr: float
    kinds: dict[int, float]


def _evaluated(evaluator: str, *options: str, embeddings: str = "") -> Evaluated:
    """Have the evaluator ask our adapter."""
    adapter = f"env PYTHONPATH={TESTS_FOLDER} {sys.executable} -m bench.retrieval_adapter"
    if embeddings:
        adapter += f" --embeddings {embeddings}"
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        out = Path(name) / "out.json"
        argv = [sys.executable, evaluator, *options, "--jsonl", adapter, "--out", str(out)]
        patience_s = MEANT_S if embeddings else PATIENCE_S
        subprocess.run(argv, check=True, capture_output=True, timeout=patience_s)
        rows = json.loads(out.read_text())["rows"]
    kinds = {
        kind: fmean(row["R@10"] for row in rows if row["cat"] == kind)
        for kind in sorted({int(row["cat"]) for row in rows})
    }
    return Evaluated(fmean(row["R@10"] for row in rows), fmean(row["MRR"] for row in rows), kinds)


def _by_kind(found: Evaluated) -> str:
    return ", ".join(f"{name} {found.kinds[kind]:.3f}" for kind, (name, _) in FLOORS.items())


async def _encoding(url: str) -> list[float]:
    """Milliseconds of each of some questions, one after the other, after one to warm up."""
    settings = EmbeddingSettings(enabled=True, base_url=url, model="default", timeout_ms=60_000)
    endpoint = EmbeddingEndpoint(settings)
    took = []
    try:
        for number in range(QUESTIONS + 1):
            question = f"What did we decide about plan number {number} of the garden last summer?"
            begun = time.perf_counter()
            await endpoint.embed([question], settings.timeout_ms / 1000)
            took.append((time.perf_counter() - begun) * 1000)
    finally:
        await endpoint.aclose()
    return took[1:]
