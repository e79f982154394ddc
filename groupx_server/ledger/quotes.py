"""A removed text inside other texts: cut out where a program or the same thread put it there.

Replies to it and to those, answers of agents, results of tools, reports of turns and the advice of
observers lose the quote and keep the rest; so does what stands beside the events: the conversation
with the room assistant, partial answers, reasons. Summaries of other rooms that hold it are thrown
away. Messages of people that happen to hold the text are theirs, and are named (`redaction`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import orjson

from groupx_server.domain.tombstone import TOMBSTONE, cut, cut_text
from groupx_server.ledger.copies import Copies, spellings
from groupx_server.ledger.events import MESSAGE_TYPES
from groupx_server.ledger.stored import read_body
from groupx_shared.wire.events import EventType

QUOTE_CHARS: Final = 16
"""A shorter text may stand in a tool's result by chance, and cutting it would harm what is not
meant; such places are named."""
RECORDS: Final = ("memory.", "identity.")
SIDE_TABLES: Final = ("assistant_conversation_messages", "assistant_acts")
BESIDE: Final = (
    ("assistant_conversation_messages", "content"),
    ("assistant_conversation_messages", "error_message"),
    ("assistant_acts", "summary"),
    ("supervision_steer_counts", "last_reason"),
    ("turns", "error_message"),
    ("turns", "partial_text"),
    ("turn_partials", "text"),
)
"""Texts that stand beside the events: table, column."""


class Quotes:
    """Finds and cuts quotes in one removal."""

    def __init__(self, connection: sqlite3.Connection, copies: Copies) -> None:
        self._book = connection
        self._copies = copies
        self.messages: list[str] = []
        """Those of the found events that are messages: summaries may rest on them."""

    def find(self, removed: Sequence[str], texts: Sequence[str]) -> list[str]:
        """Events that quote one of the texts and lose the quote."""
        gone = set(removed)
        found: dict[str, None] = {}
        for text in texts:
            for event_id in self._copies.events_with(text):
                if event_id not in gone and self._is_quote(event_id, gone, text):
                    found[event_id] = None
        return list(found)

    def _is_quote(self, event_id: str, removed: set[str], text: str) -> bool:
        event_type, actor_kind, reply_to = self._book.execute(
            "SELECT event_type, actor_kind, reply_to_event_id FROM events WHERE event_id = ?",
            (event_id,),
        ).fetchone()
        if event_type in MESSAGE_TYPES:
            is_reply = reply_to in removed or reply_to in self.messages
            is_quote = is_reply or (actor_kind == "agent" and len(text) >= QUOTE_CHARS)
            if is_quote and event_id not in self.messages:
                self.messages.append(event_id)
            return is_quote
        if event_type == EventType.CONTENT_REDACTED or event_type.startswith(RECORDS):
            return False  # a record is named, and removed as a record
        return len(text) >= QUOTE_CHARS

    def cut(self, event_ids: Iterable[str], texts: Sequence[str]) -> None:
        """Put tombstones in the place of the quotes, in whole texts beside the events too."""
        forms = [form for text in texts for form in spellings(text)]
        for event_id in event_ids:
            body = orjson.dumps(cut(self._copies.body(event_id), forms)).decode()
            self._book.execute(
                "UPDATE events SET body_json = ? WHERE event_id = ?", (body, event_id)
            )
            self._cut_whole(event_id, forms)

    def _cut_whole(self, event_id: str, forms: Sequence[str]) -> None:
        """The parts are joined: a quote may go over two of them."""
        fields = self._book.execute(
            "SELECT field, group_concat(text, '') FROM (SELECT field, text FROM event_texts"
            " WHERE event_id = ? ORDER BY field, part_no) GROUP BY field",
            (event_id,),
        ).fetchall()
        for name, whole in fields:
            if (left := cut_text(whole, forms)) != whole:
                key = (event_id, name)
                self._book.execute("DELETE FROM event_texts WHERE event_id = ? AND field = ?", key)
                self._book.execute("INSERT INTO event_texts VALUES (?, ?, 1, ?)", (*key, left))

    def cut_beside(self, removed: Sequence[str], texts: Sequence[str]) -> int:
        """Cut the texts out of what stands beside the events, and what the assistant's acts say of
        the removed events; return how many texts of the assistant's conversation changed."""
        count = self._book.execute(
            "UPDATE assistant_acts SET summary = ?1 WHERE summary <> ?1"
            " AND event_id IN (SELECT value FROM json_each(?2))",
            (TOMBSTONE, orjson.dumps(list(removed)).decode()),
        ).rowcount
        for text in texts:
            is_long = len(text) >= QUOTE_CHARS
            for table, column in BESIDE:
                is_side = table in SIDE_TABLES
                changed = self._replace(table, column, text, is_quote=is_side or is_long)
                count += changed if is_side else 0
            if is_long:
                self._cut_json("client_commands", "command_id", "result_json", text)
                self._cut_json("compactions", "room_id", "info_json", text)
                self._book.execute(
                    "UPDATE summaries SET content = ?, status = 'invalidated'"
                    " WHERE instr(content, ?)",
                    (TOMBSTONE, text),
                )
        return count

    def _replace(self, table: str, column: str, text: str, *, is_quote: bool) -> int:
        test = f"instr({column}, ?1)" if is_quote else f"{column} = ?1"
        return self._book.execute(
            f"UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE {test}",
            (text, TOMBSTONE),
        ).rowcount

    def _cut_json(self, table: str, key: str, column: str, text: str) -> None:
        rows = self._book.execute(
            f"SELECT {key}, {column} FROM {table} WHERE instr({column}, ?)",
            (orjson.dumps(text).decode()[1:-1],),
        ).fetchall()
        for name, stored in rows:
            left = orjson.dumps(cut(read_body(stored), spellings(text))).decode()
            self._book.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (left, name))
