"""Who a message goes to, from what is written. Pure.

An `@handle` of a known agent anywhere in the text makes that agent a target; `@all` makes all
enabled ones. Without any, a reply goes to the agent it answers, and everything else to the room's
default agent. Invariant: what this returns is what is shown above the composer and what is sent;
nobody is woken by a name that only looks like theirs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from groupx_shared.text import safe_line
from groupx_tui.state.model import AgentView, Author

ALL: Final = "all"
_MENTION: Final = re.compile(r"(?<![\w@/.`-])@([A-Za-z0-9][A-Za-z0-9._-]*+)(?!/\w)")
"""`@src/app.py` names a file, whatever agents there are."""
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_TRAILING: Final = ".-_"
"""Characters that may end a sentence as well as a handle: tried with them, then without."""

Reason = Literal["mention", "all", "reply", "default", "nobody"]


@dataclass(frozen=True, slots=True)
class Targets:
    """Who gets the message, and why them."""

    agents: tuple[AgentView, ...]
    reason: Reason
    unknown: str = ""
    """A leading `@name` that is no agent: a typing error that would otherwise go unseen."""

    @property
    def actor_ids(self) -> tuple[str, ...]:
        """What the server is told."""
        return tuple(agent.actor_id for agent in self.agents)


@dataclass(frozen=True, slots=True)
class Watch:
    """An agent that watches those who get the message."""

    observer: AgentView
    brief: str = ""
    """What it shall look out for; empty: the server's own words."""


def find_targets(text: str, agents: Sequence[AgentView], reply_to: Author | None = None) -> Targets:
    """Return who gets `text`; `reply_to` is the author of the message it answers."""
    mentioned, is_all, unknown = _mentions(text, agents)
    if is_all:
        return Targets(tuple(agent for agent in agents if agent.enabled), "all", unknown)
    if mentioned:
        return Targets(mentioned, "mention", unknown)
    if reply_to is not None and reply_to.kind == "agent":
        author = tuple(agent for agent in agents if agent.actor_id == reply_to.actor_id)
        if author:
            return Targets(author, "reply", unknown)
    default = default_agent(agents)
    if default is None:
        return Targets((), "nobody", unknown)
    return Targets((default,), "default", unknown)


def default_agent(agents: Sequence[AgentView]) -> AgentView | None:
    """The agent that gets a message without a target."""
    enabled = [agent for agent in agents if agent.enabled]
    marked = [agent for agent in enabled if agent.is_default]
    return next(iter(marked or enabled), None)


def _mentions(text: str, agents: Sequence[AgentView]) -> tuple[tuple[AgentView, ...], bool, str]:
    if "@" not in text:
        return (), False, ""
    by_handle = {agent.handle.lower(): agent for agent in agents}
    prose = _CODE.sub(lambda code: " " * len(code[0]), text) if "`" in text else text
    found: dict[str, AgentView] = {}
    is_all, unknown = False, ""
    for match in _MENTION.finditer(prose):
        name = _known_name(match[1], by_handle)
        if name == ALL and name not in by_handle:
            is_all = True
        elif name is not None:
            found.setdefault(name, by_handle[name])
        elif not prose[: match.start()].strip():
            unknown = safe_line(match[1].rstrip(_TRAILING), 40)
    return tuple(found.values()), is_all, unknown


def _known_name(word: str, by_handle: dict[str, AgentView]) -> str | None:
    name = word.lower()
    while name:
        if name in by_handle or name == ALL:
            return name
        if name[-1] not in _TRAILING:
            return None
        name = name[:-1]
    return None
