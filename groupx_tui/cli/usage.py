"""`groupx usage`: tokens and money by agent, room or root, as far as agents tell."""

from __future__ import annotations

from typing import Any

from groupx_shared.ids import agent_actor
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import room_id, short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect

Json = dict[str, Any]


def run(call: Invocation) -> int:
    """Print one line for each agent, room or root, and the sum."""
    room, agent, by = call.text("room"), call.text("agent"), call.required("by")
    reply = connect(call).usage(
        roomId=None if room is None else room_id(room),
        correlationId=call.text("root"),
        actorId=None if agent is None else agent_actor(agent.removeprefix("@")),
        by=by,
        limit=call.integer("limit"),
    )
    if call.flag("json"):
        output.json_line(reply)
        return ExitCode.DONE
    rows = [_row(short(part["key"]), part) for part in reply["groups"]]
    output.table(
        (by.upper(), "TURNS", "TOLD", "IN", "OUT", "CACHED", "THOUGHT", "TOTAL", "COST"),
        [*rows, _row("all", reply["totals"])],
    )
    for each in reply.get("embeddings") or ():
        diagnostics.say(_embedding(each))
    for part in reply.get("upkeep") or ():
        output.line(_upkeep(part))
    totals = reply["totals"]
    if silent := totals["turns"] - totals["reportedTurns"]:
        diagnostics.say(f"{silent} of {totals['turns']} turns did not tell what they cost.")
    return ExitCode.DONE


def tokens(usage: Json) -> str:
    """The tokens of a sum or of one turn, short."""
    total = usage.get("totalTokens")
    if total is None:
        total = (usage.get("inputTokens") or 0) + (usage.get("outputTokens") or 0)
    return f"{int(total):,} tokens"


def money(usage: Json) -> str:
    """The costs of a sum; empty when nobody told any."""
    costs = usage.get("costs") or {}
    return ", ".join(f"{amount:.4f} {currency}".rstrip() for currency, amount in costs.items())


def _embedding(usage: Json) -> str:
    failed = f", {usage['failed']:,} failed" if usage["failed"] else ""
    return (
        f"Search asked {safe_line(str(usage['model']), 200)} {usage['calls']:,} times for vectors"
        f" ({usage['purpose']}, {usage['texts']:,} texts, {usage['chars']:,} characters{failed})."
    )


_TEXTS = {"summary": ("summary", "summaries"), "dated": ("day", "days")}
"""Texts that agents write for the server, by purpose."""


def _upkeep(usage: Json) -> str:
    """What such texts cost: they are no turns, and not in the sum above."""
    count, told = usage.get("turns", 0), usage.get("reportedTurns", 0)
    one, many = _TEXTS.get(str(usage["key"]), (safe_line(str(usage["key"]), 40),) * 2)
    parts = [f"besides: {count:,} {one if count == 1 else many}", tokens(usage)]
    parts += [each for each in [money(usage)] if each]
    if told < count:
        parts.append(f"{told:,} of {count:,} told")
    return ", ".join(parts)


def _row(name: str, usage: Json) -> tuple[str, ...]:
    keys = ("inputTokens", "outputTokens", "cachedTokens", "thoughtTokens", "totalTokens")
    counts = [f"{int(usage.get(key) or 0):,}" for key in keys]
    told = f"{usage.get('reportedTurns', 0):,}"
    return (name, f"{usage.get('turns', 0):,}", told, *counts, money(usage))
