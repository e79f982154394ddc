"""The reducer: what the server says becomes the next `ClientView`.

All functions are pure and total: no clock, no I/O, and no event, however malformed, raises.
`timeline.changed` of the result names the blocks that this one call touched; give events that
are ready together to `apply_events` in one call, so that it names them all. The cost of a streamed
delta does not depend on the length of the answer; that on the number of loaded blocks is one
copy of pointers, and the window bounds it. The other half is `client.session`, which calls these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.context import CompactionInfo
from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import BootstrapReply, EventPage, RoomInfo, TurnInfo
from groupx_tui.state import rooms
from groupx_tui.state.agents import agent_view
from groupx_tui.state.builder import ViewBuilder
from groupx_tui.state.clean import clean_id
from groupx_tui.state.messages import display_name
from groupx_tui.state.model import AgentView, ClientView, Connection, TimelineView, UpkeepView
from groupx_tui.state.turns import turn_from_info, with_info
from groupx_tui.state.upkeep import upkeep_view

Direction = Literal["before", "after", "replace"]

MESSAGE_LIMIT_KEY = "messageCharacters"
"""In the bootstrap's `limits`: the longest message that may be sent."""


def apply_event(view: ClientView, event: Event) -> ClientView:
    """Return the view after one event of the stream, durable or transient, of any room."""
    return apply_events(view, (event,))


def apply_events(view: ClientView, events: Iterable[Event]) -> ClientView:
    """Return the view after events of the stream that came together, in their order."""
    builder = ViewBuilder(view)
    for event in events:
        builder.take_live(event)
    return builder.freeze()


def apply_bootstrap(view: ClientView, reply: BootstrapReply) -> ClientView:
    """Return the view that shows the room of `reply`, at its end.

    On the first one, or when the ledger is another one, everything else starts anew too and the
    cursor is the reply's; otherwise (a room switch) cursor, unread counts and what streams in
    other rooms stay.
    """
    if view.ledger_id != reply.ledger_id:
        view = ClientView(
            connection=view.connection,
            connection_detail=view.connection_detail,
            ledger_id=reply.ledger_id,
            cursor=reply.through_seq,
            missing_room=view.missing_room,
        )
    builder = ViewBuilder(_with_lists(view, reply))
    window = builder.window
    window.clear()
    window.reader_side = "end"
    window.total_messages, window.total_events = reply.room.message_count, reply.room.event_count
    window.counted_seq = reply.room.last_seq
    window.has_more_before = reply.has_more_before
    window.has_more_after = True  # until it is known; meanwhile no turn in it counts as open
    for event in reply.recent_events:
        builder.take_loaded(event)
    _take_open(builder, reply.active_turns, only_known=reply.through_seq < view.cursor)
    _look_for_more(builder)
    return builder.freeze()


def apply_page(view: ClientView, page: EventPage, direction: Direction) -> ClientView:
    """Return the view with a page of the shown room put before or after what is loaded, or in its
    place. A page of another room changes nothing: the reader has left it meanwhile."""
    if clean_id(page.room_id) != view.timeline.room_id:
        return view
    builder = ViewBuilder(view)
    window = builder.window
    if direction == "replace":
        window.clear()
        window.reader_side = "start" if page.has_more_after else "end"
    else:
        window.reader_side = "start" if direction == "before" else "end"
    if direction != "after":
        window.has_more_before = page.has_more_before
    if direction != "before":
        window.has_more_after = True  # until it is known; meanwhile no turn in it counts as open
    for event in page.events:
        builder.take_loaded(event)
    if direction != "before" and not page.has_more_after:
        _look_for_more(builder, is_exhausted=not page.events)
    return builder.freeze()


def apply_reread(view: ClientView, events: Iterable[Event]) -> ClientView:
    """Return the view with all that is loaded read anew: `events` are those of the loaded part, in
    order. Only blocks that differ from before count as changed."""
    builder = ViewBuilder(view)
    window, timeline = builder.window, view.timeline
    window.clear()
    window.has_more_before = timeline.has_more_before
    window.has_more_after = timeline.has_more_after
    window.new_after = timeline.new_after
    for event in events:
        builder.take_loaded(event)
    read = builder.freeze()
    before = {block.block_id: block for block in timeline.blocks}
    blocks = read.timeline.blocks
    changed = {b.block_id for b in blocks if before.get(b.block_id) != b}
    return replace(read, timeline=replace(read.timeline, changed=frozenset(changed)))


def with_connection(view: ClientView, connection: Connection, detail: str = "") -> ClientView:
    """Return the view with the state of the connection; `detail` is one sentence for people."""
    return untouched(replace(view, connection=connection, connection_detail=detail))


def with_open_turns(view: ClientView, turns: Iterable[TurnInfo], *, is_first: bool) -> ClientView:
    """Return the view with the server's list of open turns (of any room) taken in.

    `is_first`: the list was read after the bootstrap and no event after it was taken in yet, so a
    turn in it that is not known is open. Otherwise the list only adds to the turns that are known
    as open: any other may have ended while it was on its way.
    """
    builder = ViewBuilder(view)
    _take_open(builder, turns, only_known=not is_first)
    return builder.freeze()


def with_agents(
    view: ClientView, agents: Iterable[AgentInfo], asked_at: tuple[AgentView, ...]
) -> ClientView:
    """Return the view with the server's list of agents taken in. `asked_at`: the cards when it
    was asked for; a card that an event has changed since then is newer than the list."""
    before = {card.actor_id: card for card in asked_at}
    newer = {c.actor_id: c for c in view.agents if before.get(c.actor_id) != c}
    cards = tuple(newer.pop(c.actor_id, c) for c in map(agent_view, agents))
    return untouched(replace(view, agents=(*cards, *newer.values())))


def with_upkeep(view: ClientView, room_id: str, info: CompactionInfo | None) -> ClientView:
    """Return the view with how the room's latest summing up stands, as the server told when it was
    asked; what events told since, of a later one or of this one's end, is newer."""
    known = view.upkeep
    if room_id != view.room_id:
        return view
    told = None if info is None else upkeep_view(info, view.agents)
    if told == known or (known is not None and told is not None and _is_newer(known, told)):
        return view
    return untouched(replace(view, upkeep=told))


def _is_newer(known: UpkeepView, told: UpkeepView) -> bool:
    if known.operation_id == told.operation_id:
        return not known.is_running and told.is_running
    return (known.started_at or "") > (told.started_at or "")


def with_room(view: ClientView, info: RoomInfo) -> ClientView:
    """Return the view with a room as the server tells it, new or changed."""
    builder = ViewBuilder(view)
    room_id = clean_id(info.room_id)
    builder.rooms[room_id] = rooms.room_entry(info, builder.rooms.get(room_id), view.cursor)
    return builder.freeze()


def with_reader_side(view: ClientView, side: Literal["start", "end"]) -> ClientView:
    """Return the view that knows in which half of the loaded blocks the reader is."""
    if view.timeline.reader_side == side:
        return view
    return replace(view, timeline=replace(view.timeline, reader_side=side))


def untouched(view: ClientView) -> ClientView:
    """Return the view with an empty `changed` and `ended`: what they named has been told."""
    if view.ended:
        view = replace(view, ended=())
    if not view.timeline.changed:
        return view
    return replace(view, timeline=replace(view.timeline, changed=frozenset()))


def _with_lists(view: ClientView, reply: BootstrapReply) -> ClientView:
    """The room and agent lists of a bootstrap, and an empty timeline for its room."""
    known = {entry.room_id: entry for entry in view.rooms}
    listed = {
        clean_id(info.room_id): rooms.room_entry(
            info, known.get(clean_id(info.room_id)), view.cursor
        )
        for info in (*reply.rooms, reply.room)
    }
    for room_id, entry in known.items():  # one made after the reply was read
        listed.setdefault(room_id, entry)
    room_id = clean_id(reply.room.room_id)
    listed[room_id] = replace(listed[room_id], unread=0)
    same_room = view.timeline.room_id == room_id
    return replace(
        view,
        room_id=room_id,
        rooms=tuple(listed.values()),
        agents=tuple(agent_view(info) for info in reply.agents),
        timeline=view.timeline if same_room else TimelineView(room_id),
        upkeep=view.upkeep if same_room else None,
        max_message_chars=reply.limits.get(MESSAGE_LIMIT_KEY, view.max_message_chars),
    )


def _take_open(builder: ViewBuilder, turns: Iterable[TurnInfo], *, only_known: bool) -> None:
    """Take a list of open turns in. `only_known`: the stream is ahead of the list, so one that is
    not known as open has ended since."""
    names = {agent.actor_id: agent.name for agent in builder.agents}
    for info in turns:
        turn_id = clean_id(info.turn_id)
        has_ended = info.status in ("completed", "failed", "cancelled", "interrupted")
        if has_ended or builder.window.closed_turn(turn_id) is not None:
            continue
        known = builder.open.get(turn_id)
        if known is None and only_known:
            continue
        name = display_name(clean_id(info.target_actor_id), names)
        begun = known or builder.window.cut_turns.pop(turn_id, None)
        builder.open.put(with_info(begun or turn_from_info(info, name), info))


def _look_for_more(builder: ViewBuilder, *, is_exhausted: bool = False) -> None:
    """Decide whether the newest event is loaded: the stream may have told of newer ones since the
    server wrote its reply. An empty page (`is_exhausted`) has the last word."""
    window = builder.window
    entry = builder.rooms.get(window.room_id)
    newest = entry.last_seq if entry is not None else 0
    window.has_more_after = newest > window.last_seq and not is_exhausted
    if not window.has_more_after:
        builder.reach_end()
