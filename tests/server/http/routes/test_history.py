"""Pages of a room and single events."""

from __future__ import annotations

import pytest

from groupx_server.http.routes.history import page_json
from groupx_server.rooms.rows import EventRows
from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import EventPage, TextReply
from support.fake_rooms import make_event
from support.http_app import http_app

PAGE = "/api/rooms/room:main/events"


def test_a_page_is_spliced_from_ready_events() -> None:
    events = [make_event(1, "room:main", "message.created", {"content": "é"})]
    page = EventPage.model_validate_json(page_json("room:main", EventRows(events, True, False)))
    assert (page.has_more_before, page.has_more_after) == (True, False)
    assert page.events[0].body == {"content": "é"}
    empty = page_json('room:"x"', EventRows([], False, False))
    assert EventPage.model_validate_json(empty).room_id == 'room:"x"'


@pytest.mark.parametrize(
    ("query", "seqs"),
    [
        ("?limit=2", [8, 9]),
        ("?before=5&limit=2", [3, 4]),
        ("?after=5&limit=2", [6, 7]),
        ("?around=5&limit=2", [5, 6]),
        ("?type=turn.completed", [9]),
        ("?type=turn.completed&type=message.created&limit=3", [7, 8, 9]),
    ],
)
async def test_pages_go_in_all_directions_and_are_always_ascending(
    query: str, seqs: list[int]
) -> None:
    async with http_app() as served:
        served.ledger.commit(8)
        served.ledger.commit(1, kind="turn.completed")
        response = await served.client.get(PAGE + query)
        page = EventPage.model_validate_json(response.content)
        assert [event.seq for event in page.events] == seqs


@pytest.mark.parametrize("query", ["?before=1&after=2", "?before=x", "?order=desc", "?type="])
async def test_a_page_that_cannot_be_meant_is_refused(query: str) -> None:
    async with http_app() as served:
        response = await served.client.get(PAGE + query)
        assert (response.status_code, response.json()["error"]["code"]) == (
            400,
            "INVALID_ENVELOPE",
        )


async def test_one_event_and_its_whole_text_can_be_read() -> None:
    async with http_app() as served:
        served.ledger.commit()
        served.rooms.texts["evt_1"] = "all of it"
        event = await served.client.get("/api/events/evt_1")
        assert Event.model_validate_json(event.content).seq == 1
        text = await served.client.get("/api/events/evt_1/text")
        assert TextReply.model_validate_json(text.content).text == "all of it"


@pytest.mark.parametrize("path", ["/api/events/evt_9", "/api/events/evt_9/text"])
async def test_an_unknown_event_is_not_there(path: str) -> None:
    async with http_app() as served:
        response = await served.client.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "UNKNOWN_EVENT")
