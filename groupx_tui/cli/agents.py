"""`groupx agents`: list, test, restart. What changes the config is in `roster`."""

from __future__ import annotations

from typing import Any, Final

from groupx_shared.agentstatus import status_text
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect, workspace_of

MAX_STDERR_LINES: Final = 8
"""Of a failed start; `--json` has more."""


def run_list(call: Invocation) -> int:
    """Print the agents with their state, or the known programs of this machine."""
    if call.flag("available"):
        return _list_available(call)
    cards = connect(call).agents()
    if call.flag("json"):
        output.json_line({"agents": cards})
    else:
        print_table(cards)
    return ExitCode.DONE


def run_test(call: Invocation) -> int:
    """Start one agent and say how it went; exit code 3 when it cannot be used."""
    from groupx_tui.cli import trials

    report = trials.try_agent(workspace_of(call), call.required("agent"))
    return print_report(call, report)


def print_report(call: Invocation, report: dict[str, Any]) -> int:
    """Write a report as a line or as JSON; return the exit code that it means."""
    from groupx_tui.cli.reportlines import line_of

    if call.flag("json"):
        output.json_line({"report": report})
    else:
        output.line(safe_line(f"{report['agent']}: {line_of(report)}", 2000))
        for stderr_line in str(report.get("stderr") or "").splitlines()[-MAX_STDERR_LINES:]:
            diagnostics.say(f"  {safe_line(stderr_line, 300)}")
    return ExitCode.DONE if report["state"] in ("ready", "found") else ExitCode.NO_SERVER


def _list_available(call: Invocation) -> int:
    from groupx_tui.cli import trials  # starts a process: not for the commands that do not

    reports = trials.survey(workspace_of(call), start=False)
    if call.flag("json"):
        output.json_line({"available": reports})
        return ExitCode.DONE
    known = [report for report in reports if "install" in report or not report["configured"]]
    headings = ("AGENT", "PROGRAM", "VERSION", "HERE", "ADD OR INSTALL")
    output.table(headings, map(_available_row, known), last=200)
    return ExitCode.DONE


def _available_row(report: dict[str, Any]) -> tuple[str, ...]:
    is_here = report["state"] != "absent"
    if report["configured"]:
        todo = "in the config" if is_here else str(report.get("advice") or "")
    elif is_here:
        todo = str(report.get("problem") or f"groupx agents add {report['agent']}")
    else:
        todo = str(report.get("install") or "as its makers say")
    mark = "" if not report.get("unverified") else " (unverified)"
    return (
        str(report["agent"]),
        f"{report['name']}{mark}",
        str(report.get("version") or ""),
        "yes" if is_here else "no",
        todo,
    )


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
