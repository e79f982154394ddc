"""Where a copied text goes, and what can truthfully be said about it.

A terminal never answers OSC 52, so there it is only known that the text was sent. tmux takes no
OSC 52 of a program unless it was told to, but its own command puts a text into its buffer and hands
it on to the terminal, and says whether it did. Invariant: nothing is called copied that may not be.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

OSC52_SAFE_BYTES: Final = 74_994
"""xterm's limit for one OSC 52, in base64 characters; other terminals take as much or more."""
TMUX_S: Final = 3.0
"""It answers in milliseconds; after this long the terminal is asked instead."""


def sent_sentence(what: str, text: str) -> str:
    """What is said of a text that was sent to the terminal."""
    sentence = (
        f"{what.capitalize()} sent to the terminal ({len(text):,} characters). "
        "If nothing was pasted, your terminal does not take OSC 52."
    )
    if len(text.encode()) * 4 // 3 > OSC52_SAFE_BYTES:
        sentence += " It is long: some terminals take only 56 KB."
    return sentence


def tmux_sentence(what: str, text: str) -> str:
    """What is said of a text that tmux took."""
    return (
        f"{what.capitalize()} is in tmux's buffer ({len(text):,} characters; its prefix and ] "
        "paste it), and tmux handed it on to your terminal, if its set-clipboard is not off."
    )


async def give_to_tmux(text: str, environ: Mapping[str, str]) -> bool:
    """Put `text` into the buffer of the tmux that we run in; True only when it said that it has
    it. False as well when we run in none, or it is older than 3.2."""
    program = shutil.which("tmux", path=environ.get("PATH")) if environ.get("TMUX") else None
    if program is None:
        return False
    try:
        process = await asyncio.create_subprocess_exec(
            program, "load-buffer", "-w", "-",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        return False  # then the terminal is asked
    try:
        async with asyncio.timeout(TMUX_S):
            await process.communicate(text.encode("utf-8", "replace"))
    except (TimeoutError, ConnectionError):
        return False
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return process.returncode == 0
