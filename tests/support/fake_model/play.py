"""Answers a request to the fake model as its mark says; see `script` for the marks."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Final

from support.fake_model.calls import call_of_the_room, is_search, shell_call
from support.fake_model.script import Ask, Said, Voice

TITLE: Final = "A short title"
BEGINNING: Final = "This goes on and on"
REFUSAL: Final = "the fake model says no"

_END: Final = re.compile(r"is exactly this, without quotes: (\[end of text \S+\])")

_MARK: Final = re.compile(
    r"\[\[(say|nonce|think|shell|room|endless|empty|long|cut|fail)(?: (.*?))?\]\]", re.DOTALL
)


async def play(ask: Ask, voice: Voice) -> None:
    """Answer a request as its mark says."""
    kind, argument, since = _newest_mark(ask.said)
    results = [one.text for one in since if one.by == "tool"]
    if kind == "fail":
        await voice.refuse(int(argument), REFUSAL)
    elif not ask.is_streamed or kind is None:
        await _title(ask, voice)
    elif results and not _has_only_searched(since):
        await _finish(voice, f"The tool said: {results[-1]}")
    elif kind in ("shell", "room"):
        await _call(kind, argument, ask, voice, results)
    elif kind == "endless":
        await voice.say(BEGINNING, is_whole=False)
        await voice.responder.client_gone()
    elif kind == "empty":
        await voice.say("")
        await voice.end()
    elif kind == "cut":
        await voice.say(argument)
        await voice.end(is_cut=True)
    else:
        if kind == "think":
            await voice.think(argument)
        await _finish(voice, _said(kind, argument) + _end_line(ask))


def _said(kind: str, argument: str) -> str:
    if kind == "long":
        points = " ".join(f"point {number};" for number in range(int(argument) // 7))
        return points[: int(argument)]  # not the same words again: Gemini calls that a loop
    return {"say": argument, "think": "Thought."}.get(kind) or f"nonce-{uuid.uuid4().hex}"


def _end_line(ask: Ask) -> str:
    """The last line that the person asks for; programs put notes of their own after that."""
    ends = _END.findall("\n".join(one.text for one in ask.said if one.by == "user"))
    return f"\n{ends[-1]}" if ends else ""


async def _title(ask: Ask, voice: Voice) -> None:
    if ask.is_streamed:
        await _finish(voice, TITLE)
    else:
        await voice.whole(TITLE)


async def _finish(voice: Voice, text: str) -> None:
    await voice.say(text)
    await voice.end()


async def _call(kind: str, argument: str, ask: Ask, voice: Voice, results: Sequence[str]) -> None:
    if kind == "shell":
        tool, arguments = shell_call(argument, ask.tools)
    else:
        tool, arguments = call_of_the_room(argument, ask.tools, results)
    if tool is None:
        offered = ", ".join(tool.full_name for tool in ask.tools)
        await _finish(voice, f"There is no such tool; offered: {offered or 'none'}.")
        return
    await voice.call(tool, arguments)
    await voice.end()


def _newest_mark(said: Sequence[Said]) -> tuple[str | None, str, Sequence[Said]]:
    """The last mark of the newest marked message, and what was said since."""
    for index in range(len(said) - 1, -1, -1):
        marks = _MARK.findall(said[index].text) if said[index].by == "user" else []
        if marks:
            kind, argument = marks[-1]
            return kind, argument, said[index + 1 :]
    return None, "", []


def _has_only_searched(since: Sequence[Said]) -> bool:
    called = [one.text for one in since if one.by == "call"]
    return bool(called) and all(map(is_search, called))
