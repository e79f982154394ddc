"""What Claude Code's transcript of a session says of one turn; read, never written.

Seen on 2.1.332: `projects/<folder>/<session>.jsonl` in its folder holds one JSON object a line.
A message of ours stands there with the id that we gave it (our native turn id); what was said
and done follows, each line with its `stop_reason`; the lines of a turn whose process was killed
stop before `end_turn`. Invariant: only a record that is provably of this very turn counts, and
only a last word `end_turn` is an end.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from groupx_server.agents.base import Recalled
from groupx_server.agents.jsonrpc import parse_json
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.domain.native import TurnCompleted, TurnFailed
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

OWN_FILES: Final = "CLAUDE_CONFIG_DIR"
"""Where a person moved Claude Code's settings and sign-in to; without it, it finds none."""
MAX_LINE_BYTES: Final = 16 * 1024 * 1024
_TOLD: Final = frozenset({"user", "assistant"})


def find_transcript(env: Mapping[str, str], session_id: str) -> Path | None:
    """The transcript of a session, whatever folder it worked in; None when there is none."""
    try:
        name = f"{uuid.UUID(session_id)}.jsonl"
    except ValueError:
        return None  # not an id that we gave: it could name another file
    own = env.get(OWN_FILES)
    folder = Path(own) if own else Path(env.get("HOME", "~")).expanduser() / ".claude"
    return next(iter(sorted((folder / "projects").glob(f"*/{name}"))), None)


def read_turn(
    path: Path, message_id: str | None, is_ours: Callable[[str], bool]
) -> Recalled | None:
    """`find_turn` in a file. Raises: AgentError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return find_turn(iter(lambda: file.readline(MAX_LINE_BYTES), b""), message_id, is_ours)
    except OSError as error:
        raise AgentError(f"The transcript {path} cannot be read: {error}") from error


def find_turn(
    lines: Iterable[bytes], message_id: str | None, is_ours: Callable[[str], bool]
) -> Recalled | None:
    """Find the turn by the id of its message, or by its prompt, and say how it ended."""
    found: _Turn | None = None
    for entry in _entries(lines):
        if _is_prompt(entry):
            known = message_id is not None and entry.get("uuid") == message_id
            if known or any(map(is_ours, _texts(entry))):
                found = _Turn()
            elif found is not None:
                break  # the next turn
        elif found is not None:
            found.take(entry)
    return None if found is None else Recalled(found.end())


@dataclass
class _Turn:
    """What was said since the prompt."""

    said: list[str] = field(default_factory=list)
    last: dict[str, Any] = field(default_factory=dict)

    def take(self, entry: dict[str, Any]) -> None:
        self.last = entry
        if entry["type"] == "assistant":
            self.said.extend(text for text in _texts(entry) if text)

    def end(self) -> TurnCompleted | TurnFailed | None:
        """None: it was interrupted, or the record stops in the middle."""
        if self.last.get("isApiErrorMessage") is True:
            reason = safe_line(self.said[-1] if self.said else "", 500)
            return TurnFailed(ErrorCode.AGENT_ERROR, reason or "Claude Code failed.")
        if as_dict(self.last.get("message")).get("stop_reason") != "end_turn":
            return None
        return TurnCompleted(content="\n\n".join(self.said))


def _entries(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """What the person and the model said; nothing of sub-agents, nothing that is broken."""
    for line in lines:
        try:
            entry = as_dict(parse_json(line))
        except ValueError:
            continue  # cut by the kill, or longer than is read
        if as_text(entry.get("type")) in _TOLD and entry.get("isSidechain") is not True:
            yield entry


def _is_prompt(entry: dict[str, Any]) -> bool:
    """True for a message of ours; results of tools come as `user` lines too."""
    if entry["type"] != "user":
        return False
    content = as_dict(entry.get("message")).get("content")
    kinds = {as_text(as_dict(part).get("type")) for part in as_list(content)}
    return isinstance(content, str) or "tool_result" not in kinds


def _texts(entry: dict[str, Any]) -> Iterator[str]:
    content = as_dict(entry.get("message")).get("content")
    if isinstance(content, str):
        yield content
    for part in map(as_dict, as_list(content)):
        if part.get("type") == "text":
            yield as_text(part.get("text"))
