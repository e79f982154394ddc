"""The guide answers a prompt without a model: says what it understood, looks, and reports.

It never pretends: what it says is counted or quoted from the room, and free text gets the plain
statement that no model is connected.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from groupx_server.builtin_agent.guide import advice, finding, listing, reading
from groupx_server.builtin_agent.guide.commands import BY_NAME
from groupx_server.builtin_agent.guide.desk import Desk
from groupx_server.builtin_agent.guide.intents import Understood, understand
from groupx_server.builtin_agent.guide.records import RecordedRoom
from groupx_server.builtin_agent.model_turn import Outcome
from groupx_server.builtin_agent.room_api import RoomDataError

Run = Callable[[Desk, RecordedRoom, str], Awaitable[None]]

_WITH_ROOM: Final[dict[str, Run]] = {
    "find": finding.find,
    "last": reading.last,
    "summary": reading.summary,
    "agents": listing.agents,
    "rooms": listing.rooms,
    "memory": listing.memory,
}
NO_SERVER: Final = (
    "I was started without a GroupX server (GROUPX_AGENT_URL is not set) or outside of a room, so "
    "I cannot read any messages. `/help` and `/setup` work without one."
)
NO_MODEL: Final = "No model is connected, so nothing here is written by one."


class Guide:
    """Answers one prompt."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def answer(self, current: str) -> Outcome:
        """Answer the person's message; a server that gives no data is reported, not raised."""
        asked = understand(current)
        await self._desk.sink.thought(_reasoning(asked))
        if preface := _preface(asked):
            await self._desk.sink.say(preface)
        try:
            await self._run(asked)
        except RoomDataError as error:
            await self._desk.sink.say(f"{error.message}\n")
        return Outcome("end_turn")

    async def _run(self, asked: Understood) -> None:
        desk = self._desk
        if (run := _WITH_ROOM.get(asked.command)) is not None:
            if desk.api is None or desk.room_id is None:
                await desk.sink.say(NO_SERVER + "\n")
                return
            await run(desk, RecordedRoom(desk.api, desk.sink, desk.room_id), asked.argument)
        elif asked.command == "status":
            await listing.status(desk)
        elif asked.command == "setup":
            await listing.setup(desk)
        else:
            await desk.sink.say(_words(asked))


def _reasoning(asked: Understood) -> str:
    """The reasoning record: what was understood and what will be looked at."""
    if asked.command == "unknown":
        return f"“/{asked.argument}” is none of my commands. I will name the nearest one.\n"
    if asked.command == "greeting":
        return "This is a greeting. I will say what I am and how to begin.\n"
    if asked.command == "none":
        return (
            "There is no model to answer free text, and no word of it points to one of my "
            "commands. I will say so and name the nearest command.\n"
        )
    how = "Understood" if asked.by_slash else "No model is connected; the words point to"
    return f"{how} `{asked.line}`. {BY_NAME[asked.command].plan}\n"


def _preface(asked: Understood) -> str:
    if asked.by_slash or asked.command in ("greeting", "none", "help"):
        return ""
    return f"{NO_MODEL} I took your message for `{asked.line}`."


def _words(asked: Understood) -> str:
    if asked.command == "greeting":
        return advice.greeting()
    if asked.command == "unknown":
        return advice.unknown_command(asked.argument)
    if asked.command == "none":
        return advice.no_model(asked.argument)
    return advice.help_text()
