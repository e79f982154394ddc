"""An agent's card: how it is and what to do, what it runs, where, what it has used.

Pure but for Content. Counterpart: `handlers.inspect`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from textual.content import Content

from groupx_shared.agentstatus import status_text
from groupx_shared.text import safe_line
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets.facts import Fact

if TYPE_CHECKING:
    from groupx_shared.wire.agents import AgentInfo
    from groupx_shared.wire.replies import UsageTotals

LABEL_WIDTH: Final = 14
MAX_CHARS: Final = 2_000


def card_screen(
    keymap: KeyMap,
    card: AgentInfo,
    usage: UsageTotals,
    last_error: str,
    offers: Mapping[str, Callable[[], object]],
) -> Reader:
    """The dialog; its copy key copies the sentence about its state."""
    copies = (card.detail, "why") if card.detail else (card.actor_id, "the id")
    title = safe_line(card.display_name or card.actor_id, 60)
    rows = [
        Fact(Content.styled(label, "$muted"), Content(safe_line(value, MAX_CHARS)))
        for label, value in card_facts(card, usage, last_error)
        if value
    ]
    return Reader(keymap, title, rows, LABEL_WIDTH, copies, offers)


def card_facts(card: AgentInfo, usage: UsageTotals, last_error: str) -> list[tuple[str, str]]:
    """Label and value of each fact; empty values are not known."""
    program = " ".join(part for part in (card.agent_name, card.agent_version) if part)
    return [
        ("state", status_text(card.status, card.until_iso)),
        ("why", card.detail or ""),
        ("last error", last_error),
        ("address", f"@{card.actor_id.removeprefix('agent:')}"),
        ("default", "gets messages that name nobody" if card.is_default else ""),
        ("driver", card.driver),
        ("program", program),
        ("command", card.command or ""),
        ("folder", card.cwd),
        ("works on", card.active_turn_id or ""),
        ("waiting", f"{card.queued_turns} turns" if card.queued_turns else ""),
        ("turns", _turns(usage)),
        ("tokens", _tokens(usage)),
        ("cost", ", ".join(f"{amount:.4f} {unit}" for unit, amount in usage.costs.items())),
    ]


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
