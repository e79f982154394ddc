"""How a purge stands in the view: as it was told last, and gone with the server that told it."""

from __future__ import annotations

from dataclasses import replace

from groupx_shared.wire.forgetting import PurgeInfo, PurgeList
from groupx_tui.state.model import ClientView, PurgeView
from groupx_tui.state.purges import purge_view, with_purges
from groupx_tui.state.reduce import apply_events
from support.room_events import event

STARTED = "2026-01-01T00:00:00.000Z"
INFO = PurgeInfo(kind="event", ref_id="evt_1", stage="index", steps=32, started_at=STARTED)


def test_each_stage_that_is_told_takes_the_place_of_the_one_before() -> None:
    view = ClientView()
    for stage in ("removing", "index", "done"):
        body = {"kind": "event", "refId": "evt_1", "stage": stage, "startedAt": STARTED}
        view = apply_events(view, [event("content.purging", body)])
        assert view.purge is not None
        assert view.purge.stage == stage
    assert view.purge is not None
    assert not view.purge.is_running


def test_what_is_told_is_cleaned() -> None:
    told = INFO.model_copy(update={"error_message": "no\x1b[31m", "left_in": ("a\nb.db",)})
    purge = purge_view(told)
    assert "\x1b" not in purge.problem
    assert purge.left_in == ("a b.db",)


def test_after_a_break_the_shown_one_stands_as_the_server_says() -> None:
    view = replace(ClientView(), purge=purge_view(INFO))
    done = INFO.model_copy(update={"stage": "done", "ended_at": STARTED, "checked": True})
    told = with_purges(view, PurgeList(purges=(done,))).purge
    assert isinstance(told, PurgeView)
    assert (told.stage, told.is_checked) == ("done", True)
    assert with_purges(view, PurgeList()).purge is None  # a server that was started since
    assert with_purges(ClientView(), PurgeList(purges=(done,))).purge is None


def test_another_ledger_has_no_purge_of_this_one() -> None:
    assert ClientView().purge is None
