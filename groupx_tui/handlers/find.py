"""Looking for words in the room and in all rooms, and going from hit to hit.

Invariants: hits stand in the order of the room, whatever the server's ranking; what is said about
their number is what the server said; nothing is looked for twice for a step to the next hit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from groupx_shared.ids import USER_WEB
from groupx_shared.text import safe_line
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Choice, Chooser, Use
from groupx_tui.state.model import BlockId
from groupx_tui.state.stale import WhenStale
from groupx_tui.widgets.timeline.words import moment

if TYPE_CHECKING:
    from groupx_shared.wire.search import SearchHit, SearchReply
    from groupx_tui.app import GroupXApp

MAX_QUERY: Final = 1_000
"""The server takes no longer one."""
MAX_HITS: Final = 500
"""Of a room: the best ones; more than anybody steps through."""
MAX_EVERYWHERE: Final = 50
MAX_TERMS: Final = 64
"""Different words that are marked on the screen."""
OPERATORS: Final = re.compile(r'["+*]|(?:^|\s)-')
"""With one of them the person asks in the server's own language."""


@dataclass(slots=True)
class Search:
    """One search of one room."""

    room_id: str
    query: str
    hits: Sequence[SearchHit]
    """In the order of the room."""
    note: str
    index: int = -1

    @property
    def state(self) -> str:
        """Which hit is shown, and what is to be known about the others."""
        return f"{self.index + 1:,} of {len(self.hits):,}{self.note}"


class FindHandlers:
    """`find.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._search: Search | None = None

    def room(self, argument: str) -> None:
        """Look for words in the shown room."""
        self._ask("Search this room", argument, self._look)

    def everywhere(self, argument: str) -> None:
        """Look for words in all rooms."""
        self._ask("Search all rooms", argument, self._look_everywhere)

    def older(self, argument: str) -> None:
        """The hit before."""
        self._step(-1)

    def newer(self, argument: str) -> None:
        """The hit after."""
        self._step(1)

    def left(self, room_id: str) -> None:
        """Another room is shown: what was looked for in the one before is over."""
        if self._search is not None and self._search.room_id != room_id:
            self.close()

    def close(self) -> bool:
        """End the search; False when there is none."""
        if self._search is None:
            return False
        self._search = None
        self._app.room.findbar.say("", "")
        self._app.room.timeline.look_for(None)
        return True

    # --- inside

    def _ask(self, title: str, argument: str, look: object) -> None:
        def done(query: str | None) -> None:
            if query and callable(look):
                look(query)

        if argument:
            done(argument[:MAX_QUERY])
            return
        before = "" if self._search is None else self._search.query
        ask = Ask(
            self._app.keymap,
            title,
            before,
            "Words, or a “phrase” in quotes",
            max_length=MAX_QUERY,
            empty="Write at least one letter.",
        )
        self._app.push_screen(ask, done)

    def _look(self, query: str) -> None:
        room_id = self._app.view.room_id

        def found(reply: SearchReply) -> None:
            if self._app.view.room_id == room_id:
                self._found(room_id, query, reply)

        self._app.attempt(self._app.session.search(room_query(query), limit=MAX_HITS), found)

    def _found(self, room_id: str, query: str, reply: SearchReply) -> None:
        hits = here(reply, room_id)
        if not hits:
            self.close()
            late = " The index is still being built; try again soon." if reply.behind else ""
            self._app.tell(f"Nothing in this room has “{safe_line(query, 60)}”.{late}")
            return
        self._begin(room_id, query, hits, reply)
        seq = self._app.room.timeline.seq_at_eye
        at = len(hits) if seq is None else bisect_right([_seq(hit) for hit in hits], seq)
        self._go(max(0, at - 1))

    def _step(self, step: int) -> None:
        search = self._search
        if search is None or search.room_id != self._app.view.room_id:
            self._app.tell(f"{self._app.keymap.shown('find.room') or '/search'} looks for words.")
            return
        index = search.index + step
        if not 0 <= index < len(search.hits):
            self._app.tell("That was the newest hit." if step > 0 else "That was the oldest hit.")
            return
        self._go(index)

    def _go(self, index: int) -> None:
        search = self._search
        if search is None:
            return
        search.index = index
        self._app.room.findbar.say(search.query, search.state)
        self._app.attempt(self._app.session.jump_to_event(search.hits[index].id), self._arrived)

    def _arrived(self, block_id: BlockId | None) -> None:
        self._app.draw_view()
        if block_id is None or not self._app.room.timeline.show_hit(block_id):
            self._app.tell("That message is not there any more.")

    # --- all rooms

    def _look_everywhere(self, query: str) -> None:
        def found(reply: SearchReply) -> None:
            self._choose(query, reply)

        search = self._app.session.search(query, everywhere=True, limit=MAX_EVERYWHERE)
        self._app.attempt(search, found)

    def _choose(self, query: str, reply: SearchReply) -> None:
        choices = self._hits(reply)

        def done(event_id: str | None) -> None:
            for hit in reply.hits:
                if hit.id == event_id:
                    self._go_there(query, hit, reply)

        def found_again(newer: SearchReply) -> None:
            nonlocal reply
            reply = newer
            if chooser.is_attached:
                chooser.replace_choices(chooser.heading, self._hits(reply))

        def look_again() -> None:
            search = self._app.session.search(query, everywhere=True, limit=MAX_EVERYWHERE)
            self._app.attempt(search, found_again)

        def redact(event_id: str) -> None:
            if event_id:
                self._app.handlers.removal.event(event_id)

        chooser = Chooser(
            self._app.keymap,
            f"“{safe_line(query, 40)}” in all rooms{note_of(reply)}",
            choices,
            empty="Nothing like that.",
            use=Use(
                {"redact": redact},
                sees=WhenStale(self._app.view, look_again),
                words={"redact": "remove for good"},
            ),
        )
        self._app.push_screen(chooser, done)

    def _hits(self, reply: SearchReply) -> list[Choice]:
        names = {agent.actor_id: agent.name for agent in self._app.view.agents}
        names[USER_WEB] = "You"
        titles = {room.room_id: room.title for room in self._app.view.rooms}
        return [
            Choice(
                hit.id,
                names.get(hit.actor_id) or safe_line(hit.actor_id.rpartition(":")[2], 24),
                safe_line(hit.snippet, 200),
                f"{titles.get(hit.room_id or '', '')} {moment(hit.occurred_at)[:10]}".strip(),
            )
            for hit in reply.hits
            if hit.seq
        ]

    def _go_there(self, query: str, hit: SearchHit, reply: SearchReply) -> None:
        """To a hit of any room; from there on the keys step through the room's hits."""
        # What was found only by its neighbours is no place that the words are at.
        hits = [each for each in here(reply, hit.room_id or "") if each.marks or each is hit]
        self._begin(hit.room_id or "", query, hits, reply)
        self._go(hits.index(hit))

    def _begin(
        self, room_id: str, query: str, hits: Sequence[SearchHit], reply: SearchReply
    ) -> None:
        self._search = Search(room_id, safe_line(query, 80), hits, note_of(reply))
        self._app.room.timeline.look_for(pattern_of(query, hits))
        self._app.room.timeline.focus()


def here(reply: SearchReply, room_id: str) -> list[SearchHit]:
    """The hits of one room, in its order."""
    hits = (hit for hit in reply.hits if hit.seq and hit.room_id in (None, room_id))
    return sorted(hits, key=_seq)


def room_query(query: str) -> str:
    """What to ask the server: every word must be there, each at least as the beginning of one;
    unless the person asks in the server's own language."""
    if OPERATORS.search(query):
        return query
    return " ".join(f"{word}*" if word.isascii() else f"+{word}" for word in query.split())


def pattern_of(query: str, hits: Sequence[SearchHit]) -> re.Pattern[str] | None:
    """What to mark on the screen: the words that were typed, and the forms that were found."""
    typed = [word.strip('+-*"“”') for word in query.split() if not word.startswith("-")]
    found = [hit.snippet[start:end] for hit in hits for start, end in hit.marks]
    terms = list(dict.fromkeys(term.casefold() for term in (*typed, *found) if term.strip()))
    longest_first = sorted(terms[:MAX_TERMS], key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


def note_of(reply: SearchReply) -> str:
    """What is to be known about hits that are not there."""
    if reply.behind:
        return f" · {reply.behind:,} messages are not searched yet"
    if reply.meaning == "failing":
        return " · by words alone"
    if reply.capped or reply.next_cursor:
        return " best ones"
    return ""


def _seq(hit: SearchHit) -> int:
    return hit.seq or 0
