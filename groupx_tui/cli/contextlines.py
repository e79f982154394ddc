"""What `groupx context` prints: pure, at most 80 columns wide, honest words: characters, no tokens.

Counterpart: `context`, which asks the server.
"""

from __future__ import annotations

from typing import Final

from groupx_shared.english import counted
from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli.api import Json, short
from groupx_tui.cli.eventlines import clock_time

GAUGE: Final = 50
"""Columns of the bar that shows the whole budget."""
BAR: Final = 12
"""Columns of a section's bar."""
NAMED: Final = 5
"""Of what is left out of a section; `--json` names more."""
SUMMED, TALK, FREE, TRIGGER = "█", "▓", "░", "│"


def usage_lines(usage: Json) -> list[str]:
    """How full a packet of the whole room would be, what fills it, what happens when it is full."""
    limit, trigger = usage["maxCharacters"], usage["compactionTriggerCharacters"]
    estimate, summary = usage["estimatedCharacters"], usage.get("summaryCharacters") or 0
    share = 100 * estimate / max(1, limit)
    lines = [
        f"About {estimate:,} of {limit:,} characters ({share:.3g} %) if everything were told",
        gauge(summary, max(0, estimate - summary), limit, trigger),
        (
            f"{SUMMED} summary {summary:,}  {TALK} messages {max(0, estimate - summary):,}  "
            f"{FREE} free  {TRIGGER} summed up from {trigger:,} on"
        ),
        f"Told word for word: {counted(usage['uncompactedMessageCount'], 'message')}",
        _room_left(trigger - estimate),
    ]
    if usage.get("summaryThroughSeq"):
        lines.append(
            f"A summary of {summary:,} characters tells what is up to "
            f"#{usage['summaryThroughSeq']} (groupx context summary)"
        )
    if usage.get("resetThroughSeq"):
        lines.append(f"Nothing up to #{usage['resetThroughSeq']} is told any more")
    if compaction := usage.get("compaction"):
        lines.append(compaction_line(compaction))
    return lines


def _room_left(characters: int) -> str:
    if characters <= 0:
        return "Older ones are summed up before the next turn that is not told all of it"
    return f"{characters:,} more characters fit before older ones are summed up"


def gauge(summary: int, talk: int, limit: int, trigger: int) -> str:
    """The budget as a bar: summary, messages, what is free, and where summing up begins."""
    first = min(GAUGE, _cells(summary, limit))
    second = min(GAUGE - first, _cells(talk, limit))
    cells = [SUMMED] * first + [TALK] * second + [FREE] * (GAUGE - first - second)
    cells.insert(round(GAUGE * trigger / max(1, limit)), TRIGGER)
    return "".join(cells)


def _cells(part: int, limit: int) -> int:
    return max(int(part > 0), round(GAUGE * part / max(1, limit)))


def compaction_line(compaction: Json) -> str:
    """How a compaction stands, in a sentence."""
    phase = str(compaction["phase"])
    messages = counted(compaction.get("messageCount", 0), "message")
    if phase == "completed":
        who = short(str(compaction.get("generatorActorId", "")))
        size = compaction.get("summaryCharacters") or 0
        source = compaction.get("sourceCharacters") or 0
        of = f" of {source:,} characters" if source else ""
        return f"Summed up: {messages}{of} in {size:,} characters, by {who}"
    if phase == "failed":
        return safe_line(f"Not summed up: {compaction.get('errorMessage', '')}", 1_000)
    if phase == "interrupted":
        return safe_line(f"Summing up was interrupted. {compaction.get('errorMessage', '')}", 1_000)
    parts = compaction.get("parts", 1)
    part = f", part {compaction.get('part', 1)} of {parts}" if parts > 1 else ""
    again = f", try {compaction['attempt']}" if phase == "retrying" else ""
    return f"Summing up {messages}{part}: {_doing(compaction)}{again}"


def _doing(compaction: Json) -> str:
    if compaction.get("step") == "days":
        return "agents write down their days first"
    who = compaction.get("generatorActorId")
    return f"{short(str(who))} writes" if who else "it begins"


def summary_lines(summary: Json) -> list[str]:
    """The summary with its range, author, date and sizes; one line while there is none."""
    if not summary["exists"]:
        return ["Nothing is summed up: agents are told the messages as they are."]
    size, source = summary["characters"], summary["messageCharacters"]
    share = f" ({size / source:.1%})" if source else ""
    author, number = str(summary["authorActorId"]), str(summary["summaryId"])
    return [
        (
            f"#{summary['fromSeq']} to #{summary['throughSeq']}: "
            f"{counted(summary['messageCount'], 'message')}, {source:,} characters, told in "
            f"{size:,}{share}"
        ),
        (
            f"by {safe_line(short(author), 60)} · {clock_time(str(summary['createdAt']))} · "
            f"{safe_line(number, 60)}"
        ),
        "",
        *safe_text(str(summary["content"])).rstrip("\n").split("\n"),
    ]


def preview_head(preview: Json) -> list[str]:
    """Whose packet it is, how large, and how much is free for what may be left out."""
    whole, limit, soft = preview["characters"], preview["maxCharacters"], preview["softCharacters"]
    who = safe_line(short(str(preview["actorId"])), 40)
    told = "is told the past" if preview["session"] == "new" else "is told what is new"
    share = f"{whole / max(1, limit):.1%}"
    return [
        f"{who}, {preview['session']} session ({told}): {whole:,} of {limit:,} ({share})",
        gauge(0, whole, limit, soft),
        f"{TALK} this packet  {FREE} free  {TRIGGER} what is optional stays below {soft:,}",
    ]


def preview_rows(preview: Json) -> list[str]:
    """A heading, and a row for each section, in the order of the packet."""
    whole = max(1, preview["characters"])
    rows = [f"{'section':<25} {'characters':>10}  {'share':<18}{'in':>5} {'left out':>9}"]
    for section in preview["sections"]:
        share = f"{section['characters'] / whole:>4.0%} {bar(section['characters'], whole)}"
        omitted = f"{section['omitted']:,}" if section["omitted"] else ""
        always = "  always" if section["mandatory"] else ""
        row = (
            f"{safe_line(str(section['name']), 25):<25} {section['characters']:>10,}  {share:<18}"
            f"{section['included']:>5,} {omitted:>9}{always}"
        )
        rows.append(row.rstrip())
    return rows


def left_out_lines(preview: Json) -> list[str]:
    """What does not fit, by section, and why."""
    soft = preview["softCharacters"]
    lines = []
    for section in preview["sections"]:
        name = safe_line(str(section["name"]), 60)
        named = list(section.get("leftOut", ()))[:NAMED]
        lines += [
            f"left out of {name}: {safe_line(str(left['id']), 80)}, {left['characters']:,}"
            for left in named
        ]
        if (more := section["omitted"] - len(named)) > 0:
            lines.append(f"left out of {name}: {more:,} more")
    if lines:
        lines.append(f"They do not fit: what is optional may fill the packet to {soft:,} only.")
    return lines


def bar(part: int, whole: int) -> str:
    """A share as a bar."""
    return "█" * max(1, round(BAR * part / max(1, whole)))
