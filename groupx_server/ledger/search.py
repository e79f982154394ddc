"""Searching the index: one MATCH that is narrowed to the scope before anything is ranked.

Room, kind and actor are words of the index itself, so a search in one room costs what that room
costs, and all that is asked for is there before the best are taken. Rank: bm25 with a weight for
each column, a little more for whom the query names and for what is recent. A search that would
look at too many rows looks at the most telling words and the newest rows, and says so.
"""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from groupx_server.domain.searchquery import Query, parse_query
from groupx_server.domain.searchtext import words_of
from groupx_server.domain.stopwords import ALL, UNINDEXED
from groupx_server.ledger.searchrows import KINDS, WHOLE_TEXT, content_of, kind_word, scope_word
from groupx_shared.errors import RefusedError

WEIGHTS: Final = "0.4, 1.0, 1.0, 0.5, 0.25, 0.0"
"""Of context, text, speaker, days, single characters, scope."""

NAMED_BOOST: Final = 1.2
"""For what was said by the one speaker that the query names."""

RECENT_BOOST: Final = 0.05
RECENT_DAYS: Final = 30
"""Something new weighs 5 % more than something old, half of it after a month: this settles ties
and no more."""

CAP_ROWS: Final = 20_000
"""Rows that one search ranks at most (about 0.1 s)."""

EXAMINED: Final = 2_000
"""Rows that are read for a phrase or a beginning of words, which the index alone cannot prove."""

ANYWHERE: Final = "{context text speaker days}"
SAID: Final = "{text speaker}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Where to look; None: everywhere. Times as the ledger stores them, both included."""

    room_id: str | None = None
    kind: str | None = None
    actor_id: str | None = None
    type: str | None = None
    root: str | None = None
    since: str | None = None
    until: str | None = None


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
    """The best rows after the cursor."""

    found: list[Found]
    query: Query
    next_cursor: str | None
    is_capped: bool
    """Not every row that matches was looked at."""


class _Place(NamedTuple):
    """Where a page ends. `through` and `now` keep later pages from moving."""

    score: float
    row_id: int
    through: int
    now: str


class _Plan(NamedTuple):
    match: str
    is_ranked: bool
    is_capped: bool
    named: Sequence[str]
    first_row: int
    """Older rows are not looked at."""


def search(
    connection: sqlite3.Connection,
    text: str,
    filters: Filters,
    now: str,
    *,
    cursor: str | None = None,
    limit: int = 20,
) -> FoundPage:
    """Find what `text` asks for, best first. Raises: RefusedError for a foreign cursor."""
    query = parse_query(text)
    if query.is_empty:
        return FoundPage([], query, None, False)
    (newest,) = connection.execute("SELECT COALESCE(MAX(row_id), 0) FROM search_rows").fetchone()
    place = _Place(float("-inf"), 0, newest, now) if cursor is None else _decode(cursor)
    plan = _plan(connection, query, filters, place.through)
    found: list[Found] = []
    is_more, is_capped = False, plan.is_capped
    for number, row in enumerate(_rows(connection, plan, filters, place)):
        if number >= EXAMINED + limit:
            is_capped = True
            break
        if not proves(query, row):
            continue
        if len(found) == limit:
            is_more = True
            break
        found.append(row)
    last = found[-1] if is_more else None
    next_cursor = None if last is None else _encode(place, last)
    return FoundPage(found, query, next_cursor, is_capped)


def proves(query: Query, row: Found) -> bool:
    """Whether a row that the index proposes has the phrases, beginnings and function words that are
    asked for."""
    phrases = [words for words in query.must if _is_read(words)]
    banned = [words for words in query.must_not if _is_read(words)]
    if not (phrases or banned or query.prefixes):
        return True
    words = words_of(f"{row.speaker}\n{row.content}")
    return (
        all(_stands_in(phrase, words) for phrase in phrases)
        and not any(_stands_in(phrase, words) for phrase in banned)
        and all(any(w.startswith(prefix) for w in words) for prefix in query.prefixes)
    )


def _is_read(words: tuple[str, ...]) -> bool:
    """The index cannot tell it: several words in a row, or one that is not in it."""
    return len(words) > 1 or words[0] in UNINDEXED


def _stands_in(phrase: tuple[str, ...], words: Sequence[str]) -> bool:
    size = len(phrase)
    return any(
        words[at] == phrase[0] and tuple(words[at : at + size]) == phrase
        for at in range(len(words) - size + 1)
    )


# ── Planning ──────────────────────────────────────────────────────────────────────────────────


def _plan(connection: sqlite3.Connection, query: Query, filters: Filters, through: int) -> _Plan:
    scope = _scope(filters)
    is_large = through > CAP_ROWS and (not scope or _count(connection, scope) > CAP_ROWS)
    is_capped = False
    if is_large:
        query.should, query.singles, is_capped = _affordable(connection, query, scope)
    wanted = _wanted(query)
    match = _both(scope, wanted) or f"scope : ({_any([kind_word(kind) for kind in KINDS])})"
    if banned := [words[0] for words in query.must_not if not _is_read(words)]:
        match = f"({match}) NOT ({SAID} : ({_any(banned)}))"
    named = _named(connection, query, filters.room_id)
    first_row = _first_row(connection, match, through) if is_large else 0
    return _Plan(match, bool(wanted), is_capped or first_row > 0, named, first_row)


def _first_row(connection: sqlite3.Connection, match: str, through: int) -> int:
    """The oldest of the newest `CAP_ROWS` rows that match; 0 when there are not so many. Even the
    rarest word of a query may stand in most texts."""
    found = connection.execute(
        "SELECT rowid FROM search_fts WHERE search_fts MATCH ? AND rowid <= ?"
        " ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        (match, through, CAP_ROWS),
    ).fetchone()
    return 0 if found is None else int(found[0]) + 1


def _scope(filters: Filters) -> str:
    words = [] if filters.kind is None else [kind_word(filters.kind)]
    if filters.actor_id is not None:
        words.append(scope_word("a", filters.actor_id))
    if filters.room_id is not None:
        words.append(scope_word("r", filters.room_id))
    return " AND ".join(f'scope : "{word}"' for word in words)


def _wanted(query: Query) -> str:
    """The part of the MATCH that is about text; what must be there also counts for the rank."""
    indexed = [word for words in query.must for word in words if word not in UNINDEXED]
    must = [f'{SAID} : "{word}"' for word in indexed]
    must += [f"{SAID} : ({_beginning(prefix)})" for prefix in query.prefixes]
    should = []
    if query.should:
        should.append(f"{ANYWHERE} : ({_any(query.should)})")
    if query.singles:
        should.append(f"singles : ({_any(query.singles)})")
    if not must:
        return " OR ".join(should)
    if should:
        must.append(f"({' OR '.join([must[0], *should])})")
    return " AND ".join(must)


def _beginning(prefix: str) -> str:
    """Stemmed words are shorter than what is asked for: `deploym*` is looked for as `depl*` too,
    and proved later."""
    shorter = prefix[: max(3, len(prefix) - 4)]
    return f'"{prefix}" * OR "{shorter}" *' if shorter != prefix else f'"{prefix}" *'


def _any(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def _affordable(
    connection: sqlite3.Connection, query: Query, scope: str
) -> tuple[list[str], list[str], bool]:
    """The words that can be ranked within `CAP_ROWS`, the rarest first; at least one word."""
    if query.must or query.prefixes:
        return query.should, query.singles, False
    costs = [(_count(connection, _word_match(w, scope)), w, False) for w in query.should]
    costs += [(_count(connection, _single_match(w, scope)), w, True) for w in query.singles]
    costs = sorted(cost for cost in costs if cost[0] > 0)
    kept: list[tuple[int, str, bool]] = []
    total = 0
    for cost in costs:
        if kept and total + cost[0] > CAP_ROWS:
            break
        kept.append(cost)
        total += cost[0]
    should = [word for _, word, is_single in kept if not is_single]
    singles = [word for _, word, is_single in kept if is_single]
    if not kept:
        return query.should[:1], query.singles[:1], False
    return should, singles, len(kept) < len(costs) or total > CAP_ROWS


def _word_match(word: str, scope: str) -> str:
    return _both(scope, f'{ANYWHERE} : "{word}"')


def _single_match(word: str, scope: str) -> str:
    return _both(scope, f'singles : "{word}"')


def _both(scope: str, wanted: str) -> str:
    return f"({scope}) AND ({wanted})" if scope and wanted else scope or wanted


def _count(connection: sqlite3.Connection, match: str) -> int:
    """Rows that match, counted up to just above `CAP_ROWS`."""
    (count,) = connection.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM search_fts WHERE search_fts MATCH ? LIMIT ?)",
        (match, CAP_ROWS + 1),
    ).fetchone()
    return int(count)


def _named(connection: sqlite3.Connection, query: Query, room_id: str | None) -> Sequence[str]:
    """The actors that bear the one name that the query has; none when it names several."""
    actors = connection.execute(_SPEAKERS, (room_id, room_id)).fetchall()
    named: dict[str, list[str]] = {}
    for actor_id, name in actors:
        words = [word for word in words_of(name) if word not in ALL]
        if words and query.named.issuperset(words):
            named.setdefault(" ".join(words), []).append(actor_id)
    return next(iter(named.values())) if len(named) == 1 else ()


_SPEAKERS: Final = (
    "SELECT a.actor_id, a.display_name FROM actors a WHERE ?1 IS NULL OR EXISTS ("
    "SELECT 1 FROM room_messages m WHERE m.room_id = ?2 AND m.actor_id = a.actor_id)"
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
    ]
    return [(clause, value) for clause, value in given if value is not None]


def _rows(
    connection: sqlite3.Connection, plan: _Plan, filters: Filters, place: _Place
) -> Iterator[Found]:
    named = list(plan.named) if plan.is_ranked else []
    values: list[Any] = [*named, place.now, plan.match, plan.first_row, place.through]
    values += [value for _, value in _filter_values(filters)]
    values += [place.score, place.row_id]
    ranked = connection.execute(sql_of(plan.is_ranked, filters, len(named)), values)
    for row_id, score in ranked:
        yield _found(connection, row_id, score)


_CONTENT: Final = {
    "message": f"SELECT e.body_json, {WHOLE_TEXT} FROM events e WHERE e.event_id = ?",
    "memory": "SELECT NULL, content FROM memory_records WHERE memory_id = ?",
    "identity": "SELECT NULL, content FROM identity_records WHERE identity_id = ?",
}


def _found(connection: sqlite3.Connection, row_id: int, score: float) -> Found:
    row = connection.execute(
        "SELECT kind, ref_id, room_id, actor_id, subject_id, speaker, type, root, seq, occurred_at"
        " FROM search_rows WHERE row_id = ?",
        (row_id,),
    ).fetchone()
    body, whole = connection.execute(_CONTENT[row[0]], (row[1],)).fetchone()
    content = content_of(body) if whole is None else str(whole)
    return Found._make((row_id, score, *row, content))


def _encode(place: _Place, last: Found) -> str:
    return base64.urlsafe_b64encode(
        orjson.dumps([last.score, last.row_id, place.through, place.now])
    ).decode()


def _decode(cursor: str) -> _Place:
    try:
        score, row_id, through, now = orjson.loads(base64.urlsafe_b64decode(cursor))
        return _Place(float(score), int(row_id), int(through), str(now))
    except (binascii.Error, ValueError, TypeError, OverflowError) as error:
        raise RefusedError("This cursor is not valid; begin without one.") from error
