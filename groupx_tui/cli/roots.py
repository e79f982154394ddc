"""`groupx roots`: what one message led to, as a whole: list, show as a tree, continue, cancel."""

from __future__ import annotations

from typing import Any, Final

from groupx_shared.english import counted
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api, room_id, short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect
from groupx_tui.cli.usage import money, tokens

Json = dict[str, Any]
DEEPEST: Final = 40
"""Levels that are indented; deeper ones stand at the same place."""


def run_list(call: Invocation) -> int:
    """Print a page of roots."""
    room = call.text("room")
    page = connect(call).roots(
        roomId=None if room is None else room_id(room),
        status=call.required("status"),
        limit=call.integer("limit"),
        before=call.integer("before"),
    )
    if call.flag("json"):
        output.json_line(page)
        return ExitCode.DONE
    headings = ("ROOT", "STATUS", "TURNS", "ROOM", "AT", "AGENTS", "MESSAGE")
    output.table(headings, map(_row, page["roots"]))
    if page.get("nextBefore"):
        diagnostics.say(f"Older ones: groupx roots list --before {page['nextBefore']}")
    return ExitCode.DONE


def run_show(call: Invocation) -> int:
    """Print one root as a tree of turns."""
    api = connect(call)
    reply = api.root(root_of(api, call.required("root")))
    if call.flag("json"):
        output.json_line(reply)
        return ExitCode.DONE
    root = reply["root"]
    at = clock_time(root["occurredAt"])
    output.line(f"{safe_line(root['correlationId'], 80)} · {at} · {_status(root)}")
    output.line(f"{output.styled(safe_line(root['actorName'], 64), '1')}: {_said(root)}")
    for line in tree(reply["turns"]):
        output.line(line)
    usage = reply["usage"]
    if usage.get("reportedTurns"):
        output.line(f"cost: {tokens(usage)} {money(usage)}".rstrip())
    if root.get("stops"):
        diagnostics.say(
            f"Stopped by {', '.join(root['stops'])}. Let it go on: groupx roots continue "
            f"{root['correlationId']}"
        )
    return ExitCode.DONE


def run_continue(call: Invocation) -> int:
    """Let a stopped root go on."""
    api = connect(call)
    reply = api.change_root(root_of(api, call.required("root")), "continue")
    if call.flag("json"):
        output.json_line(reply)
    else:
        diagnostics.say(f"It goes on; {len(reply.get('messages', ()))} held messages were sent.")
    return ExitCode.DONE


def run_cancel(call: Invocation) -> int:
    """Cancel all of a root."""
    api = connect(call)
    reply = api.change_root(root_of(api, call.required("root")), "cancel")
    if call.flag("json"):
        output.json_line(reply)
    elif turns := reply.get("turns"):
        diagnostics.say(f"Cancelled, or being cancelled: {counted(len(turns), 'open turn')}.")
    else:
        diagnostics.say("No turn of it was open.")
    return ExitCode.DONE


def root_of(api: Api, name: str) -> str:
    """The correlation id that a root, an event or a turn belongs to."""
    if name.startswith("turn_"):
        return str(api.turn(name)["correlationId"])
    if name.startswith("evt_"):
        return str(api.event(name)["correlationId"])
    return name


def tree(turns: list[Json]) -> list[str]:
    """One line for each turn, below the turn whose agent called it."""
    known = {turn["turnId"] for turn in turns}
    below: dict[str | None, list[Json]] = {}
    for turn in turns:
        parent = turn.get("parentTurnId")
        below.setdefault(parent if parent in known else None, []).append(turn)
    lines: list[str] = []
    waiting = [(turn, 0) for turn in reversed(below.get(None, []))]
    while waiting:
        turn, depth = waiting.pop()
        lines.append("  " * min(depth, DEEPEST) + _turn(turn))
        waiting += [(child, depth + 1) for child in reversed(below.get(turn["turnId"], []))]
    return lines


def _turn(turn: Json) -> str:
    ending = f" ({safe_line(str(turn['errorCode']), 64)})" if turn.get("errorCode") else ""
    cost = f" · {tokens(turn['usage'])}" if turn.get("usage") else ""
    turn_id = output.styled(safe_line(str(turn["turnId"]), 80), "2")
    return f"└ {short(turn['targetActorId'])}: {turn['status']}{ending}{cost} · {turn_id}"


def _row(root: Json) -> tuple[str, ...]:
    count = str(root["turns"])
    if root.get("openTurns"):
        count = f"{root['openTurns']} of {count} open"
    return (
        str(root["correlationId"]),
        _status(root),
        count,
        str(root["roomId"]).removeprefix("room:"),
        clock_time(root["occurredAt"]),
        ", ".join(short(agent) for agent in root["agents"]),
        f"{root['actorName']}: {_said(root)}",
    )


def _status(root: Json) -> str:
    stops = root.get("stops") or ()
    return f"stopped: {', '.join(stops)}" if root["status"] == "stopped" else str(root["status"])


def _said(root: Json) -> str:
    return safe_line(str(root["excerpt"]), 160)
