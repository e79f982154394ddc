"""Memory and identity records as lines of text; the counterpart is the wire's `MemoryRecord`."""

from __future__ import annotations

from typing import Any

from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Json, short
from groupx_tui.cli.eventlines import clock_time
from groupx_tui.cli.options import Invocation


def print_page(call: Invocation, page: Json) -> None:
    """A page of records, or its JSON; how to get older ones goes to stderr."""
    if call.flag("json"):
        output.json_line(page)
        return
    for record in page["items"]:
        print_record(record)
    if not page["items"]:
        diagnostics.say("There is none.")
    if page.get("nextCursor"):
        diagnostics.say(f"There are older ones: --cursor {safe_line(str(page['nextCursor']), 300)}")


def print_whole(call: Invocation, reply: Json, key: str) -> None:
    """One record with all that is known of it, or the reply as JSON."""
    if call.flag("json"):
        output.json_line(reply)
        return
    record = reply[key]
    print_record(record)
    for name, label in _FACTS.items():
        if (value := record.get(name)) is not None:
            output.line(output.styled(f"  {label}: {safe_line(str(value), 200)}", "2"))


def told(call: Invocation, reply: Json, key: str) -> None:
    """What a command changed: the record's id, or the reply as JSON."""
    if call.flag("json"):
        output.json_line(reply)
    else:
        output.line(safe_line(str(record_id(reply[key])), 80))


def print_record(record: dict[str, Any]) -> None:
    """Its head in one line, and its text below."""
    marks = [str(record["kind"]), short(str(record["authorActorId"]))]
    if (subject := record.get("subjectActorId")) and subject != record["authorActorId"]:
        marks.append(f"about {short(str(subject))}")
    if record.get("pinnedAt"):
        marks.append("pinned")
    if record["status"] != "active":
        marks.append(str(record["status"]))
    if record.get("agentMemoryType"):
        marks.append(str(record["agentMemoryType"]))
    head = " · ".join([clock_time(record["createdAt"]), *(safe_line(mark, 90) for mark in marks)])
    number = safe_line(str(record_id(record)), 80)
    output.line(f"{head} · {output.styled(number, '2')}")
    for line in safe_text(str(record["content"])).rstrip("\n").split("\n"):
        output.line(f"  {line}".rstrip())


def record_id(record: Json) -> object:
    """Of either kind."""
    return record.get("memoryId") or record["identityId"]


_FACTS = {
    "scope": "scope",
    "sourceEventId": "source event",
    "sourceKind": "came by",
    "supersedesMemoryId": "corrects",
    "supersedesIdentityId": "corrects",
    "createdAt": "since",
    "pinnedAt": "pinned since",
    "retractedAt": "retracted",
}
