"""`groupx turns`: list, show, cancel, advise."""

from __future__ import annotations

from typing import Any, Final

from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import room_id, short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect
from groupx_tui.cli.textinput import message_text

_DETAIL_WIDTH: Final = 200
_TIMES: Final = ("queuedAt", "startedAt", "terminalAt")
_DELIVERED: Final = {
    "taken": "The agent has it in that turn.",
    "queued": "The turn takes no further message: it is the agent's next one, {turn}.",
    "unknown": "The agent may have it in that turn, so it is not sent again.",
}
_SHOWN: Final = {
    "turn": "turnId",
    "room": "roomId",
    "agent": "targetActorId",
    "status": "status",
    "behind": "behindTurnId",
    "phase": "dispatchPhase",
    "delivery": "deliveryCertainty",
    "error": "errorCode",
    "because": "errorMessage",
    "message": "sourceEventId",
    "answer": "responseEventId",
    "queued": "queuedAt",
    "started": "startedAt",
    "ended": "terminalAt",
}


def run_list(call: Invocation) -> int:
    """Print a page of turns."""
    room = call.text("room")
    page = connect(call).turns(
        roomId=None if room is None else room_id(room),
        status=call.required("status"),
        limit=call.integer("limit"),
        before=call.integer("before"),
    )
    if call.flag("json"):
        output.json_line(page)
        return ExitCode.DONE
    print_table(page["turns"])
    if page.get("nextBefore"):
        diagnostics.say(f"Older ones: groupx turns list --before {page['nextBefore']}")
    return ExitCode.DONE


def run_show(call: Invocation) -> int:
    """Print one turn: facts, then its text."""
    turn = connect(call).turn(call.required("turn"))
    if call.flag("json"):
        output.json_line(turn)
        return ExitCode.DONE
    for label, key in _SHOWN.items():
        if (value := turn.get(key)) is not None:
            shown = clock_time(value) if key in _TIMES else safe_line(str(value), 1000)
            _fact(label, shown)
        if key == "status" and (said := detail(turn)) and "errorCode" not in turn:
            _fact("", said)
    if text := turn.get("content") or turn.get("partialText"):
        output.line()
        output.line(safe_text(str(text)).rstrip("\n"))
    return ExitCode.DONE


def run_cancel(call: Invocation) -> int:
    """Ask to cancel a turn; one that has ended already is left as it is."""
    reply = connect(call).cancel_turn(call.required("turn"))
    if call.flag("json"):
        output.json_line(reply)
    elif reply.get("accepted") and reply.get("status") == "cancelling":
        diagnostics.say(
            "The turn is cancelling: it waits for the agent to stop. If the agent does not, its "
            "program is ended."
        )
    elif reply.get("accepted"):
        diagnostics.say(f"The turn is {safe_line(str(reply['status']))}.")
    else:
        diagnostics.say(f"The turn had ended already: {safe_line(str(reply['status']))}.")
    return ExitCode.DONE


def run_advise(call: Invocation) -> int:
    """Say something to the agent of a turn, and what became of it."""
    text = message_text(call.text("text"))
    reply = connect(call).advise_turn(call.required("turn"), text)
    if call.flag("json"):
        output.json_line(reply)
        return ExitCode.DONE
    turn = safe_line(str(reply.get("nextTurnId")))
    diagnostics.say(_DELIVERED.get(str(reply["delivery"]), "").format(turn=turn))
    return ExitCode.DONE


def _fact(label: str, value: str) -> None:
    output.line(f"{output.styled(f'{label:9}', '2')} {value}")


def print_table(turns: list[dict[str, Any]]) -> None:
    """Write turns as a table."""
    output.table(
        ("TURN", "AGENT", "STATUS", "ROOM", "QUEUED", "DETAIL"),
        map(_row, turns),
        last=_DETAIL_WIDTH,
    )


def detail(turn: dict[str, Any]) -> str:
    """What a turn waits for, or why it ended as it did; empty when there is nothing to say."""
    agent = short(str(turn.get("targetActorId")))
    match turn.get("status"):
        case "queued" if turn.get("queuePosition"):
            return f"{turn['queuePosition']} before it, works on {turn.get('behindTurnId')}"
        case "queued":
            return "next"
        case "cancelling":
            return f"waits for {agent} to stop; if it does not, its program is ended"
        case "interrupted" | "failed" if turn.get("deliveryCertainty") == "unknown":
            return f"uncertain: {agent} may have got it; see turns retry and continue"
        case _:
            reason = safe_line(str(turn.get("errorMessage") or ""), _DETAIL_WIDTH)
            code = str(turn.get("errorCode") or "")
            return f"{code}: {reason}" if code and reason else code


def _row(turn: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(turn.get("turnId")),
        short(str(turn.get("targetActorId"))),
        str(turn.get("status")),
        str(turn.get("roomId")).removeprefix("room:"),
        clock_time(turn.get("queuedAt")),
        detail(turn),
    )
