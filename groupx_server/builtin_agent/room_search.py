"""Finds messages by words: pages back through a room, newest first, and says how far it looked.

Plain and honest: a hit holds every word (or `"phrase"`), letter case aside; when nothing does, the
messages that hold most of the words are given and said to be near only.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from groupx_server.builtin_agent.room_api import Page, RoomMessage

MAX_HITS: Final = 10
MAX_PAGES: Final = 25
"""Pages of one search: 5,000 messages, well under a second; the reply says how to go on."""
MAX_WORDS: Final = 16

ReadPage = Callable[[int | None], Awaitable[Page]]
_WORD: Final = re.compile(r'"([^"]+)"|(\S+)')
_BEFORE: Final = re.compile(r"(?:^|\s)before:#?(\d{1,18})(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Query:
    """Words in folded case; `before` limits the search to older messages."""

    words: tuple[str, ...]
    before: int | None = None


@dataclass(slots=True)
class Found:
    """What a search saw. `hits` newest first; `near` likewise, with the number of words each
    holds; `first_seq..last_seq` is the range read, None when the room was empty."""

    query: Query
    hits: list[RoomMessage] = field(default_factory=list)
    near: list[tuple[int, RoomMessage]] = field(default_factory=list)
    searched: int = 0
    first_seq: int | None = None
    last_seq: int | None = None
    has_more_before: bool = False


def parse_query(text: str) -> Query:
    """Read `words "a phrase" before:SEQ`."""
    before = _BEFORE.search(text)
    text = _BEFORE.sub(" ", text)
    words = [(phrase or word).casefold() for phrase, word in _WORD.findall(text)]
    unique = tuple(dict.fromkeys(word.strip() for word in words if word.strip('" \t\n')))
    return Query(unique[:MAX_WORDS], int(before.group(1)) if before else None)


async def search_room(
    read_page: ReadPage, query: Query, *, skip: Callable[[RoomMessage], bool], max_hits: int
) -> Found:
    """Read pages until `max_hits` are found, the room begins, or `MAX_PAGES` are read.

    `skip` tells which messages are not searched (commands, the agent's own answers).
    Raises: what `read_page` raises.
    """
    found = Found(query)
    before = query.before
    for _ in range(MAX_PAGES):
        page = await read_page(before)
        found.has_more_before = page.has_more_before and bool(page.messages)
        if _scan(page, found, skip, max_hits) or not found.has_more_before:
            break
        before = page.messages[0].seq
    found.near.sort(key=lambda item: (-item[0], -item[1].seq))
    del found.near[max_hits:]
    return found


def matched_words(text: str, words: Collection[str]) -> int:
    """Number of `words` (in folded case) that `text` holds."""
    folded = text.casefold()
    return sum(word in folded for word in words)


def _scan(page: Page, found: Found, skip: Callable[[RoomMessage], bool], max_hits: int) -> bool:
    """Look through one page, newest first; true when enough is found."""
    for message in reversed(page.messages):
        found.last_seq = found.last_seq or message.seq
        found.first_seq = message.seq
        if skip(message):
            continue
        found.searched += 1
        count = matched_words(message.content, found.query.words)
        if count == len(found.query.words):
            found.hits.append(message)
        elif count and not found.hits:
            _keep_near(found, count, message, max_hits)
        if len(found.hits) >= max_hits:
            found.has_more_before = found.has_more_before or message is not page.messages[0]
            return True
    return False


def _keep_near(found: Found, count: int, message: RoomMessage, max_hits: int) -> None:
    found.near.append((count, message))
    if len(found.near) >= 8 * max_hits:
        found.near.sort(key=lambda item: (-item[0], -item[1].seq))
        del found.near[max_hits:]
