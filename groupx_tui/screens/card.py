"""An agent's card: how it is and what to do, what it runs, where, what it has used.

Pure but for Content. Counterpart: `handlers.inspect`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_shared.agentstatus import status_text
from groupx_shared.english import counted
from groupx_shared.text import safe_line
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import Fact
from groupx_tui.widgets.timeline.words import moment

if TYPE_CHECKING:
    from groupx_shared.wire.agents import AgentInfo
    from groupx_shared.wire.replies import GroupUsage, UsageReply, UsageTotals

LABEL_WIDTH: Final = 14
MAX_CHARS: Final = 2_000


REMEDIES: Final = {
    "disabled": "Switch it on: /agents-setup.",
    "rate_limited": "Wait until the limit ends, or ask another agent meanwhile.",
    "needs_login": "Sign in as it says, in a shell; then {restart} starts it again.",
    "retrying": "It is started again by itself; {doctor} says what is wrong with it.",
    "failed": "{doctor} starts it as a trial and says what is wrong; {restart} starts it again.",
    "waiting": "It is silent. {cancel} asks it to stop, {restart} ends its program.",
}
"""What to do about a state in which it does not answer."""


def card_screen(
    keymap: KeyMap,
    card: AgentInfo,
    usage: UsageReply,
    last_error: str,
    offers: Mapping[str, Callable[[], object]],
) -> Reader:
    """The dialog; its copy key copies the sentence about its state."""
    copies = (card.detail, "why") if card.detail else (card.actor_id, "the id")
    title = safe_line(card.display_name or card.actor_id, 60)
    rows = [
        Fact(Content.styled(label, "$muted"), Content(safe_line(value, MAX_CHARS)))
        for label, value in card_facts(card, usage, last_error, remedy(keymap, card, last_error))
        if value
    ]
    return Reader(keymap, title, rows, LABEL_WIDTH, copies, offers)


def remedy(keymap: KeyMap, card: AgentInfo, last_error: str) -> str:
    """What to do, when it is not well or its last turn was not; empty when all is."""
    keys = {name: keymap.shown(f"dialog.{name}") for name in ("restart", "doctor", "cancel")}
    if card.status in REMEDIES:
        return REMEDIES[card.status].format(**keys)
    return f"{keys['doctor']} starts it as a trial and says what is wrong." if last_error else ""


def card_facts(
    card: AgentInfo, used: UsageReply, last_error: str, what_to_do: str
) -> list[tuple[str, str]]:
    """Label and value of each fact; empty values are not known."""
    usage, upkeep = used.totals, {part.key: part for part in used.upkeep}
    program = " ".join(part for part in (card.agent_name, card.agent_version) if part)
    return [
        ("state", status_text(card.status, card.until_iso)),
        ("why", card.detail or ""),
        ("last error", last_error),
        ("what to do", what_to_do),
        ("address", f"@{card.actor_id.removeprefix('agent:')}"),
        ("default", "gets messages that name nobody" if card.is_default else ""),
        ("driver", card.driver),
        ("model", card.model or "it does not tell"),
        ("program", program),
        ("command", card.command or ""),
        ("folder", card.cwd),
        ("works on", card.active_turn_id or ""),
        ("waiting", counted(card.queued_turns, "turn") if card.queued_turns else ""),
        ("turns", _turns(usage)),
        ("tokens", _tokens(usage)),
        ("cost", _cost(usage)),
        ("summaries", _texts(upkeep.get("summary"))),
        ("days", _texts(upkeep.get("dated"))),
    ]


def _cost(usage: UsageTotals) -> str:
    return ", ".join(f"{amount:.4f} {unit}" for unit, amount in usage.costs.items())


def _texts(part: GroupUsage | None) -> str:
    """What its texts for the rooms cost, refused ones too: they are no turns, and not in there."""
    if part is None or not part.turns:
        return ""
    which = "they" if part.turns > 1 else "it"
    told = (
        f"{part.total_tokens:,} tokens" if part.total_tokens else f"what {which} took is not told"
    )
    facts = [counted(part.turns, "text"), told, _cost(part)]
    last = f"last {moment(part.last_at)[:16]}" if part.last_at else ""
    return ", ".join(fact for fact in (*facts, last) if fact)


def _turns(usage: UsageTotals) -> str:
    if not usage.turns:
        return "none that ended"
    return f"{usage.turns:,} ended, {usage.reported_turns:,} told what they used"


def _tokens(usage: UsageTotals) -> str:
    if not usage.total_tokens:
        return ""
    return (
        f"{usage.total_tokens:,}: {usage.input_tokens:,} in, {usage.output_tokens:,} out, "
        f"{usage.cached_tokens:,} cached"
    )
