"""A program is asked a question, bounded, and never started bare."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from groupx_server.agents.oneshot import MAX_OUTPUT_BYTES, ask
from groupx_shared.errors import AgentError
from server.agents.kit import NoGuard

pytestmark = [pytest.mark.process, pytest.mark.slow]
ENV = {"PATH": os.environ["PATH"]}


async def run(code: str, limit_s: float = 10) -> tuple[int | None, str]:
    printed = await ask([sys.executable, "-c", code], Path("/"), ENV, NoGuard(), limit_s)
    return printed.status, printed.text


async def test_both_outputs_and_the_status_are_told() -> None:
    code = "import sys; print('out 1.2'); sys.stderr.write('err'); sys.exit(3)"
    assert await run(code) == (3, "out 1.2\n\nerr")


async def test_one_that_does_not_end_is_ended() -> None:
    code = "import time; print('x', flush=True); time.sleep(60)"
    assert await run(code, 1) == (None, "x")


async def test_a_flood_is_cut() -> None:
    status, text = await run("print('x' * 10_000_000)")
    assert (status, len(text)) == (0, MAX_OUTPUT_BYTES)


async def test_nothing_is_started_without_arguments() -> None:
    with pytest.raises(ValueError, match="without arguments"):
        await ask([sys.executable], Path("/"), ENV, NoGuard(), 1)


async def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(AgentError, match="not on its PATH"):
        await ask(["no-such-program", "--version"], Path("/"), ENV, NoGuard(), 1)
