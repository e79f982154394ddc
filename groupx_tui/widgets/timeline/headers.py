"""The wording of header lines: who, in what state, for how long; and of the lines after a block.

Pure: blocks and times in, words with roles out. A header is a tuple of `(text, role)`; role None
is plain text.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from groupx_tui.render.palette import Role
from groupx_tui.state.model import (
    Author,
    MessageBlock,
    NoticeBlock,
    ThreadBlock,
    ToolView,
    TurnBlock,
)
from groupx_tui.widgets.timeline import words
from groupx_tui.widgets.timeline.hints import is_uncertain
from groupx_tui.widgets.timeline.threads import Lineage

Words = tuple[tuple[str, Role | None], ...]

SEPARATOR: Final = (" · ", Role.DIM)
CUT: Final[Words] = (("… cut here; the whole text can be loaded", Role.DIM),)
MAX_NAMES: Final = 4
"""Names in the line of an exchange."""
MAX_DEPTH: Final = 6
"""Steps of indentation."""
FOLDED: Final = "▸"
UNFOLDED: Final = "▾"

MESSAGE_KINDS: Final = {"supervision.watch": "to watch", "supervision.advice": "advice"}
"""What a message is that is not meant as a plain one."""

LAST_HEARD: Final = "when it was last heard of"

_AUTHOR_ROLES: Final = {"user": Role.USER, "agent": Role.AGENT, "system": Role.SYSTEM}

_PHASES: Final[dict[str, tuple[str, Role]]] = {
    "queued": ("queued", Role.STATE_WAITING),
    "dispatching": ("sent", Role.STATE_WORKING),
    "running": ("working", Role.STATE_WORKING),
    "cancelling": ("stopping", Role.STATE_WAITING),
    "completed": ("answered", Role.STATE_DONE),
    "failed": ("failed", Role.STATE_FAILED),
    "cancelled": ("cancelled", Role.STATE_WAITING),
    "interrupted": ("interrupted", Role.STATE_UNCERTAIN),
}

_TOOL_STATES: Final[dict[str, tuple[str, str, Role]]] = {
    "completed": ("✓", "done", Role.STATE_DONE),
    "failed": ("✗", "failed", Role.STATE_FAILED),
    "cancelled": ("✗", "cancelled", Role.STATE_WAITING),
    "in_progress": ("⚙", "running", Role.STATE_WORKING),
    "pending": ("⚙", "waiting", Role.STATE_WAITING),
}

_NOTICE_ROLES: Final = {"info": Role.DIM, "warning": Role.WARNING, "error": Role.ERROR}
_NOTICE_MARKS: Final = {"info": "·", "warning": "!", "error": "✗"}

_NORMAL_STOPS: Final = frozenset({"end_turn", "stop", "completed", ""})


def _name(author: Author) -> tuple[str, Role | None]:
    return author.name, _AUTHOR_ROLES[author.kind]


def message_header(
    block: MessageBlock,
    tz: tzinfo | None,
    about: str | None = None,
    *,
    ago: datetime | None = None,
) -> Words:
    """Return `You · 14:03 → codex` with what became of it while it is on its way; `about` quotes
    the message that it replies to."""
    parts: list[tuple[str, Role | None]] = [_name(block.author)]
    if block.refusal is not None:
        parts += [SEPARATOR, ("not sent", Role.STATE_FAILED)]
    elif block.is_pending:
        parts += [SEPARATOR, ("sending", Role.STATE_WAITING)]
    else:
        parts += [SEPARATOR, (words.when(block.at, tz, ago), Role.DIM)]
    if block.to:
        parts.append((f" → {', '.join(block.to)}", Role.DIM))
    if block.forwarded:
        parts += [SEPARATOR, (f"passes on what {block.forwarded} wrote", Role.AGENT)]
    if block.kind in MESSAGE_KINDS:
        parts += [SEPARATOR, (MESSAGE_KINDS[block.kind], Role.AGENT)]
    return (*parts, *_about(about))


def _about(quote: str | None) -> Words:
    return () if quote is None else (SEPARATOR, (f"re {quote}", Role.DIM))


def turn_header(
    block: TurnBlock,
    tz: tzinfo | None,
    now: datetime | None,
    *,
    behind: str | None = None,
    about: str | None = None,
    ago: datetime | None = None,
    is_live: bool = True,
) -> Words:
    """Return the agent, its state and the time: how long it works, or worked, and when.

    `now` lets open turns show how long they have been at it; `behind` quotes what a queued turn
    waits for, `about` the message that it answers; without a connection (`is_live`) an open turn is
    told as it was last heard of.
    """
    word, role = _PHASES[block.phase]
    if block.phase == "running" and block.silent_s is not None:
        word, role = "waiting for the model", Role.STATE_WAITING
    elif block.phase == "interrupted" and is_uncertain(block):
        word = "uncertain"
    parts: list[tuple[str, Role | None]] = [_name(block.author), SEPARATOR, (word, role)]
    is_cut = block.is_open and not is_live
    for detail in [LAST_HEARD] if is_cut else _turn_details(block, now, behind):
        parts += [SEPARATOR, (detail, Role.DIM)]
    if not block.is_open:
        parts += [SEPARATOR, (words.when(block.ended_at or block.queued_at, tz, ago), Role.DIM)]
    return (*parts, *_about(about))


def _turn_details(block: TurnBlock, now: datetime | None, behind: str | None) -> list[str]:
    if block.phase == "queued":
        if not block.queue_position:
            return []
        before = block.queue_position  # the turn that the agent works on is one of them
        place = "next" if before == 1 else f"{words.ordinal(before)} in line"
        if block.behind_room_id is not None:
            behind = f"work in the room {block.behind_room_id.removeprefix('room:')}"
        return [f"{place} behind {behind}" if behind else place]
    if not block.is_open:
        if block.duration_ms is not None:
            return [words.duration(block.duration_ms / 1000)]
        took = words.between(block.started_at or block.queued_at, block.ended_at)
        return [] if took is None else [words.duration(took)]
    if block.silent_s is not None and block.phase != "cancelling":
        told = words.parse_time(block.silent_at or "")
        more = 0.0 if now is None or told is None else (now - told).total_seconds()
        return [words.whole_seconds(block.silent_s + max(0.0, more))]
    since = words.parse_time(block.cancelling_at or block.started_at or block.queued_at)
    if now is None or since is None:
        return []
    return [words.whole_seconds((now - since).total_seconds())]


def reasoning_header(block: TurnBlock, *, is_open: bool) -> Words:
    """Return `▸ reasoning · 1,240 characters · 3.2 s`."""
    text = f"reasoning · {len(block.reasoning):,} chars"
    if block.reasoning_ms is not None:
        text += f" · {words.duration(block.reasoning_ms / 1000)}"
    return ((f"{UNFOLDED if is_open else FOLDED} {text}", Role.FOLD),)


def plan_header(block: TurnBlock, *, is_open: bool) -> Words:
    """Return `▸ plan · 2 of 5 done · what is being done`; nothing is being done any more once the
    turn has ended."""
    done = sum(entry.get("status") == "completed" for entry in block.plan)
    begun = (entry for entry in block.plan if entry.get("status") == "in_progress")
    current = next(begun, {}).get("content", "") if block.is_open else ""
    text = f"{UNFOLDED if is_open else FOLDED} plan · {done} of {len(block.plan)} done"
    return ((f"{text} · {current}" if current else text, Role.FOLD),)


def tool_header(tool: ToolView, *, is_open: bool) -> Words:
    """Return `▸ ✓ title · kind · done · 0.4 s`."""
    status = tool.status
    if tool.has_ended and status in ("in_progress", "pending"):
        status = "completed"
    mark, word, role = _TOOL_STATES.get(status, ("⚙", status, Role.STATE_WAITING))
    title = tool.title or tool.call_id
    parts: list[tuple[str, Role | None]] = [
        (f"{UNFOLDED if is_open else FOLDED} ", Role.FOLD),
        (mark, role),
        (f" {title}", Role.FOLD),
    ]
    if tool.kind and tool.kind != "other":
        parts += [SEPARATOR, (tool.kind, Role.DIM)]
    parts += [SEPARATOR, (word, role if role is Role.STATE_FAILED else Role.DIM)]
    if tool.duration_ms is not None:
        parts += [SEPARATOR, (words.duration(tool.duration_ms / 1000), Role.DIM)]
    return tuple(parts)


def thread_header(block: ThreadBlock, tz: tzinfo | None, ago: datetime | None = None) -> Words:
    """Return `▸ Codex asked Claude, Kimi · 1 of 2 answered · Kimi works · 14:03`."""
    mark = UNFOLDED if block.is_open else FOLDED
    parts: list[tuple[str, Role | None]] = [(f"{mark} {_exchange(block)}", Role.FOLD)]
    if block.answered:
        parts += [SEPARATOR, _answered(block)]
    if block.failed:
        parts += [SEPARATOR, (f"{block.failed} unanswered", Role.STATE_FAILED)]
    if block.working:
        verb = "works" if len(block.working) == 1 else "work"
        parts += [SEPARATOR, (f"{_listed(block.working)} {verb}", Role.STATE_WORKING)]
    if block.waiting:
        parts += [SEPARATOR, (f"{block.waiting} waiting", Role.STATE_WAITING)]
    took = None if block.until is None else words.between(block.at, block.until)
    if took is not None:
        parts += [SEPARATOR, (words.duration(took), Role.DIM)]
    return (*parts, SEPARATOR, (words.when(block.at, tz, ago), Role.DIM))


def _exchange(block: ThreadBlock) -> str:
    """Who asked whom; when several asked, who talked."""
    if len(block.callers) == 1:
        return f"{block.callers[0]} asked {_listed(block.called)}"
    everybody = tuple(dict.fromkeys((*block.callers, *block.called)))
    return f"{_listed(everybody)} talked"


def _answered(block: ThreadBlock) -> tuple[str, Role | None]:
    role = Role.STATE_DONE if block.answered == block.turns else Role.DIM
    if block.answered == block.turns == 1:
        return "answered", role
    return f"{block.answered} of {block.turns} answered", role


def _listed(names: tuple[str, ...]) -> str:
    """`a`, `a and b`, `a, b and 3 more`."""
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[: MAX_NAMES - 1])} and {len(names) - MAX_NAMES + 1} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def lineage_mark(lineage: Lineage | None) -> Words:
    """Return how deep a block of an open exchange stands."""
    if lineage is None:
        return ()
    return ((f"{'  ' * min(lineage.depth - 1, MAX_DEPTH)}↳ ", Role.FOLD),)


def caller_words(lineage: Lineage | None) -> Words:
    """Return who called a turn of an open exchange."""
    return ((f" → {lineage.caller}", Role.DIM),) if lineage is not None and lineage.caller else ()


def hint_line(hint: str) -> tuple[Words, ...]:
    """Return what can be done, as the line after a block."""
    return (((hint, Role.HINT),),) if hint else ()


def turn_footer(block: TurnBlock, hint: str = "") -> tuple[Words, ...]:
    """Return the lines after a turn's text: why it ended, what is uncertain, that it was cut, and
    as a `hint` what can be done about it."""
    lines: list[Words] = []
    if not block.is_open and block.phase != "completed" and len(block.text):
        lines.append((("… the answer ends here; it is not complete", Role.DIM),))
    if block.is_cut:
        lines.append(CUT)
    if block.phase == "completed" and (block.stop_reason or "") not in _NORMAL_STOPS:
        reason = (block.stop_reason or "").replace("_", " ")
        lines.append(((f"! stopped: {reason}", Role.WARNING),))
    if block.phase == "cancelling":
        text = f"waits for {block.author.name} to stop; if it does not, its program is ended"
        lines.append(((text, Role.DIM),))
    lines += _failure(block)
    if hint:
        lines.append(((hint, Role.HINT),))
    return tuple(lines)


def _failure(block: TurnBlock) -> list[Words]:
    lines: list[Words] = []
    if block.phase in ("failed", "interrupted") and (block.error_message or block.error_code):
        text = block.error_message or ""
        code = f" ({block.error_code})" if block.error_code and text else block.error_code or ""
        lines.append(((f"✗ {text}{code}", Role.ERROR),))
    if block.is_open or block.phase == "completed":
        return lines
    if block.certainty == "unknown":
        lines.append((("? uncertain: it may have arrived", Role.STATE_UNCERTAIN),))
    elif block.phase == "interrupted" and block.certainty == "not_delivered":
        lines.append((("it did not arrive", Role.DIM),))
    elif block.phase == "interrupted":
        text = "? uncertain: it arrived, and how far the agent came is not known"
        lines.append(((text, Role.STATE_UNCERTAIN),))
    return lines


def message_footer(block: MessageBlock) -> tuple[Words, ...]:
    """Return that a message was cut, and why it was refused."""
    lines = [CUT] if block.is_cut else []
    if block.refusal is not None:
        lines.append(((f"✗ {block.refusal}", Role.ERROR),))
    return tuple(lines)


def notice_words(block: NoticeBlock, tz: tzinfo | None, ago: datetime | None = None) -> Words:
    """Return a notice as its one line."""
    role = _NOTICE_ROLES[block.tone]
    mark = _NOTICE_MARKS[block.tone]
    return ((f"{mark} {block.text}", role), SEPARATOR, (words.when(block.at, tz, ago), Role.DIM))
