"""`/agents`, `/rooms`, `/memory`, `/status` and `/setup`: what there is, as the server tells it."""

from __future__ import annotations

from typing import Any, Final

from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.guide.advice import HOW_TO_ADD, setup_text
from groupx_server.builtin_agent.guide.desk import Desk
from groupx_server.builtin_agent.guide.records import RecordedRoom
from groupx_server.builtin_agent.quoting import plain, quote
from groupx_server.builtin_agent.room_api import RoomDataError
from groupx_shared.english import counted
from groupx_shared.text import clip_text, safe_line, safe_text
from groupx_shared.version import VERSION

MAX_LISTED: Final = 50
MEMORY_CHARS: Final = 400
NO_MEMORY: Final = (
    "This server offers no memory yet. What was said is all in the room: `/find WORDS` finds it.\n"
)


async def agents(desk: Desk, room: RecordedRoom, _argument: str) -> None:
    """Run `/agents`. Raises: RoomDataError."""
    cards = await room.agents()
    lines = [_agent(card, is_me=card.get("actorId") == desk.actor_id) for card in cards]
    listed = _bounded(lines) or "There are no agents."
    await desk.sink.say(f"{listed}\n\n{HOW_TO_ADD}\n")


async def rooms(desk: Desk, room: RecordedRoom, _argument: str) -> None:
    """Run `/rooms`. Raises: RoomDataError."""
    lines = [_room(info, room.room_id) for info in await room.rooms()]
    listed = _bounded(lines) or "There are no rooms."
    await desk.sink.say(f"{listed}\n\n`groupx rooms create NAME` makes another one.\n")


async def memory(desk: Desk, room: RecordedRoom, _argument: str) -> None:
    """Run `/memory`; a server without memory is said to be one. Raises: RoomDataError."""
    try:
        records = await room.memory()
    except RoomDataError as error:
        if not error.is_missing:
            raise
        await desk.sink.say(NO_MEMORY)
        return
    entries = [
        f"- {safe_line(str(record.get('kind')), 40)}, by {safe_line(str(author), 80)}:\n"
        + quote(clip_text(safe_text(str(record.get("content"))), MEMORY_CHARS))
        for record in records
        if (author := record.get("authorActorId"))
    ]
    await desk.sink.say((_bounded(entries) or "Nothing is remembered for this room yet.") + "\n")


async def status(desk: Desk) -> None:
    """Run `/status`."""
    kept = f"{desk.history.chars:,} of at most {desk.history.max_chars:,} characters"
    lines = [
        f"- I am the built-in agent of GroupX {VERSION}"
        + (f", here as `{safe_line(desk.actor_id, 80)}`" if desk.actor_id else ""),
        f"- Room: {f'`{safe_line(desk.room_id, 80)}`' if desk.room_id else 'none'}",
        f"- Server: {await _server(desk)}",
        f"- Model: {await _model(desk)}",
        f"- Remembered for the model: {counted(len(desk.history), 'exchange')}, {kept}",
        *(f"- Setting: {problem}" for problem in desk.settings.problems),
    ]
    await desk.sink.say("\n".join(lines) + "\n")


async def setup(desk: Desk) -> None:
    """Run `/setup`, with a fresh look at the ports."""
    desk.finder.forget()
    model = await _model(desk)
    looked = [
        f"127.0.0.1:{look.port} ({look.label}): {look.sentence}" for look in desk.finder.looked
    ]
    await desk.sink.say(f"Model now: {model}\n\n{setup_text(looked)}")


async def _server(desk: Desk) -> str:
    if desk.api is None:
        return "none (GROUPX_AGENT_URL is not set)"
    room = RecordedRoom(desk.api, desk.sink, desk.room_id or "")
    try:
        count = len(await room.rooms())
    except RoomDataError as error:
        return error.message
    return f"{desk.api.shown_url} answers, {counted(count, 'room')}"


async def _model(desk: Desk) -> str:
    call_id = await desk.sink.tool_started("Look for a model", "search")
    try:
        endpoint = await desk.finder.current()
    except ModelError as failure:
        await desk.sink.tool_ended(call_id, failure.message, failed=True)
        return failure.message
    if endpoint is not None:
        found = f"{endpoint.shown} ({endpoint.origin})"
    elif desk.settings.discovery:
        found = "none; nothing with a model answers on the usual ports of this machine"
    else:
        found = "none, and looking for one is switched off (model.discovery)"
    await desk.sink.tool_ended(call_id, found)
    return found


def _agent(card: dict[str, Any], *, is_me: bool) -> str:
    actor = safe_line(str(card.get("actorId")), 80)
    name = plain(safe_line(str(card.get("displayName") or actor), 64))
    state = "disabled" if card.get("enabled") is False else safe_line(str(card.get("status")), 40)
    parts = [f"- **{name}** (`{actor}`{', me' if is_me else ''}): {state}"]
    if driver := card.get("driver"):
        parts.append(f"driver {safe_line(str(driver), 40)}")
    if isinstance(queued := card.get("queuedTurns"), int) and queued > 0:
        parts.append(f"{queued} waiting")
    line = ", ".join(parts)
    return f"{line}. {safe_line(str(detail), 300)}" if (detail := card.get("detail")) else line


def _room(info: dict[str, Any], current: str) -> str:
    room_id = safe_line(str(info.get("roomId")), 80)
    title = plain(safe_line(str(info.get("title") or room_id), 80))
    count = info.get("messageCount")
    said = counted(count, "message") if isinstance(count, int) else "messages not counted"
    marks = " · archived" * bool(info.get("archivedAt")) + " · this one" * (room_id == current)
    return f"- **{title}** (`{room_id}`): {said}{marks}"


def _bounded(lines: list[str]) -> str:
    more = [f"- … and {len(lines) - MAX_LISTED} more"] if len(lines) > MAX_LISTED else []
    return "\n".join([*lines[:MAX_LISTED], *more])
