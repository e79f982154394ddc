"""`/find`: quotes what was said and says truthfully how far it looked."""

from __future__ import annotations

from typing import Final

from groupx_server.builtin_agent.guide.desk import Desk
from groupx_server.builtin_agent.guide.intents import understand
from groupx_server.builtin_agent.guide.records import RecordedRoom
from groupx_server.builtin_agent.packet import without_mentions
from groupx_server.builtin_agent.quoting import quoted
from groupx_server.builtin_agent.room_api import Page, RoomMessage
from groupx_server.builtin_agent.room_search import (
    MAX_HITS,
    Found,
    parse_query,
    search_room,
)
from groupx_shared.text import safe_line

USAGE: Final = (
    'Say what to look for: `/find WORDS`, `/find "a phrase"`, `/find WORDS before:SEQ`.\n'
)


async def find(desk: Desk, room: RecordedRoom, argument: str) -> None:
    """Run `/find`. Raises: RoomDataError."""
    query = parse_query(argument)
    if not query.words:
        await desk.sink.say(USAGE)
        return

    async def read(before: int | None) -> Page:
        return await room.messages(before, kind="search")

    found = await search_room(
        read, query, skip=lambda message: _is_to_or_from_us(message, desk), max_hits=MAX_HITS
    )
    await desk.sink.say(report(found))


def report(found: Found) -> str:
    """Write down what a search found."""
    words = " ".join(f"`{safe_line(word, 60)}`" for word in found.query.words)
    shown = found.hits or [message for _, message in found.near]
    if found.hits:
        head = f"{_number(len(found.hits), 'message')} with {words}, newest first:"
    elif shown:
        head = f"No message holds all of {words}. These hold most of the words:"
    else:
        head = f"Nothing found with {words}."
    return "\n\n".join([head, *map(quoted, shown), _range(found)]) + "\n"


def _range(found: Found) -> str:
    """What was searched, and how to go on."""
    if found.first_seq is None:
        where = "before that point" if found.query.before else "yet"
        return f"There are no messages {where}."
    whole = not found.has_more_before and found.query.before is None
    said = f"Searched {_number(found.searched, 'message')}, #{found.first_seq}–#{found.last_seq}"
    said += ": the whole room" if whole else ""
    said += " (commands to me and my own answers left out)."
    if found.has_more_before:
        words = " ".join(f'"{word}"' if " " in word else word for word in found.query.words)
        said += f" Older ones: `/find {safe_line(words, 120)} before:{found.first_seq}`"
    return said


def _is_to_or_from_us(message: RoomMessage, desk: Desk) -> bool:
    """The question, commands and our own answers would find themselves."""
    if message.author_id == desk.actor_id:
        return True
    if not message.author_id.startswith("user:"):
        return False
    text = without_mentions(message.content)
    if text == desk.current:
        return True
    return text.startswith("/") and understand(text[:200]).is_known_command


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
