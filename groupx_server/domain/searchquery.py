"""What a person or an agent asks for, read from any text; there is no wrong query.

    plain words     some of them should be there, the more telling the better
    "a phrase"      must be there, word by word
    +word           must be there
    -word           must not be there
    pre*            some word must begin so

Function words are cut while others are left; alone they must all be there. The counterpart is
`ledger/search.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, TypeVar

from groupx_server.domain.searchtext import fold, pieces, words_of, words_of_run
from groupx_server.domain.stopwords import ALL, UNINDEXED

Part = TypeVar("Part")

MAX_WORDS: Final = 64
"""Of one query, each kind; a pasted page is asked for by its first words."""

_CHUNK: Final = re.compile(r'([+-]?)["“”«»]([^"“”«»]*)["“”«»]?|(\S+)')


@dataclass(slots=True)
class Query:
    """A query as lists of folded words, none of them twice."""

    should: list[str] = field(default_factory=list)
    singles: list[str] = field(default_factory=list)
    """Characters for the column of single ones; like `should`."""
    must: list[tuple[str, ...]] = field(default_factory=list)
    """Words that stand one after the other."""
    must_not: list[tuple[str, ...]] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    named: frozenset[str] = frozenset()
    """All words as they were given, function words too: for finding names."""

    @property
    def is_empty(self) -> bool:
        """Nothing in it can be looked for."""
        return not (self.must or self.must_not or self.asks_for_text)

    @property
    def asks_for_text(self) -> bool:
        """Something has to be found, not only left out."""
        return bool(self.should or self.singles or self.must or self.prefixes)


def parse_query(text: str) -> Query:
    """Read a query. Never fails; a text without any word makes an empty one."""
    query = Query(named=frozenset(words_of(text)))
    plain: list[str] = []
    for sign, phrase, chunk in _CHUNK.findall(text):
        if chunk:
            _take_chunk(query, chunk, plain)
        elif sequence := tuple(words_of(phrase)):
            _add(query.must_not if sign == "-" else query.must, sequence)
    _take_plain(query, plain)
    return query


def _take_chunk(query: Query, chunk: str, plain: list[str]) -> None:
    sign, rest = (chunk[0], chunk[1:]) if chunk[0] in "+-＋" else ("", chunk)
    sequence = tuple(words_of(rest))
    if not sequence or rest[0] in "+-":
        plain.append(rest)
    elif sign == "-":
        _add(query.must_not, sequence)
    elif rest.endswith("*") and len(sequence) == 1:
        _add(query.prefixes, sequence[0])
    elif sign:
        _add(query.must, sequence)
    else:
        plain.append(rest)


def _take_plain(query: Query, plain: list[str]) -> None:
    words: list[str] = []
    singles: list[str] = []
    for piece, is_run in pieces(fold(" ".join(plain))):
        words += words_of_run(piece) if is_run else (piece,)
        singles += piece if is_run else ()
    words, singles = list(dict.fromkeys(words)), list(dict.fromkeys(singles))
    telling = [word for word in words if word not in ALL]
    telling_singles = [word for word in singles if word not in ALL]
    if not (telling or telling_singles or query.must or query.prefixes):
        telling, telling_singles = words, singles
        if UNINDEXED.issuperset(words):
            query.must, telling = [(word,) for word in words[:MAX_WORDS]], []
    query.should = [word for word in telling if word not in UNINDEXED][:MAX_WORDS]
    query.singles = telling_singles[:MAX_WORDS]


def _add(into: list[Part], value: Part) -> None:
    if value not in into and len(into) < MAX_WORDS:
        into.append(value)
