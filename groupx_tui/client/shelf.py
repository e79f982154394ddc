"""Reads memory and identity side by side, page by page: whatever there is can be reached.

Two lists of the server are merged, the newest first (with words: by turns, the best of each first).
Invariants: nothing is left out and nothing comes twice, however long the lists are; a page is read
only when it is needed. Counterpart: `GET /api/memory` and `GET /api/identity`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from groupx_tui.state.remembered import Kept, Sought

PAGE: Final = 100
MAX_WORDS_CHARS: Final = 1_000
"""Of a search: what the server takes."""

Query = dict[str, str | int | None]
ReadPage = Callable[[Query], Awaitable[tuple[list[Kept], str | None]]]
"""Reads one page: its records and the cursor of the next one."""


class _Pile:
    """One list of the server, as far as it was read."""

    def __init__(self, read: ReadPage, query: Query) -> None:
        self._read = read
        self._query = query
        self._cursor: str | None = None
        self._has_more = True
        self._waiting: deque[Kept] = deque()
        self.taken = 0

    async def top(self) -> Kept | None:
        """The next record; None at the end."""
        while not self._waiting and self._has_more:
            found, self._cursor = await self._read({**self._query, "cursor": self._cursor})
            self._waiting.extend(found)
            self._has_more = self._cursor is not None
        return self._waiting[0] if self._waiting else None

    def take(self) -> Kept:
        """Take the next record away."""
        self.taken += 1
        return self._waiting.popleft()


class Shelf:
    """All that fits what is sought, read piece by piece."""

    def __init__(self, read_memory: ReadPage, read_identity: ReadPage, sought: Sought) -> None:
        self._is_ranked = bool(sought.words)
        self._piles = []
        if sought.wants_memory:
            self._piles.append(_Pile(read_memory, memory_query(sought)))
        if sought.wants_identity:
            self._piles.append(_Pile(read_identity, identity_query(sought)))
        self.has_more = bool(self._piles)
        """False once everything was read."""

    async def more(self, count: int = PAGE) -> tuple[Kept, ...]:
        """The next `count` records, fewer at the end. Raises: RefusedError,
        ServerUnreachableError."""
        found: list[Kept] = []
        while (pile := await self._next_pile()) is not None and len(found) < count:
            found.append(pile.take())
        self.has_more = pile is not None
        return tuple(found)

    async def _next_pile(self) -> _Pile | None:
        tops = [(pile, top) for pile in self._piles if (top := await pile.top()) is not None]
        if not tops:
            return None
        if self._is_ranked:
            return min(tops, key=lambda each: each[0].taken)[0]
        return max(tops, key=lambda each: (each[1].created_at, each[1].record_id))[0]


def memory_query(sought: Sought) -> Query:
    """The parameters of `GET /api/memory`."""
    is_agents = sought.place in ("core", "dated") or sought.owner_id.startswith("agent:")
    scopes = {"room": "room", "talk": "correlation"}
    scope = "agent" if is_agents else scopes.get(sought.place or "")
    return {
        "scopeType": scope,
        "scopeId": sought.owner_id or None,
        "agentMemoryType": sought.place if sought.place in ("core", "dated") else None,
        "pinned": "true" if sought.state == "pinned" else None,
        **_shared(sought),
    }


def identity_query(sought: Sought) -> Query:
    """The parameters of `GET /api/identity`."""
    query = {"subjectActorId": sought.owner_id or None, "perspective": sought.word}
    return {**query, **_shared(sought)}


def _shared(sought: Sought) -> Query:
    return {
        "kind": sought.kind or None,
        "authorActorId": sought.author_id or None,
        "status": "retracted" if sought.state == "retracted" else None,
        "includeHistory": "true" if sought.state == "history" else None,
        "words": words_to_find(sought.words) or None,
        "limit": PAGE,
    }


def words_to_find(typed: str) -> str:
    """The words, the last one as a beginning: it may still be being typed."""
    words = typed.strip()[:MAX_WORDS_CHARS]
    last = words.rpartition(" ")[2]
    return f"{words}*" if len(last) > 1 and last.isascii() and last.isalnum() else words
