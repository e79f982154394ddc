"""The slash commands of the line-by-line client.

The words are those of the action table, as far as they mean something without a screen; the others
say that they do not. A method takes what was written after the word and returns what is said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Final

from groupx_shared.names import unknown_name
from groupx_tui.actions import SLASH_WORDS
from groupx_tui.handlers.find import room_query
from groupx_tui.matching import best_matches
from groupx_tui.plain.narrator import block_lines
from groupx_tui.screens.turn import turn_facts
from groupx_tui.state.model import Block, MessageBlock, RoomEntry, TurnBlock
from groupx_tui.widgets.timeline.words import clock

if TYPE_CHECKING:
    from groupx_tui.plain.client import PlainClient

Command = Callable[[str], Awaitable[str]]
OWN_WORDS: Final = {
    "more": "Say earlier messages of the room.",
    "reply": "Answer the last answer: /reply TEXT.",
    "details": "Say all that is known of the last turn.",
    "start": "Start the server, if it is gone.",
    "assistant": "Ask the room assistant; without words, say how it is and what it said last.",
    "assistant-stop": "Stop the assistant's answer; what it did stays done.",
}
"""Words that only this client has, or that say something else here."""
MAX_HITS: Final = 12
"""Said by one search: more words find fewer."""


class Commands:
    """What each word does; found by name."""

    def __init__(self, client: PlainClient) -> None:
        self._client = client
        self._table: dict[str, Command] = {
            "room": self._room,
            "new": self._new,
            "rename": self._rename,
            "archive": self._archive,
            "restore": self._restore,
            "agents": self._agents,
            "restart": self._restart,
            "cancel": self._cancel,
            "retry": self._retry,
            "continue": self._continue,
            "assistant": self._assistant,
            "assistant-stop": self._assistant_stop,
            "jump": self._jump,
            "more": self._more,
            "reply": self._reply,
            "details": self._details,
            "search": self._search,
            "everywhere": self._everywhere,
            "start": self._start,
            "reconnect": self._reconnect,
            "help": self._help,
            "quit": self._quit,
        }

    def find(self, word: str) -> Command | None:
        """The command of a word; None when it is a message."""
        if word in self._table:
            return self._table[word]
        return self._not_here if word in SLASH_WORDS else None

    async def _not_here(self, argument: str) -> str:
        return "That needs the full-screen window."

    # --- rooms

    async def _room(self, argument: str) -> str:
        rooms = [room for room in self._client.view.rooms if not room.is_archived]
        if not argument:
            return "\n".join(_room_line(room, self._client.view.room_id) for room in rooms)
        found = best_matches(argument, rooms, lambda room: (room.title, room.room_id))
        if not found:
            return unknown_name("room", argument, [room.title for room in rooms])
        await self._client.session.switch_room(found[0].room_id)
        return ""

    async def _new(self, argument: str) -> str:
        if not argument:
            return "Say its title: /new TITLE."
        info = await self._client.session.create_room(argument)
        await self._client.session.switch_room(info.room_id)
        return ""

    async def _rename(self, argument: str) -> str:
        if not argument:
            return "Say its new title: /rename TITLE."
        await self._client.session.change_room(self._client.view.room_id, title=argument)
        return ""

    async def _archive(self, argument: str) -> str:
        await self._client.session.change_room(self._client.view.room_id, archived=True)
        return "The room is archived; /restore brings it back."

    async def _restore(self, argument: str) -> str:
        rooms = [room for room in self._client.view.rooms if room.is_archived]
        if not argument:
            return "\n".join(room.title for room in rooms) or "No room is archived."
        found = best_matches(argument, rooms, lambda room: (room.title, room.room_id))
        if not found:
            return unknown_name("archived room", argument, [room.title for room in rooms])
        await self._client.session.change_room(found[0].room_id, archived=False)
        await self._client.session.switch_room(found[0].room_id)
        return ""

    # --- agents and turns

    async def _agents(self, argument: str) -> str:
        lines = []
        for agent in self._client.view.agents:
            waiting = f", {agent.queued_turns} waiting" if agent.queued_turns else ""
            detail = f", {agent.detail}" if agent.detail else ""
            lines.append(f"@{agent.handle}: {agent.name}, {agent.status}{waiting}{detail}")
        return "\n".join(lines) or "There is no agent."

    async def _restart(self, argument: str) -> str:
        handle = argument.lstrip("@").lower()
        agents = {agent.handle.lower(): agent for agent in self._client.view.agents}
        if handle not in agents:
            return unknown_name("agent", handle, agents)
        reply = await self._client.session.restart_agent(agents[handle].actor_id)
        name = agents[handle].name
        return f"{name} is being restarted." if reply.accepted else f"{name} cannot restart now."

    async def _cancel(self, argument: str) -> str:
        turns = [turn for turn in self._turns(argument) if turn.is_open]
        if not turns:
            return "No agent works on anything in this room."
        if len(turns) > 1:
            names = ", ".join(f"@{handle_of(turn)}" for turn in turns)
            return f"Several are at work: {names}. Say which: /cancel @AGENT."
        reply = await self._client.session.cancel(turns[0].turn_id)
        return "" if reply.accepted else "That turn had ended already."

    async def _retry(self, argument: str) -> str:
        turns = [turn for turn in self._turns(argument) if turn.can_retry]
        if not turns:
            return "No turn here can be retried: only one that ended without an answer."
        self._client.note(await self._client.session.retry(turns[-1].turn_id))
        return ""

    async def _continue(self, argument: str) -> str:
        turns = [turn for turn in self._turns(argument) if turn.can_continue]
        if not turns:
            return "No turn here can go on: only one that ended without an answer."
        self._client.note(await self._client.session.go_on(turns[-1].turn_id))
        return ""

    async def _details(self, argument: str) -> str:
        turns = self._turns(argument)
        if not turns:
            return "There is no turn here yet."
        facts = [f"{fact.label.plain}: {fact.text.plain}" for fact in turn_facts(turns[-1])]
        tools = [f"tool: {tool.title}, {tool.status}" for tool in turns[-1].tools]
        reasoning = [f"reasoning: {turns[-1].reasoning}"] if len(turns[-1].reasoning) else []
        return "\n".join([*facts, *tools, *reasoning])

    def _turns(self, argument: str) -> list[TurnBlock]:
        """The loaded turns, of `@agent` when one is named."""
        handle = argument.lstrip("@").lower()
        turns = [b for b in self._client.view.timeline.blocks if isinstance(b, TurnBlock)]
        return [turn for turn in turns if not handle or handle_of(turn) == handle]

    async def _assistant(self, argument: str) -> str:
        aside = self._client.aside
        return await (aside.ask(argument) if argument else aside.state())

    async def _assistant_stop(self, argument: str) -> str:
        return await self._client.aside.stop()

    # --- reading and writing

    async def _more(self, argument: str) -> str:
        return "\n".join(await self._client.earlier())

    async def _jump(self, argument: str) -> str:
        number = argument.lstrip("#").replace(",", "")
        if number == "first":
            return _said((await self._client.blocks(after=0))[:1])
        if number in ("last", ""):
            return _said(self._client.view.timeline.blocks[-1:])
        if not number.isdecimal():
            return "Say first, last or a number, as in /jump 120."
        blocks = await self._client.blocks(around=int(number))
        return _said([b for b in blocks if (b.order_seq or 0) >= int(number)][:1])

    async def _search(self, argument: str) -> str:
        return await self._found(room_query(argument), everywhere=False)

    async def _everywhere(self, argument: str) -> str:
        return await self._found(argument, everywhere=True)

    async def _found(self, query: str, *, everywhere: bool) -> str:
        if not query:
            return "Say what to look for: /search WORDS."
        session = self._client.session
        reply = await session.search(query, everywhere=everywhere, limit=MAX_HITS)
        lines = [
            f"number {hit.seq}, {clock(hit.occurred_at, None)}, "
            f"{hit.actor_id.rpartition(':')[2]}: {hit.snippet}"
            for hit in reply.hits
        ]
        return "\n".join(lines) or "Nothing like that."

    async def _reply(self, argument: str) -> str:
        answered = [b for b in self._client.view.timeline.blocks if _can_be_answered(b)]
        if not argument or not answered:
            return "Say what to answer, once there is an answer: /reply TEXT."
        await self._client.send(argument, answered[-1])
        return ""

    async def _start(self, argument: str) -> str:
        if self._client.view.connection == "live":
            return "The server is running."
        return await self._client.start_server()

    async def _reconnect(self, argument: str) -> str:
        if self._client.view.connection == "live":
            return "The server is there already."
        self._client.session.hurry()
        return ""

    async def _help(self, argument: str) -> str:
        return "\n".join(help_lines(self._table))

    async def _quit(self, argument: str) -> str:
        self._client.close()
        return ""


def help_lines(words: dict[str, Command]) -> Iterator[str]:
    """Yield the help: how to write, and each command."""
    yield "A line is a message; it goes to the agents named with @, else to the default agent."
    yield "A line that ends in a backslash goes on in the next one."
    for word in sorted(words):
        action = SLASH_WORDS.get(word)
        about = OWN_WORDS.get(word) or (action.help if action else "")
        argument = f" {action.argument}" if action and action.argument else ""
        yield f"/{word}{argument}: {about}"


def handle_of(turn: TurnBlock) -> str:
    """What one types after `@` for the agent of a turn."""
    return turn.author.actor_id.removeprefix("agent:").lower()


def _room_line(room: RoomEntry, shown_id: str) -> str:
    new = f", {room.unread} new" if room.unread else ""
    here = ", here" if room.room_id == shown_id else ""
    return f"{room.room_id.removeprefix('room:')}: {room.title}{new}{here}"


def _said(blocks: tuple[Block, ...] | list[Block]) -> str:
    lines = [line for block in blocks for line in block_lines(block)]
    return "\n".join(lines) or "There is nothing there."


def _can_be_answered(block: Block) -> bool:
    if isinstance(block, TurnBlock):
        return block.response_event_id is not None
    return isinstance(block, MessageBlock) and block.author.kind != "user"
