"""`PlainClient`: reads lines, says lines. No cursor movement, no drawing.

Counterparts: `narrator`, which words what changed, and `commands`. Invariant: the server and the
agents go on whatever ends this client; standard output gets text only, in the order it became true.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

from groupx_shared.errors import GroupXError
from groupx_shared.text import safe_text
from groupx_tui.background import in_daemon_thread
from groupx_tui.handlers.block import reply_to
from groupx_tui.plain.aside import Aside
from groupx_tui.plain.commands import Commands
from groupx_tui.plain.narrator import Narrator, block_lines
from groupx_tui.plain.typed import typed_lines
from groupx_tui.state.model import Block, ClientView
from groupx_tui.state.reduce import apply_page
from groupx_tui.widgets.composer.slash import message_text
from groupx_tui.widgets.composer.targets import find_targets

if TYPE_CHECKING:
    from groupx_shared.runtime import RuntimeFile
    from groupx_shared.wire.replies import MessageAccepted
    from groupx_shared.workspace import Workspace
    from groupx_tui.client.session import ClientSession

PROMPT: Final = "> "
MORE_BLOCKS: Final = 6
"""Blocks that one /more says."""
PAGE_EVENTS: Final = 80
"""Events of a page that is looked at beside what is followed; a turn has about six."""
READY_S: Final = 15.0
"""For the first look at the room; after that a line is refused instead of waiting unseen."""
WITHOUT_SERVER: Final = frozenset({"start", "help", "quit"})


class PlainClient:
    """One person at one line-by-line terminal, or a script at a pipe."""

    def __init__(
        self,
        session: ClientSession,
        write: Callable[[str], object],
        start: Callable[[], object],
        *,
        is_person: bool,
    ) -> None:
        """`write` takes text; `start` blocks until a server is ready. `is_person`: a terminal is
        read, so that a prompt makes sense and the end of the input is the end of the client."""
        self.session = session
        self._write = write
        self._start = start
        self._is_person = is_person
        self._narrator = Narrator()
        self._changed = asyncio.Event()
        self.aside = Aside(session, self.say, self._changed)
        self._commands = Commands(self)
        self._closing = asyncio.Event()
        self._is_prompting = False
        self._own_turns: set[str] = set()
        self._sent_seq = 0
        self._ready = asyncio.Event()

    @property
    def view(self) -> ClientView:
        """The newest view."""
        return self.session.view

    async def run(self, lines: AsyncIterator[str]) -> int:
        """Serve until the input ends or /quit; returns the exit code."""
        problem = await self.start_server()
        self.say(problem)
        async with asyncio.TaskGroup() as group:
            following = group.create_task(self.session.run(self._on_change))
            listening = group.create_task(self.aside.follow())
            reading = group.create_task(self._read(lines))
            closing = group.create_task(self._closing.wait())
            await asyncio.wait([reading, closing], return_when=asyncio.FIRST_COMPLETED)
            self._closing.set()
            for task in (following, listening, reading, closing):
                task.cancel()
        await self.session.aclose()
        return 0

    def close(self) -> None:
        """End soon."""
        self._closing.set()

    async def start_server(self) -> str:
        """Make sure that a server runs; returns why it does not."""
        try:
            await in_daemon_thread(self._start, "groupx-start")
        except GroupXError as error:
            return f"{error.message} /start tries again."
        self.session.hurry()
        return ""

    async def send(self, text: str, answered: Block | None = None) -> None:
        """Send a message to the agents named in it. Raises: GroupXError."""
        reply = None if answered is None else reply_to(answered)
        author = None if reply is None else reply.author
        targets = find_targets(text, self.view.agents, author)
        event_id = None if reply is None else reply.event_id
        self.note(await self.session.send(text, targets.actor_ids, event_id))

    async def earlier(self) -> list[str]:
        """The blocks before those that were said first, as lines. Raises: GroupXError."""
        blocks = await self.blocks(before=self._narrator.first_seq)
        if not blocks:
            return ["That was the first one."]
        chosen = blocks[-MORE_BLOCKS:]
        self._narrator.first_seq = chosen[0].order_seq or 0
        return [line for block in chosen for line in block_lines(block)]

    async def blocks(
        self, *, before: int | None = None, after: int | None = None, around: int | None = None
    ) -> list[Block]:
        """A page of the shown room beside what is followed: `before`, `after` or `around` a
        number. Raises: GroupXError."""
        room_id = self.view.room_id
        page = await self.session.http.events(
            room_id, before=before, after=after, around=around, limit=PAGE_EVENTS
        )
        beside = apply_page(self.view, page, "replace")
        return [block for block in beside.timeline.blocks if block.order_seq]

    def note(self, accepted: MessageAccepted) -> None:
        """Remember what was asked for here: a script waits for the answers to it."""
        self._own_turns |= {turn.turn_id for turn in accepted.turns}
        self._sent_seq = max(self._sent_seq, accepted.seq + len(accepted.turns))

    def say(self, text: str) -> None:
        """Print a text; what is being typed stays in the terminal's own line."""
        if text:
            before = "\n" if self._is_prompting else ""
            self._is_prompting = False
            self._put(f"{before}{safe_text(text)}\n")
        self._prompt()

    def _put(self, text: str) -> None:
        try:
            self._write(text)
        except BrokenPipeError:
            self.close()  # nobody listens any more

    # --- inside

    def _on_change(self, view: ClientView) -> None:
        if view.ledger_id:
            self._ready.set()
        self._changed.set()
        if self._closing.is_set():
            return
        lines = list(self._narrator.follow(view))
        if lines:
            self.say("\n".join(lines))

    def _prompt(self) -> None:
        if self._is_person and not self._is_prompting:
            self._is_prompting = True
            self._put(PROMPT)

    async def _read(self, lines: AsyncIterator[str]) -> None:
        """Do what is typed, one after the other."""
        whole = ""
        async for line in lines:
            self._is_prompting = False
            if line.endswith("\\"):
                whole += line[:-1] + "\n"
                continue
            await self._do(whole + line)
            whole = ""
            if self._closing.is_set():
                return
        if whole:
            await self._do(whole)
        if not self._is_person:
            await self._answered()

    async def _do(self, text: str) -> None:
        if not text.strip():
            self._prompt()
            return
        try:
            said = await self._said(text)
        except GroupXError as error:
            said = error.message
        self.say(said)

    async def _said(self, text: str) -> str:
        word, _, argument = text.strip().partition(" ")
        command = self._commands.find(word[1:]) if word[:1] == "/" else None
        if word[1:] not in WITHOUT_SERVER and not await self._is_ready():
            return "Not done: there is no server yet. /start starts it."
        if command is not None:
            return await command(argument.strip())
        await self.send(message_text(text))
        return ""

    async def _is_ready(self) -> bool:
        """Whether the room is there; the first moments are waited out."""
        try:
            async with asyncio.timeout(READY_S):
                await self._ready.wait()
        except TimeoutError:
            return False
        return True

    async def _answered(self) -> None:
        """Wait until all that was asked for here is answered: a script wants to read it."""
        while (
            self._sent_seq > self.view.cursor
            or self.aside.is_waiting
            or self._own_turns & {turn.turn_id for turn in self.view.open_turns}
        ):
            self._changed.clear()
            await self._changed.wait()


def run_plain(
    workspace: Workspace, room_id: str, elsewhere: Callable[[], RuntimeFile] | None = None
) -> int:
    """Open the line-by-line client on `workspace`; returns the exit code. `elsewhere` finds a
    server that is not the workspace's own, and that is not started here."""
    from groupx_tui.cli.clock import Clock
    from groupx_tui.cli.launch import ensure_server
    from groupx_tui.client.session import ClientSession

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    async def serve() -> int:
        client = PlainClient(
            ClientSession(workspace, room_id=room_id, find_server=elsewhere),
            write,
            lambda: None if elsewhere else ensure_server(workspace, Clock()),
            is_person=sys.stdin.isatty(),
        )
        return await client.run(typed_lines(sys.stdin.fileno()))

    try:
        return asyncio.run(serve())
    except KeyboardInterrupt:
        write("\nClosed; the agents go on.\n")
        return 0
