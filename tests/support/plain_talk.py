"""Somebody at a line-by-line client: types lines, hears what is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from groupx_tui.client.session import ClientSession
from groupx_tui.plain.client import PlainClient

PATIENCE_S = 5.0


class Talk:
    """A person, or a script."""

    def __init__(self, session: ClientSession, *, is_person: bool) -> None:
        self.heard = ""
        self.starts = 0
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()
        self._news = asyncio.Event()
        self.client = PlainClient(session, self._write, self._start, is_person=is_person)

    def _write(self, text: str) -> None:
        self.heard += text
        self._news.set()

    def _start(self) -> None:
        self.starts += 1

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._typed.get()) is not None:
            yield line

    def type(self, line: str) -> None:
        self._typed.put_nowait(line)

    def end(self) -> None:
        """The end of the input."""
        self._typed.put_nowait(None)

    async def hear(self, text: str) -> None:
        """Wait until `text` is said; then what was said before is forgotten."""
        async with asyncio.timeout(PATIENCE_S):
            while text not in self.heard:
                self._news.clear()
                await self._news.wait()
        self.heard = self.heard.partition(text)[2]
