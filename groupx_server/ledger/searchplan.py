"""What a query becomes in the index: one MATCH, narrowed to the scope and to what can be ranked.

Room, kind and actor are words of the index itself, so a search in one room costs what that room
costs. A search that would rank too many rows ranks the most telling words and the newest rows, and
says so. The counterpart is `search`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from groupx_server.domain.searchquery import Query
from groupx_server.domain.searchtext import words_of
from groupx_server.domain.stopwords import ALL, UNINDEXED
from groupx_server.ledger.searchrows import KINDS, kind_word, scope_word

CAP_ROWS: Final = 20_000
"""Rows that one search ranks at most (about 0.1 s)."""

ANYWHERE: Final = "{context text speaker days}"
SAID: Final = "{text speaker}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Where to look; None: everywhere. Times as the ledger stores them, both included.

    `actor_id`: who said it, whom it is about, or whose memory it is. `owner_id`: whose own memory
    it is. `seen_in`, `seen_by`, `seen_for`: only the memory of this room, this agent and this
    root; all or none.
    """

    room_id: str | None = None
    kind: str | None = None
    actor_id: str | None = None
    type: str | None = None
    root: str | None = None
    since: str | None = None
    until: str | None = None
    owner_id: str | None = None
    seen_by: str | None = None
    seen_in: str | None = None
    seen_for: str = ""


class Plan(NamedTuple):
    """What is asked of the index."""

    match: str
    is_ranked: bool
    is_capped: bool
    named: Sequence[str]
    first_row: int
    """Older rows are not looked at."""


def make_plan(connection: sqlite3.Connection, query: Query, filters: Filters, through: int) -> Plan:
    """Plan a search over rows up to `through`; words that cost too much leave the query."""
    scope = _scope(filters)
    is_large = through > CAP_ROWS and (not scope or _count(connection, scope) > CAP_ROWS)
    is_capped = False
    if is_large:
        query.should, query.singles, is_capped = _affordable(connection, query, scope)
    wanted = _wanted(query)
    match = _both(scope, wanted) or f"scope : ({_any([kind_word(kind) for kind in KINDS])})"
    if banned := [words[0] for words in query.must_not if not is_read(words)]:
        match = f"({match}) NOT ({SAID} : ({_any(banned)}))"
    named = _named(connection, query, filters.room_id)
    first_row = _first_row(connection, match, through) if is_large else 0
    return Plan(match, bool(wanted), is_capped or first_row > 0, named, first_row)


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
    if filters.owner_id is not None:
        words.append(scope_word("o", filters.owner_id))
    clauses = [f'scope : "{word}"' for word in words]
    if filters.seen_by is not None and filters.seen_in is not None:
        owners = [scope_word("o", owner) for owner in (filters.seen_by, filters.seen_for)]
        seen = [scope_word("r", filters.seen_in), *owners]
        clauses.append(f"scope : ({_any(seen)})")
    return " AND ".join(clauses)


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


def is_read(words: tuple[str, ...]) -> bool:
    """The index cannot tell it: several words in a row, or one that is not in it."""
    return len(words) > 1 or words[0] in UNINDEXED
