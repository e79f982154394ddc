"""What stands above the text: who gets it, what it answers, how long it is. Pure, but for Content.

Invariant: the line says what Enter will do with exactly this text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from textual.content import Content

from groupx_shared.agentstatus import status_word
from groupx_shared.text import safe_line
from groupx_tui.state.model import AgentView, Author
from groupx_tui.widgets.composer.slash import SlashCommand
from groupx_tui.widgets.composer.targets import Targets, Watch

COUNTER_FROM: Final = 0.8
"""The counter shows from this share of the longest message on."""
METER_FROM: Final = 60.0
"""Percent of the context from which on it is shown."""
METER_FULL: Final = 90.0
"""From here on the oldest messages are about to be left out or summed up."""
MAX_SHOWN: Final = 4
"""Names of targets shown before “and n more”."""
EXCERPT_CHARS: Final = 120
BRIEF_CHARS: Final = 40
"""Of what an observer shall look out for, above the text."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The message that is answered."""

    event_id: str
    author: Author
    excerpt: str


def target_line(
    targets: Targets, slash: SlashCommand | None, *, is_known: bool, watch: Watch | None = None
) -> Content:
    """Who gets it and who watches them, or what the slash command does; nothing while the agents
    are not known."""
    if slash is not None:
        about = slash.action.help
        return Content.assemble(("/ ", "$text-accent"), (about, "$muted"))
    if not is_known:
        return Content("")
    parts: list[Content | str] = [Content.styled("→ ", "$text-accent"), _names(targets)]
    if targets.unknown:
        parts.append(Content.styled(f" · there is no agent “@{targets.unknown}”", "$text-warning"))
    if watch is not None:
        parts += _watched(watch, targets)
    return Content.assemble(*parts)


def _watched(watch: Watch, targets: Targets) -> list[Content | str]:
    name = watch.observer.name
    if watch.observer.actor_id in targets.actor_ids:
        return [Content.styled(f" · {name} cannot watch itself", "$text-warning")]
    brief = f": {safe_line(watch.brief, BRIEF_CHARS)}" if watch.brief else ""
    return [Content.styled(" · watched by ", "$muted"), name, Content.styled(brief, "$muted")]


def reply_line(reply: Reply, drop_key: str) -> tuple[Content, Content]:
    """What is answered, and at the right how to drop it."""
    excerpt = safe_line(reply.excerpt, EXCERPT_CHARS)
    left = Content.assemble(
        ("↳ ", "$text-accent"), (f"{reply.author.name}: ", "bold"), (excerpt, "$muted")
    )
    return left, Content.styled(f"{drop_key} drops it", "$muted")


def forward_line(forward: Reply, drop_key: str) -> tuple[Content, Content]:
    """What is passed on, and at the right how to drop it."""
    excerpt = safe_line(forward.excerpt, EXCERPT_CHARS)
    left = Content.assemble(
        ("» ", "$text-accent"),
        ("passes on ", "$muted"),
        (f"{forward.author.name}: ", "bold"),
        (excerpt, "$muted"),
    )
    return left, Content.styled(f"{drop_key} drops it", "$muted")


def counter(length: int, limit: int) -> Content:
    """Characters left or too many, once they matter; else nothing."""
    if length > limit:
        return Content.styled(f"{length - limit:,} characters too many", "$text-error bold")
    if length >= limit * COUNTER_FROM:
        return Content.styled(f"{limit - length:,} characters left", "$text-warning")
    return Content("")


def chip_hint(open_key: str) -> Content:
    """What to do to see a folded paste."""
    return Content.styled(f"{open_key} opens the paste" if open_key else "", "$muted")


def meter(percent: float | None) -> Content:
    """How full the agents' context is, once it matters; else nothing. More than fits is said with
    its true figure: older messages go along summed up, or not at all, which the preview shows."""
    if percent is None or percent < METER_FROM:
        return Content("")
    style = "$text-warning" if percent >= METER_FULL else "$muted"
    if round(percent) > 100:
        return Content.styled(f"context {percent:,.0f}%: more than fits, see /context", style)
    return Content.styled(f"context {percent:.0f}% full", style)


def too_long(length: int, limit: int) -> str:
    """Why a text is not sent, and what to do."""
    return (
        f"The message has {length:,} characters and at most {limit:,} can be sent. "
        "Shorten it, or save it as a file and name the file. Your text is kept."
    )


def _names(targets: Targets) -> Content:
    if targets.reason == "nobody":
        return Content.styled("nobody: no agent is switched on", "$text-warning")
    if targets.reason == "all":
        return Content(f"everybody ({len(targets.agents)})")
    shown = Content(", ").join(_name(agent) for agent in targets.agents[:MAX_SHOWN])
    more = len(targets.agents) - MAX_SHOWN
    tail = f" and {more} more" if more > 0 else ""
    if targets.reason == "reply":
        tail += " (reply)"
    return Content.assemble(shown, tail)


def _name(agent: AgentView) -> Content:
    if not agent.enabled:
        return Content.styled(f"{agent.name} (switched off)", "$text-warning")
    if agent.status == "failed":
        return Content.styled(f"{agent.name} (cannot start)", "$text-warning")
    if agent.status in ("needs_login", "rate_limited"):
        return Content.styled(f"{agent.name} ({status_word(agent.status)})", "$text-warning")
    if agent.active_turn_id is not None or agent.queued_turns:
        return Content.assemble(agent.name, (" (busy: waits its turn)", "$muted"))
    return Content(agent.name)
