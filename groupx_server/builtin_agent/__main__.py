"""`python -m groupx_server.builtin_agent`: the built-in agent on standard input and output.

Exit code 0 when the input ends or the client goes away, 130 on Ctrl+C. Logs go to standard error
and never hold what people wrote.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from typing import Final

from groupx_server.builtin_agent.agent import BuiltinAgent
from groupx_server.builtin_agent.answering import Answering
from groupx_server.builtin_agent.discovery import PortScout
from groupx_server.builtin_agent.http_pool import HttpPool, import_in_background
from groupx_server.builtin_agent.model_finder import ModelFinder
from groupx_server.builtin_agent.settings import Settings, read_settings
from groupx_server.builtin_agent.stdio import LineWriter, read_chunks, take_stdout

EXIT_GRACE_S: Final = 0.8
"""After the input's end; what is not closed by then is left to the system."""


async def serve(settings: Settings) -> None:
    """Serve one client on standard input and output until it goes away."""
    writer = await LineWriter.open(take_stdout())
    http = HttpPool()
    scout = PortScout(http, settings.ports, model=settings.model)
    finder = ModelFinder(settings, http, scout)
    agent = BuiltinAgent(
        Answering(settings, http, finder),
        writer.write,
        history_chars=settings.history_chars,
        on_session=lambda: _prepare(finder),
    )
    try:
        await agent.serve(_input())
    except* ConnectionError:
        logging.getLogger("groupx.builtin_agent").info("the client closed our output")
    finally:
        await http.aclose()
        await writer.aclose()


async def _input() -> AsyncIterator[bytes]:
    """Yield the input; at its end see to it that the process ends soon, whatever hangs."""
    async for chunk in read_chunks():
        yield chunk
    asyncio.get_running_loop().call_later(EXIT_GRACE_S, os._exit, 0)


def _prepare(finder: ModelFinder) -> None:
    """A new session: its first turn will want HTTP, and a model may have come or gone."""
    finder.forget()
    import_in_background()


def main() -> int:
    """Run the agent; return its exit code."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    settings = read_settings(os.environ)
    for problem in settings.problems:
        logging.getLogger("groupx.builtin_agent").warning("%s", problem)
    try:
        asyncio.run(serve(settings))
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
