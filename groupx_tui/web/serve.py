"""Runs the web view until it is told to end: the socket, the links, the signals.

Invariant: the socket is on 127.0.0.1; there is no way to ask for another address.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from typing import Final

from aiohttp import web

from groupx_tui.web.child import STOP_S
from groupx_tui.web.server import WebView, new_gate

HOST: Final = "127.0.0.1"
ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def serve(
    config: str,
    room: str,
    port: int,
    *,
    say: Callable[[str], object],
    show_link: Callable[[str], object],
) -> None:
    """Serve until a signal comes. `port` 0 takes a free one. Raises: OSError when it is taken."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in ENDING:
        loop.add_signal_handler(number, ended.set)
    gate = new_gate(port)
    view = WebView(gate, config, room, say)
    runner = web.AppRunner(
        view.application(), access_log=None, shutdown_timeout=3 * STOP_S, handle_signals=False
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port)
        await site.start()
        gate.port = int(runner.addresses[0][1])
        show_link(gate.new_link())
        with _Enter(lambda: show_link(gate.new_link())):
            await ended.wait()
    finally:
        await runner.cleanup()


class _Enter:
    """Calls back when a line is entered at our terminal, while we are its foreground program."""

    def __init__(self, entered: Callable[[], object]) -> None:
        self._entered = entered
        self._input = sys.stdin if sys.stdin is not None and sys.stdin.isatty() else None

    def __enter__(self) -> None:
        if self._input is not None:
            asyncio.get_running_loop().add_reader(self._input, self._read)

    def __exit__(self, *error: object) -> None:
        if self._input is not None:
            asyncio.get_running_loop().remove_reader(self._input)

    def _read(self) -> None:
        assert self._input is not None
        if os.tcgetpgrp(self._input.fileno()) != os.getpgrp():
            return  # in the background, reading would stop us
        if self._input.readline():
            self._entered()
        else:
            self.__exit__()  # the terminal's end: there is nothing more to read
