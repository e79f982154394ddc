"""`groupx agents`: list, restart."""

from __future__ import annotations

from typing import Any

from groupx_shared.agentstatus import status_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect


def run_list(call: Invocation) -> int:
    """Print the agents with their state."""
    cards = connect(call).agents()
    if call.flag("json"):
        output.json_line({"agents": cards})
    else:
        print_table(cards)
    return ExitCode.DONE


def run_restart(call: Invocation) -> int:
    """Restart an agent's program."""
    reply = connect(call).restart_agent(call.required("agent"))
    if call.flag("json"):
        output.json_line(reply)
    else:
        diagnostics.say(f"{short(str(reply['actorId']))} is being restarted.")
    return ExitCode.DONE


def print_table(cards: list[dict[str, Any]]) -> None:
    """Write the agents as a table; “*” marks the one that gets messages without a target."""
    output.table(("AGENT", "NAME", "STATUS", "QUEUED", "DETAIL"), map(_row, cards))


def _row(card: dict[str, Any]) -> tuple[str, ...]:
    default = "*" if card.get("isDefault") else ""
    return (
        str(card.get("actorId")).removeprefix("agent:") + default,
        str(card.get("displayName")),
        status_text(str(card.get("status")), card.get("untilIso")),
        str(card.get("queuedTurns") or ""),
        str(card.get("detail") or ""),
    )
