"""How text becomes words of the search index: the same for rows and for queries.

Scripts that are written without spaces are cut into overlapping pairs of characters, and their
single characters go into a column of their own; everything else is cut at what is no letter or
digit. Case, width and accents are folded here and not by the tokenizer, so that one word here is
always one token there, whatever version of Unicode SQLite was built with. When the outcome for
any text changes, `INDEX_VERSION` rises, and ledgers build their index anew.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, filterfalse
from typing import Final

from groupx_server.domain.stopwords import UNINDEXED

INDEX_VERSION: Final = 5

MAX_WORD_CHARS: Final = 64
"""Longer ones (keys, encoded data) are told apart by their first characters; also the longest word
that the stemmer looks at."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana, bopomofo, Hangul, Han."""
_SYMBOLS: Final = "\u2600-\u27bf\U0001f000-\U0001faff"
_PIECE: Final = re.compile(f"([{_UNSPACED}]+)|[^\\W_{_UNSPACED}{_SYMBOLS}]+|[{_SYMBOLS}]")
_ASCII: Final = bytes(
    ord(chr(code).lower()) if chr(code).isascii() and chr(code).isalnum() else ord(" ")
    for code in range(256)
)
"""What becomes of each ASCII character: small letters and digits, all else parts words."""
_GAP: Final = re.compile("[^0-9A-Za-z]")
AT_ONCE_CHARS: Final = 1024 * 1024
"""A longer text is looked at piece by piece: the steps below each make it anew."""
_ACCENTED: Final = re.compile("[\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]")
_MARKS: Final = re.compile("[\u0300-\u036f\ufe0e\ufe0f\u200d]")


@dataclass(frozen=True, slots=True)
class IndexText:
    """The words of a text for the two columns they go into, joined by spaces; no function words."""

    main: str
    singles: str


def fold(text: str) -> str:
    """One form of what people see as the same: width, case, accents."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _MARKS.sub("", _ACCENTED.sub(lambda found: _base(found[0]), folded))


@functools.cache
def _base(character: str) -> str:
    return unicodedata.normalize("NFKD", character)[0].lower()


def pieces(folded: str) -> Iterator[tuple[str, bool]]:
    """The words of folded text in order; True: a run of a script without spaces."""
    for found in _PIECE.finditer(folded):
        yield (found[0], True) if found[1] else (found[0][:MAX_WORD_CHARS], False)


def words_of_run(run: str) -> list[str]:
    """Overlapping pairs; a lone character stays one."""
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def words_of(text: str) -> list[str]:
    """The words of the main column, in order."""
    if text.isascii():
        return list(chain.from_iterable(_ascii_words(text)))
    words: list[str] = []
    for piece, is_run in pieces(fold(text)):
        words += words_of_run(piece) if is_run else (piece,)
    return words


def _ascii_words(text: str) -> Iterator[list[str]]:
    """The words piece by piece."""
    if len(text) <= AT_ONCE_CHARS:
        yield _words_at_once(text)
        return
    begin = 0
    while begin < len(text):
        found = _GAP.search(text, begin + AT_ONCE_CHARS)
        end = len(text) if found is None else found.start()
        # Of a word that goes on beyond, what is kept of any word is enough.
        yield _words_at_once(text[begin : min(end, begin + AT_ONCE_CHARS + MAX_WORD_CHARS)])
        begin = end


def _words_at_once(text: str) -> list[str]:
    # A table of bytes and one split: half of what a pattern costs, and most text is of this kind.
    words = text.encode("ascii").translate(_ASCII).decode("ascii").split()
    if max(map(len, words), default=0) > MAX_WORD_CHARS:
        return [word[:MAX_WORD_CHARS] for word in words]
    return words


def _indexed(words: list[str]) -> str:
    return " ".join(filterfalse(UNINDEXED.__contains__, words))


def index_text(text: str) -> IndexText:
    """Everything of `text` that is indexed."""
    if text.isascii():
        parts = [_indexed(words) for words in _ascii_words(text)]
        return IndexText(" ".join(filter(None, parts)) if len(parts) > 1 else parts[0], "")
    main: list[str] = []
    singles: list[str] = []
    for piece, is_run in pieces(fold(text)):
        if is_run:
            main += words_of_run(piece)
            singles += piece
        elif piece not in UNINDEXED:
            main.append(piece)
    return IndexText(" ".join(main), " ".join(singles))


def spans(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Where the words stand in the text as it is: start, end, folded word, whether it is a run.

    Code points. A character that folds into several words keeps only the first.
    """
    for found in _PIECE.finditer(text):
        for word, is_run in pieces(fold(found[0])):
            yield found.start(), found.end(), word, is_run
            break
