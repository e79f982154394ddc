"""The event stream over breaks: nothing missing, nothing twice, and an end where one is due."""

from __future__ import annotations

import itertools

import pytest

from groupx_shared.errors import ServerUnreachableError
from groupx_shared.runtime import remove_runtime
from groupx_tui.cli.api import Api, ServerRefusedError
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.feed import DeadlineReachedError, EventFeed, FeedRules
from support.cli_clock import SteppedClock
from support.cli_server import CliServer, Stream, delta, message, play


def feed_of(server: CliServer, after: int = 0, **rules: object) -> EventFeed:
    clock = rules.pop("clock", Clock())
    assert isinstance(clock, Clock)
    fields = {"deadline": Deadline(clock, None), **rules}
    api = Api(server.workspace, server.runtime())
    return EventFeed(api, after, None, FeedRules(**fields), clock)  # type: ignore[arg-type]


def take(feed: EventFeed, count: int) -> list[object]:
    events = iter(feed)
    taken = [item.event["seq"] for item in itertools.islice(events, count)]
    events.close()
    return taken


def test_events_come_from_behind_the_cursor_in_order(server: CliServer) -> None:
    server.events = [message(seq, "x") for seq in range(1, 6)]
    assert take(feed_of(server, after=2), 3) == [3, 4, 5]


def test_breaks_lose_nothing_and_repeat_nothing(server: CliServer) -> None:
    server.streams = [
        play(message(1, "a"), delta("t", 0, "x"), then=Stream.drop),
        play(message(2, "b"), then=Stream.drop),
        play(message(3, "c")),
        Stream.hold,
    ]
    clock = SteppedClock()
    assert take(feed_of(server, clock=clock.clock), 4) == [1, None, 2, 3]
    asked = [path for _, path, _ in server.requests]
    assert asked == [f"/api/events?afterSeq={seq}" for seq in (0, 1, 2)]


def test_an_event_that_comes_twice_is_given_once(server: CliServer) -> None:
    server.streams = [play(message(1, "a"), message(1, "a"), message(2, "b"))]
    assert take(feed_of(server), 2) == [1, 2]


def test_a_restarted_server_is_found_with_its_new_token(server: CliServer) -> None:
    def restart(_: int) -> None:
        server.token = "another"
        server.publish()

    server.streams = [play(message(1, "a"), then=Stream.drop)]
    server.events = []
    clock = SteppedClock(restart)
    feed = feed_of(server, clock=clock.clock)
    events = iter(feed)
    assert next(events).event["seq"] == 1
    server.streams = [play(message(2, "b"))]
    assert next(events).event["seq"] == 2
    events.close()


def test_pauses_grow_and_stay_bounded_while_the_server_is_away(server: CliServer) -> None:
    remove_runtime(server.workspace, server.runtime().pid)
    server.streams = [lambda stream: stream.drop()]
    clock = SteppedClock()
    told: list[str] = []
    feed = feed_of(
        server, clock=clock.clock, away_s=10.0, on_lost=lambda error: told.append(error.message)
    )
    with pytest.raises(ServerUnreachableError, match="did not come back"):
        take(feed, 1)
    assert clock.pauses[:5] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6])
    assert max(clock.pauses) == 2.0
    assert sum(clock.pauses) == pytest.approx(10.0, abs=2.0)
    assert len(told) == 1


def test_the_deadline_ends_a_silent_stream(server: CliServer) -> None:
    deadline = Deadline(Clock(), 0.1)
    with pytest.raises(DeadlineReachedError):
        take(feed_of(server, deadline=deadline), 1)


def test_a_refusal_is_not_tried_again(server: CliServer) -> None:
    error = {"error": {"code": "UNKNOWN_ROOM", "message": "There is no room “x”."}}
    server.replies["GET", "/api/events"] = (404, error)
    with pytest.raises(ServerRefusedError, match="no room"):
        take(feed_of(server), 1)


@pytest.mark.parametrize("junk", [b"data: {not json\n\n", b"data: [1]\n\n"])
def test_a_stream_of_junk_is_a_broken_stream(server: CliServer, junk: bytes) -> None:
    clock = SteppedClock()
    server.streams = [lambda stream: stream.write(junk)] * 99
    told: list[str] = []
    feed = feed_of(
        server, clock=clock.clock, away_s=1.0, on_lost=lambda error: told.append(error.message)
    )
    server.streams.append(play(message(1, "a")))
    server.streams[:] = [server.streams[0], server.streams[-1]]
    assert take(feed, 1) == [1]
    assert "broken" in told[0]
