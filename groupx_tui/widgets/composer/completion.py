"""What can be taken at the caret: agents and files after `@`, commands after `/`, names after a
command.

Pure. Matches by prefix first, then by letters in order; an exact match stands first. Counterparts:
`popup`, which shows the candidates, and `Composer`, which replaces `start`–`end` by the taken one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupx_shared.agentstatus import status_word
from groupx_tui.actions import SLASH_WORDS
from groupx_tui.matching import best_matches
from groupx_tui.state.model import AgentView, RoomEntry
from groupx_tui.widgets.composer.slash import GUIDE_WORDS, sent_word
from groupx_tui.widgets.composer.targets import ALL
from groupx_tui.workfiles.finder import FileFinder

BUILTIN_DRIVER: Final = "builtin"
MAX_CANDIDATES: Final = 100
"""All commands of the window and of the guide, and more."""
NO_FILES: Final = FileFinder()
_AT_WORD: Final = re.compile(r"(?:^|[\s(\[{,;:\"'])(@[\w./+#=~-]*)\Z")
_PLAIN_PATH: Final = re.compile(r"[\w./+#=~-]+")
_SLASH_WORD: Final = re.compile(r"//?([A-Za-z-]*)\Z")
_SLASH_ARGUMENT: Final = re.compile(r"/([A-Za-z-]+) +(\S.*|)\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line of the list."""

    text: str
    """What is put in, without the space after it."""
    label: str
    detail: str = ""
    also: str = ""
    """Another name it is found by."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Candidates for the characters `start`–`end` of the caret's line."""

    start: int
    end: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The names that can be completed."""

    agents: Sequence[AgentView] = ()
    rooms: Sequence[RoomEntry] = ()
    themes: Sequence[str] = ()
    files: FileFinder = NO_FILES
    has_guide: bool = False
    """The message would go to the built-in agent, so its own commands make sense."""


def complete(line: str, column: int, *, is_first_line: bool, known: Known) -> Completion | None:
    """Return what can be taken at `column` of `line`; None when nothing is being named."""
    before = line[:column]
    if is_first_line:
        if match := _SLASH_WORD.match(before):
            return _completion(0, column, match[1], _commands(known))
        if (match := _SLASH_ARGUMENT.match(before)) and match[1] in SLASH_WORDS:
            candidates = _arguments(SLASH_WORDS[match[1]].argument, match[1], known)
            typed = match[2].removeprefix("@")
            return _completion(match.start(2), column, typed, candidates)
    if match := _AT_WORD.search(before):
        return _completion_at(match.start(1), column, match[1][1:], known)
    return None


def names_file(line: str, column: int) -> bool:
    """Whether a file may be meant at `column`: its list is wanted then."""
    match = _AT_WORD.search(line[:column])
    return match is not None and len(match[1]) > 1


def _completion_at(start: int, end: int, typed: str, known: Known) -> Completion | None:
    """Agents first, then files."""
    found = best_matches(typed, _agents(known.agents, with_all=True), _names)
    found += [_file(path) for path in known.files.find(typed)]
    return Completion(start, end, tuple(found[:MAX_CANDIDATES])) if found else None


def _file(path: str) -> Candidate:
    folder, _, name = path.rpartition("/")
    is_plain = _PLAIN_PATH.fullmatch(path)
    return Candidate(f"@{path}" if is_plain else f'@"{path}"', name, folder)


def _completion(
    start: int,
    end: int,
    typed: str,
    candidates: Sequence[Candidate],
) -> Completion | None:
    found = best_matches(typed, candidates, _names)
    return Completion(start, end, tuple(found[:MAX_CANDIDATES])) if found else None


def _names(candidate: Candidate) -> tuple[str, ...]:
    bare = candidate.text.lstrip("@/")
    return (bare, candidate.also) if candidate.also else (bare,)


def _commands(known: Known) -> list[Candidate]:
    own = [
        Candidate(f"/{word}", f"/{word} {action.argument}".strip(), action.help)
        for word, action in SLASH_WORDS.items()
    ]
    if not known.has_guide:
        return own
    guides = [
        Candidate(
            sent_word(word), f"{sent_word(word)} {argument}".strip(), f"{about} · sent to the agent"
        )
        for word, (argument, about) in GUIDE_WORDS.items()
    ]
    return own + guides


def _arguments(kind: str, word: str, known: Known) -> list[Candidate]:
    if kind.startswith("@AGENT"):
        return _agents(known.agents, with_all=False)
    if word == "theme":
        return [Candidate(name, name) for name in known.themes]
    if "|" in kind:
        words = [each for each in kind.split("|") if each.islower()]
        return [Candidate(each, each) for each in words]
    if kind == "NAME":
        is_archived = word == "restore"
        return [
            Candidate(room.title, room.title, room.room_id)
            for room in known.rooms
            if room.is_archived == is_archived
        ]
    return []


def _agents(agents: Sequence[AgentView], *, with_all: bool) -> list[Candidate]:
    found = [
        Candidate(
            f"@{agent.handle}",
            f"@{agent.handle}",
            f"{agent.name} · {status_word(agent.status)}",
            agent.name,
        )
        for agent in agents
        if agent.enabled
    ]
    if with_all and len(found) > 1:
        found.append(Candidate(f"@{ALL}", f"@{ALL}", f"all {len(found)} agents", "everybody"))
    return found
