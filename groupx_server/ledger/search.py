"""Searching the index: what a plan (`searchplan`) finds, ranked, in pages.

Rank: bm25 with a weight for each column, a little more for whom the query names and for what is
recent. With a meaning, the best by words are put in the order of words and meaning together; what
stands behind them is as without.
"""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from groupx_server.domain.searchquery import Query, parse_query
from groupx_server.domain.searchtext import words_of
from groupx_server.domain.vectors import Vector, fuse, nearness_among
from groupx_server.ledger.searchplan import CAP_ROWS, Filters, Plan, is_read, make_plan
from groupx_server.ledger.searchrows import content_at
from groupx_server.ledger.searchvectors import vectors_of
from groupx_shared.errors import RefusedError

__all__ = ["Filters", "Found", "FoundPage", "Meaning", "search", "sql_of"]  # one place to ask

WEIGHTS: Final = "0.3, 1.0, 1.0, 0.5, 0.25, 0.0"
"""Of context, text, speaker, days, single characters, scope."""

NAMED_BOOST: Final = 1.2
"""For what was said by the one speaker that the query names."""

RECENT_BOOST: Final = 0.05
RECENT_DAYS: Final = 30
"""Something new weighs 5 % more than something old, half of it after a month: this settles ties
and no more."""

EXAMINED: Final = 2_000
"""Rows that one page reads at most, for what the index alone cannot prove: a phrase, a beginning
of words, what the caller keeps."""

CANDIDATES: Final = 200
"""The best by words, whose meaning is compared too (measured: more find no more)."""

COVERED: Final = 0.5
"""Part of them that must have vectors."""

WORDLESS: Final = 20
"""Found at most by what they mean alone, of the newest texts, when words find few."""


class Found(NamedTuple):
    """One row that matches, with its text."""

    row_id: int
    score: float
    kind: str
    ref_id: str
    room_id: str | None
    actor_id: str
    subject_id: str | None
    speaker: str
    type: str
    root: str | None
    seq: int | None
    occurred_at: str
    content: str


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The best rows after the cursor. Fewer than were asked for, with a cursor: so many rows were
    read that the rest is another page's."""

    found: list[Found]
    query: Query
    next_cursor: str | None
    is_capped: bool
    """Not every row that matches was looked at."""
    by_meaning: bool = False
    """What it means counted too."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a query means, and how much that weighs beside its words."""

    vector: Vector
    weight: float
    least: float = 1.0
    """How near a text must be that has none of the words; 1: such ones are not looked for."""


Keeps = Callable[[Found], bool]
"""What a caller wants of what was found."""


ALL_BITS: Final = (1 << (CANDIDATES + WORDLESS)) - 1


class _Place(NamedTuple):
    """Where a page ends. `through` and `now` keep later pages from moving. `given`: which of the
    best by words were given already, one bit each (then neither score nor row count), so that later
    pages have the others whatever becomes of their vectors."""

    score: float
    row_id: int
    through: int
    now: str
    given: int = 0


def search(
    connection: sqlite3.Connection,
    text: str,
    filters: Filters,
    now: str,
    *,
    cursor: str | None = None,
    limit: int = 20,
    meaning: Meaning | None = None,
    keeps: Keeps | None = None,
) -> FoundPage:
    """Find what `text` asks for, best first; of that only what `keeps` allows, before the page is
    filled. With a `meaning` the best by words are put in another order; a cursor of such a page
    goes on without one too.

    Raises: RefusedError for a foreign cursor.
    """
    query = parse_query(text)
    if query.is_empty:
        return FoundPage([], query, None, False)
    (newest,) = connection.execute("SELECT COALESCE(MAX(row_id), 0) FROM search_rows").fetchone()
    place = _Place(float("-inf"), 0, newest, now) if cursor is None else _decode(cursor)
    plan = make_plan(connection, query, filters, place.through)
    work = _Work(connection, query, filters, plan, keeps)
    is_first = cursor is None or place.given > 0
    mixed = None
    if meaning is not None and plan.is_ranked and is_first:
        mixed = _mixed_page(work, place, limit, meaning)
    if mixed is None and place.given:
        mixed = _mixed_page(work, place, limit, None)
    return mixed or _page(work, place, limit)


class _Work(NamedTuple):
    connection: sqlite3.Connection
    query: Query
    filters: Filters
    plan: Plan
    keeps: Keeps | None

    def has(self, row: Found) -> bool:
        return proves(self.query, row) and (self.keeps is None or self.keeps(row))


def _page(work: _Work, place: _Place, limit: int) -> FoundPage:
    """The best by words behind a place."""
    found: list[Found] = []
    following, is_capped = None, work.plan.is_capped
    last = None
    for number, row in enumerate(_rows(work.connection, work.plan, work.filters, place)):
        if number >= EXAMINED + limit and last is not None:
            is_capped, following = True, _encode(place, last)
            break
        last = row
        if not work.has(row):
            continue
        if len(found) == limit:
            following = _encode(place, found[-1])
            break
        found.append(row)
    return FoundPage(found, work.query, following, is_capped)


# ── Meaning ───────────────────────────────────────────────────────────────────────────────────


def _mixed_page(
    work: _Work, place: _Place, limit: int, meaning: Meaning | None
) -> FoundPage | None:
    """A page of the best by words in the order of words and meaning, and behind these the others;
    None when too few of them have vectors. Without a meaning, what was not given yet comes in the
    order of words."""
    best = _page(work, place._replace(score=float("-inf"), row_id=0, given=0), CANDIDATES)
    found = list(best.found)
    order: Sequence[tuple[float, int]] | None = [(row.score, at) for at, row in enumerate(found)]
    if meaning is not None:
        found += _wordless(work, place, best, meaning)
        order = _fused(work.connection, found, len(best.found), meaning)
    if order is None:
        return None
    left = [(score, at) for score, at in order if not place.given >> at & 1]
    now_due = [found[at]._replace(score=score) for score, at in left[:limit]]
    is_capped, following = best.is_capped, best.next_cursor
    if len(left) > limit:
        given = place.given | sum(1 << at for _, at in left[:limit])
        following = _encode_place(place._replace(score=0.0, row_id=0, given=given))
    elif following is not None and (rest := limit - len(now_due)):
        page = _page(work, _decode(following), rest)
        scale = (lambda score: score) if meaning is None else partial(_behind, best.found)
        now_due += [row._replace(score=scale(row.score)) for row in page.found]
        following, is_capped = page.next_cursor, is_capped or page.is_capped
    return FoundPage(now_due, work.query, following, is_capped, by_meaning=meaning is not None)


def _wordless(work: _Work, place: _Place, best: FoundPage, meaning: Meaning) -> list[Found]:
    """Those of the newest texts that are near enough, when words find few and none must be."""
    query = work.query
    missing = CANDIDATES - len(best.found)
    if not missing or query.must or query.must_not or query.prefixes or meaning.least >= 1:
        return []
    known = {row.row_id for row in best.found}
    filters = [(f"r.{clause} ?", value) for clause, value in _filter_values(work.filters)]
    if work.filters.actor_id is not None:
        names = "r.actor_id, COALESCE(r.subject_id, ''), COALESCE(r.owner_id, '')"
        filters.append((f"? IN ({names})", work.filters.actor_id))
    values = [value for _, value in filters]
    if work.filters.seen_by is not None and work.filters.seen_in is not None:
        filters.append(("(r.room_id = ? OR r.owner_id IN (?, ?))", ""))
        values += [work.filters.seen_in, work.filters.seen_by, work.filters.seen_for]
    newest = work.connection.execute(
        "SELECT r.row_id, r.room_id, r.seq FROM search_rows r WHERE r.row_id <= ? AND r.row_id > ?"
        f"{''.join(f' AND {clause}' for clause, _ in filters)} ORDER BY r.row_id DESC LIMIT ?",
        (place.through, place.through - CAP_ROWS, *values, missing),
    ).fetchall()
    vectors = vectors_of(work.connection, [row for row in newest if row[0] not in known])
    near = {row_id: nearness_among(meaning.vector, *each) for row_id, each in vectors.items()}
    chosen = sorted((-how, row_id) for row_id, how in near.items() if how >= meaning.least)
    score = best.found[-1].score if best.found else 0.0
    found = [_found(work.connection, row_id, score) for _, row_id in chosen[:WORDLESS]]
    return [row for row in found if work.keeps is None or work.keeps(row)]


def _fused(
    connection: sqlite3.Connection, found: Sequence[Found], by_words: int, meaning: Meaning
) -> list[tuple[float, int]] | None:
    """Score and place of all, best first; the first `by_words` of them have the words."""
    vectors = vectors_of(connection, [(row.row_id, row.room_id, row.seq) for row in found])
    with_words = sum(row.row_id in vectors for row in found[:by_words])
    if with_words < by_words * COVERED or not vectors:
        return None
    nearness = {
        at: nearness_among(meaning.vector, *vectors[row.row_id])
        for at, row in enumerate(found)
        if row.row_id in vectors
    }
    scores = fuse([-row.score for row in found], nearness, meaning.weight)
    return sorted((-score, at) for at, score in enumerate(scores))


def _behind(best: Sequence[Found], score: float) -> float:
    """A score by words alone on the scale of those that were fused, behind all of them."""
    first, last = best[0].score, best[-1].score
    return (score - last) / (last - first) if last > first else score - last


def proves(query: Query, row: Found) -> bool:
    """Whether a row that the index proposes has the phrases, beginnings and function words that are
    asked for."""
    phrases = [words for words in query.must if is_read(words)]
    banned = [words for words in query.must_not if is_read(words)]
    if not (phrases or banned or query.prefixes):
        return True
    words = words_of(f"{row.speaker}\n{row.content}")
    return (
        all(_stands_in(phrase, words) for phrase in phrases)
        and not any(_stands_in(phrase, words) for phrase in banned)
        and all(any(w.startswith(prefix) for w in words) for prefix in query.prefixes)
    )


def _stands_in(phrase: tuple[str, ...], words: Sequence[str]) -> bool:
    size = len(phrase)
    return any(
        words[at] == phrase[0] and tuple(words[at : at + size]) == phrase
        for at in range(len(words) - size + 1)
    )


# ── Reading ───────────────────────────────────────────────────────────────────────────────────


def sql_of(plan_is_ranked: bool, filters: Filters, named: int) -> str:
    """The statement of a search; its parameters are those of `_rows`."""
    score = f"bm25(search_fts, {WEIGHTS})" if plan_is_ranked else "-1.0"
    if plan_is_ranked and named:
        marks = ", ".join("?" * named)
        score += f" * CASE WHEN r.actor_id IN ({marks}) THEN {NAMED_BOOST} ELSE 1.0 END"
    age = "MAX(0.0, COALESCE(julianday(?) - julianday(r.occurred_at), 1e6))"
    recent = RECENT_BOOST if plan_is_ranked else 1.0
    score += f" * (1.0 + {recent} / (1.0 + {age} / {RECENT_DAYS}))"
    clauses = "".join(f" AND r.{clause} ?" for clause, _ in _filter_values(filters))
    return (
        "SELECT row_id, score FROM ("
        f"SELECT r.row_id AS row_id, {score} AS score FROM search_fts"
        " CROSS JOIN search_rows r ON r.row_id = search_fts.rowid"
        " WHERE search_fts MATCH ? AND search_fts.rowid >= ?"
        f" AND r.row_id <= ?{clauses} LIMIT -1 OFFSET 0)"
        " WHERE (score, row_id) > (?, ?) ORDER BY score, row_id"
    )


def _filter_values(filters: Filters) -> list[tuple[str, str]]:
    given = [
        ("room_id =", filters.room_id),
        ("kind =", filters.kind),
        ("type =", filters.type),
        ("root =", filters.root),
        ("occurred_at >=", filters.since),
        ("occurred_at <=", filters.until),
        ("owner_id =", filters.owner_id),
    ]
    return [(clause, value) for clause, value in given if value is not None]


def _rows(
    connection: sqlite3.Connection, plan: Plan, filters: Filters, place: _Place
) -> Iterator[Found]:
    named = list(plan.named) if plan.is_ranked else []
    values: list[Any] = [*named, place.now, plan.match, plan.first_row, place.through]
    values += [value for _, value in _filter_values(filters)]
    values += [place.score, place.row_id]
    ranked = connection.execute(sql_of(plan.is_ranked, filters, len(named)), values)
    for row_id, score in ranked:
        yield _found(connection, row_id, score)


def _found(connection: sqlite3.Connection, row_id: int, score: float) -> Found:
    row = connection.execute(
        "SELECT kind, ref_id, room_id, actor_id, subject_id, speaker, type, root, seq, occurred_at"
        " FROM search_rows WHERE row_id = ?",
        (row_id,),
    ).fetchone()
    return Found._make((row_id, score, *row, content_at(connection, row[0], row[1])))


def _encode(place: _Place, last: Found) -> str:
    return _encode_place(place._replace(score=last.score, row_id=last.row_id, given=0))


def _encode_place(place: _Place) -> str:
    values = [*place[:-1], f"{place.given:x}"]
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode()


def _decode(cursor: str) -> _Place:
    try:
        score, row_id, through, now, given = orjson.loads(base64.urlsafe_b64decode(cursor))
        return _Place(float(score), int(row_id), int(through), str(now), int(given, 16) & ALL_BITS)
    except (binascii.Error, ValueError, TypeError, OverflowError) as error:
        raise RefusedError("This cursor is not valid; begin without one.") from error
