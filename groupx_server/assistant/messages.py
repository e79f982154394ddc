"""What the assistant says in a room: messages, tasks for agents, waiting for their answers.

A message is seen by everybody; a task (`operator.dispatch`) wakes its agents the same way, and
clients may show it folded. Both are accepted as any message, with the same limits.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from groupx_server.assistant.acts import OPERATOR, Act, Acts, Done
from groupx_server.ledger.accept import AcceptMessage, place_message
from groupx_server.ledger.events import MESSAGE_TYPES
from groupx_server.ledger.messages import read_message
from groupx_server.ledger.originals import read_original, root_of_turns
from groupx_server.ledger.outcomes import are_all_ended, read_outcomes
from groupx_server.ledger.pairs import Watch
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.askresults import ask_result
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.toolresults import AskResult
from groupx_server.rooms.watchorders import targets_of, watchers
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import MessageAccepted

MAX_WAIT_S: Final = 55.0
"""Programs that run agents often give a call a minute."""
SETTLE_S: Final = 0.05
EXCERPT_CHARS: Final = 80
Operation = Literal["worker_dispatch", "worker_ask"]
PENDING: Final = (
    "Not all have answered. They go on by themselves: call “worker_collect” with this "
    "messageEventId to wait again, or tell the person. Do not dispatch again."
)


@dataclass(frozen=True, slots=True)
class Words:
    """Something to say."""

    command_id: str
    content: str
    to: Sequence[str] = ()
    room_id: str | None = None
    reply_to_event_id: str | None = None
    observers: Sequence[str] = ()
    """Agents that watch those in `to`."""
    brief: str | None = None


class OperatorMessages:
    """The assistant's own voice."""

    def __init__(self, acts: Acts, agents: Agents) -> None:
        self._acts = acts
        self._agents = agents
        self._ledger = acts.runtime.ledger

    async def send(self, words: Words) -> MessageAccepted:
        """A message in the room, by the assistant. Raises: RefusedError as for a person's."""
        command = self._command(words, "operator.send")
        return await self._say("send", words, command)

    async def dispatch(self, words: Words, operation: Operation) -> MessageAccepted:
        """A task for agents: they are woken, the room sees it. Raises: RefusedError."""
        command = self._command(words, f"operator.{operation}")
        more = {
            "operation": operation,
            "promptLength": len(command.content),
            "targets": [target.actor_id for target in command.targets],
        }
        task = replace(command, event_type=EventType.OPERATOR_DISPATCH, more=more)
        return await self._say(operation, words, task)

    async def dispatch_event(
        self, command_id: str, event_id: str, to: Sequence[str]
    ) -> MessageAccepted:
        """Wake agents for a message that is there already; its author stays.

        Raises: RefusedError (UNKNOWN_EVENT, DUPLICATE_DISPATCH and as for a message).
        """
        room_id, content = await self._ledger.read(partial(_spoken, event_id=event_id))
        words = Words(command_id, content, to, room_id)
        command = replace(
            self._command(words, "operator.dispatch_event"), existing_event_id=event_id
        )
        return await self._say("dispatch_event", words, command)

    async def ask(self, words: Words, timeout_s: float | None) -> AskResult:
        """Dispatch and wait for the answers. Raises: RefusedError."""
        accepted = await self.dispatch(words, "worker_ask")
        return await self.collect(accepted.message_event_id, timeout_s)

    async def collect(self, event_id: str, timeout_s: float | None) -> AskResult:
        """Wait for the turns of a message, bounded. Raises: RefusedError (UNKNOWN_EVENT)."""
        self._acts.require_request()
        correlation_id = await self._ledger.read(partial(root_of_turns, event_id=event_id))
        await self._wait(event_id, MAX_WAIT_S if timeout_s is None else min(timeout_s, MAX_WAIT_S))
        outcomes = await self._ledger.read(partial(read_outcomes, event_id=event_id))
        is_done = all(outcome.has_ended for outcome in outcomes)
        return ask_result(event_id, correlation_id, outcomes, None if is_done else PENDING)

    async def _wait(self, event_id: str, timeout_s: float) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    seen = self._ledger.last_seq
                    if await self._ledger.read(partial(are_all_ended, event_id=event_id)):
                        return
                    await self._ledger.changed(seen)
                    await asyncio.sleep(SETTLE_S)
        except TimeoutError:
            return

    def _command(self, words: Words, command_type: str) -> AcceptMessage:
        request = self._acts.require_request()
        entries = {entry.actor_id: entry for entry in map(self._resolve, words.to)}
        return AcceptMessage(
            client_command_id=words.command_id,
            room_id=words.room_id or request.room_id or "room:main",
            content=self._checked(words.content),
            targets=[self._agents.target(entry) for entry in entries.values()],
            reply_to_event_id=words.reply_to_event_id,
            source=OPERATOR,
            command_type=command_type,
            watch=self._watch(words),
        )

    def _watch(self, words: Words) -> Watch | None:
        if not words.observers:
            return None
        names = [name.removeprefix("@") for name in words.observers]
        return Watch(watchers(self._agents.roster, names), safe_text(words.brief or ""))

    def _resolve(self, name: str) -> RosterEntry:
        return self._agents.roster.resolve(name.removeprefix("@"))

    def _checked(self, content: str) -> str:
        limit = self._acts.runtime.limits.message_characters
        if not content.strip():
            raise RefusedError("The message is empty: nothing was posted and nobody was woken.")
        if len(content) > limit:
            raise RefusedError(
                f"The message has {len(content):,} characters; the limit is {limit:,}.",
                code=ErrorCode.MESSAGE_TOO_LARGE,
                details={"size": len(content), "limit": limit, "unit": "characters"},
            )
        return safe_text(content)

    async def _say(self, tool: str, words: Words, command: AcceptMessage) -> MessageAccepted:
        limits = self._acts.runtime.limits
        placed: list[MessageAccepted] = []

        def change(connection: sqlite3.Connection, now: str) -> Done:
            reply = place_message(connection, command, limits, now)
            placed[:] = [reply]
            result = reply.model_dump(mode="json", by_alias=True, exclude_none=True)
            return Done(_summary(command), result, reply.message_event_id)

        act = Act(tool, words.command_id, {"message": command.hash()}, command.room_id)
        reply = MessageAccepted.model_validate(await self._acts.perform(act, change))
        for new in placed:
            self._agents.queued(targets_of(new))
        return reply


def _summary(command: AcceptMessage) -> str:
    line = " ".join(command.content.split())
    text = line if len(line) <= EXCERPT_CHARS else f"{line[:EXCERPT_CHARS]}…"
    names = ", ".join(target.actor_id.removeprefix("agent:") for target in command.targets)
    return f"to {names}: {text}" if names else f"said: {text}"


def _spoken(connection: sqlite3.Connection, event_id: str) -> tuple[str, str]:
    """Room and text of a message that may be given to agents."""
    original = read_original(connection, event_id)
    message = read_message(connection, event_id)
    if original.type not in MESSAGE_TYPES or message is None:
        raise RefusedError(
            f"This event is a {safe_line(original.type, 64)}; only messages can be given to agents."
        )
    return original.room_id, message.content
