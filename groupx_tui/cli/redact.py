"""`groupx redact`: a text is removed for good, and what was reached is told."""

from __future__ import annotations

from functools import partial

from groupx_shared.errors import GroupXError
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api, Json
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.purging import Purging
from groupx_tui.cli.session import connect
from groupx_tui.client.history import HistoryStore

CLEAN = "No byte of it is left in the database, its journal and the backups."
UNSEEN = (
    "The files are purged. What it said is not known any more, so they were not searched for it."
)
_KINDS = {"mem_": "memory", "identity_": "identity", "side_": "assistant/messages"}


def run(call: Invocation) -> int:
    """Remove a text and say what went with it, and what could not be reached."""
    ref = call.required("ref")
    kind = next((kind for start, kind in _KINDS.items() if ref.startswith(start)), "events")
    api, purge = connect(call), call.flag("purge")
    said = _said(api, ref)
    redact = partial(api.redact, kind, ref, purge=purge, copies=call.flag("copies"))
    if purge:
        reply = Purging(redact, partial(api.purge, ref), is_plain=call.flag("plain")).wait()
    else:
        reply = redact()
    if said:
        HistoryStore(api.workspace).forget(said)
    if call.flag("json"):
        output.json_line(reply)
    else:
        for line in removed_lines(reply):
            output.line(safe_line(line, 300))
        for line in left_lines(reply):
            diagnostics.say(safe_line(line, 500))
    return ExitCode.REFUSED if reply["leftIn"] else ExitCode.DONE


def _said(api: Api, ref: str) -> str:
    """What a message says, to take it out of what the window offers to be sent again."""
    if not ref.startswith("evt_"):
        return ""
    try:
        body = api.event(ref).get("body") or {}
    except GroupXError:
        return ""  # removing it says what is wrong
    return "" if body.get("redacted") else str(body.get("content") or "")


def removed_lines(reply: Json) -> list[str]:
    """What is gone."""
    lines = [f"removed: {ref}" for ref in (*reply["eventIds"], *reply["recordIds"])]
    lines += [f"quotes of it cut out of: {ref}" for ref in reply.get("quoteEventIds", ())]
    if number := reply.get("sideMessages"):
        lines.append(f"cut out of the conversation with the room assistant: {number} texts")
    if reply["summaries"]:
        lines.append(f"summaries thrown away: {reply['summaries']}")
    if reply["days"]:
        lines.append(f"days that agents write down anew: {reply['days']}")
    lines += [f"backup removed: {name}" for name in reply["removedBackups"]]
    if reply["purged"] and not reply["leftIn"]:
        lines.append(CLEAN if reply.get("checked") else UNSEEN)
    return lines


def left_lines(reply: Json) -> list[str]:
    """What is not."""
    lines = [f"It still stands in the file {name}." for name in reply["leftIn"]]
    if elsewhere := reply["elsewhere"]:
        names = ", ".join(map(str, elsewhere[:5]))
        how = "“groupx redact ID” removes each (with --copies they had gone at once)"
        lines.append(f"{len(elsewhere)} others have the text too ({names}): {how}.")
    if not reply["purged"]:
        lines.append("Its bytes are still in the database file; --purge gets them out.")
    return lines + [str(line) for line in reply["beyond"]]
