"""`groupx search`: what was said and remembered, the best first."""

from __future__ import annotations

from typing import Any

from groupx_shared.errors import RefusedError
from groupx_shared.text import safe_line
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api, room_id, short
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect

MARKED = "1;33"


def run(call: Invocation) -> int:
    """Print what a query finds, or have the index built anew."""
    if call.flag("rebuild"):
        return _rebuild(call, connect(call))
    if call.text("query") is None:
        raise RefusedError("Say what to look for: groupx search QUERY")
    kind = call.required("kind")
    names = ("type", "root", "since", "until", "cursor")
    more = {name: call.text(name) for name in names}
    return _find(call, None if kind == "all" else kind, more)


def run_memory(call: Invocation) -> int:
    """Print the memory records that a query finds."""
    return _find(call, "memory", {})


def _find(call: Invocation, kind: str | None, more: dict[str, str | None]) -> int:
    room, actor = call.text("room"), call.text("actor")
    page = connect(call).search(
        q=call.required("query"),
        roomId=None if room is None else room_id(room),
        kind=kind,
        actorId=None if actor is None else _actor_id(actor),
        **more,
        limit=call.integer("limit"),
    )
    if call.flag("json"):
        output.json_line(page)
        return ExitCode.DONE
    for hit in page["hits"]:
        _print(hit)
    _tell(page)
    return ExitCode.DONE


def _rebuild(call: Invocation, api: Api) -> int:
    reply = api.rebuild_search()
    if call.flag("json"):
        output.json_line(reply)
    else:
        diagnostics.say(f"The index is built anew: {reply['behind']} events and records to go.")
    return ExitCode.DONE


def _actor_id(name: str) -> str:
    """`codex`, `@codex` -> `agent:codex`; an actor id is returned unchanged."""
    return name if ":" in name else f"agent:{name.removeprefix('@')}"


def _print(hit: dict[str, Any]) -> None:
    place = [clock_time(hit["occurredAt"]), short(str(hit["actorId"]))]
    if hit.get("roomId"):
        place.append(safe_line(str(hit["roomId"]).removeprefix("room:"), 80))
    place.append(f"#{hit['seq']}" if hit.get("seq") else safe_line(str(hit["kind"]), 20))
    place.append(safe_line(str(hit["id"]), 80))
    output.line(output.styled("  ".join(place), "2"))
    output.line(f"  {_marked(str(hit['snippet']), hit.get('marks') or [])}")


def _marked(snippet: str, marks: list[list[int]]) -> str:
    """The snippet with what was found in colour, where colours are wanted."""
    text, at = "", 0
    for start, end in marks:
        text += _clean(snippet[at:start]) + output.styled(_clean(snippet[start:end]), MARKED)
        at = end
    return text + _clean(snippet[at:])


def _clean(part: str) -> str:
    """Harmless; unlike a whole line, a part keeps the spaces at its ends."""
    return "".join(" " if each.isspace() else safe_line(each, 8) for each in part)


def _tell(page: dict[str, Any]) -> None:
    if not page["hits"]:
        diagnostics.say("Nothing found.")
    if page.get("capped"):
        diagnostics.say("This is too wide to look at everything; more words or a room narrow it.")
    elif page.get("nextCursor"):
        diagnostics.say(f"There is more: --cursor {safe_line(str(page['nextCursor']), 2_000)}")
    if page.get("meaning") == "incomplete":
        diagnostics.say("By words alone: few texts have vectors of what they mean yet.")
    if page.get("meaning") == "failing":
        problem = safe_line(str(page.get("meaningProblem")), 300)
        diagnostics.say(f"By words alone: {problem}.")
    if page.get("behind"):
        diagnostics.say(f"The index is being built: {page['behind']} events and records to go.")
