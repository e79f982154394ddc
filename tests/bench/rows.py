"""Rows of the benchmark: what is measured, beside what, and how good it should be.

A row has a figure and, mostly, a counterpart that was measured in the same run: its floor, or the
same at another size. Goals are sentences with a test in them; nothing here measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured for one row. `floor` is the counterpart, in the same unit."""

    value: float
    floor: float | None = None
    note: str = ""
    """What else was seen: other quantiles, other sizes."""

    @property
    def ratio(self) -> float | None:
        """How many times the counterpart."""
        return self.value / self.floor if self.floor else None

    @property
    def added(self) -> float:
        """How much more than the counterpart."""
        return self.value - (self.floor or 0.0)


@dataclass(frozen=True, slots=True)
class Goal:
    """A sentence, and whether a figure keeps it."""

    text: str
    holds: Callable[[Figure], bool]

    def __and__(self, other: Goal) -> Goal:
        return Goal(f"{self.text} and {other.text}", lambda f: self.holds(f) and other.holds(f))

    def __or__(self, other: Goal) -> Goal:
        return Goal(f"{self.text} or {other.text}", lambda f: self.holds(f) or other.holds(f))


def times(most: float) -> Goal:
    """At most so many times the counterpart."""
    return Goal(f"≤ {most:g}×", lambda f: f.ratio is not None and f.ratio <= most)


def times_at_least(least: float) -> Goal:
    """At least so many times the counterpart."""
    return Goal(f"≥ {least:g}×", lambda f: f.ratio is not None and f.ratio >= least)


def most(value: float, unit: str = "") -> Goal:
    """At most this."""
    return Goal(f"≤ {value:g}{_spaced(unit)}", lambda f: f.value <= value)


def least(value: float, unit: str = "") -> Goal:
    """At least this."""
    return Goal(f"≥ {value:g}{_spaced(unit)}", lambda f: f.value >= value)


def more_by(value: float, unit: str) -> Goal:
    """At most so much more than the counterpart."""
    return Goal(f"≤ +{value:g}{_spaced(unit)}", lambda f: f.added <= value)


def gains(value: float) -> Goal:
    """At least so much more than the counterpart."""
    return Goal(f"≥ {value:+g}", lambda f: f.added >= value)


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `against` names the counterpart."""

    key: str
    title: str
    unit: str
    goal: Goal | None = None
    stretch: Goal | None = None
    against: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row as it came out; `trouble` says why there is no figure, `skipped` that none was due."""

    group: str
    row: Row
    figure: Figure | None
    trouble: str = ""
    skipped: bool = False

    @property
    def verdict(self) -> str:
        """stretch, goal, short, failed, skipped, or nothing for a row without a goal."""
        if self.figure is None:
            return "skipped" if self.skipped else "failed"
        for name, goal in (("stretch", self.row.stretch), ("goal", self.row.goal)):
            if goal is not None and goal.holds(self.figure):
                return name
        return "short" if self.row.goal is not None else ""

    def as_json(self) -> dict[str, Any]:
        """Everything, with the goals as sentences."""
        row, figure = self.row, self.figure
        return {
            "group": self.group,
            "row": row.key,
            "title": row.title,
            "unit": row.unit,
            "figure": None if figure is None else figure.value,
            "against": row.against,
            "counterpart": None if figure is None else figure.floor,
            "ratio": None if figure is None else figure.ratio,
            "note": "" if figure is None else figure.note,
            "goal": "" if row.goal is None else row.goal.text,
            "stretch": "" if row.stretch is None else row.stretch.text,
            "verdict": self.verdict,
            "trouble": self.trouble,
        }


Put = Callable[[str, Figure], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: in a whole run, or in a quick one that only shows that it works."""

    rounds: int = 5
    sizes: tuple[int, int, int] = (10_000, 100_000, 1_000_000)
    part: float = 1.0
    is_quick: bool = False
    soak_s: float = 900.0
    """Of a quarter of an hour the second half is looked at: caches have filled by then, and one
    piece of memory is not taken for an hour's growth."""
    evaluator: str = ""
    """Path of a retrieval evaluator; empty: those rows are skipped."""
    embeddings: str = ""
    """Address of an embeddings endpoint for the rows with meaning; empty: they are skipped."""

    def of(self, count: int, least: int = 2) -> int:
        """So many of something, fewer in a quick run."""
        return max(least, round(count * self.part))

    def as_json(self) -> dict[str, Any]:
        """For the child that measures."""
        return asdict(self)


QUICK = Size(rounds=1, sizes=(300, 450, 600), part=0.004, is_quick=True, soak_s=1.0)


class SkippedError(Exception):
    """What a group needs is not on this machine; the text says what."""
