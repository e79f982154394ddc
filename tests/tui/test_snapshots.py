"""A few pictures of the whole window; a change of one is a change that people see.

Update on purpose with `pytest tests/tui/test_snapshots.py --snapshot-update`, and look at them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from groupx_shared.paths import user_state_folder
from groupx_shared.wire.search import SearchReply
from groupx_tui.app import GroupXApp
from groupx_tui.preferences import PreferenceFile
from groupx_tui.setup import WindowSetup
from groupx_tui.state.model import Author, NoticeBlock, TimelineView
from groupx_tui.theme import load_themes
from support.fake_session import (
    AT,
    CODEX,
    GUIDE,
    KIMI,
    OFF,
    FakeSession,
    MemoryDrafts,
    hit,
    message,
    sample_view,
    turn,
)

pytestmark = pytest.mark.slow
"""Each opens a window."""

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times in UTC, colours whatever the caller's terminal wants."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def window(
    *, found: SearchReply | None = None, folder: Path | None = None, **changes: Any
) -> GroupXApp:
    """The app on a fake session whose view has these changes."""

    def open_session() -> FakeSession:
        session = FakeSession(replace(sample_view(), **changes))
        session.found = found or session.found
        return session

    return GroupXApp(
        open_session,
        MemoryDrafts(),
        WindowSetup(load_themes(Path("/nonexistent")), PreferenceFile(user_state_folder())),
        folder=folder,
    )


def pressing(*keys: str) -> Callable[[Pilot[int]], Any]:
    """Wait until the view is drawn, then press keys."""

    async def run(pilot: Pilot[int]) -> None:
        assert isinstance(pilot.app, GroupXApp)
        session = pilot.app.session
        assert isinstance(session, FakeSession)
        await session.started.wait()
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    return run


def test_the_room_on_a_small_terminal(snap_compare: Compare) -> None:
    assert snap_compare(window(), terminal_size=(80, 24), run_before=pressing())


def test_the_room_with_panel_and_candidates(snap_compare: Compare) -> None:
    busy = replace(CODEX, status="working", active_turn_id="turn_9", queued_turns=2)
    app = window(agents=(GUIDE, busy, KIMI, OFF))
    assert snap_compare(app, terminal_size=(120, 40), run_before=pressing("h", "i", "space", "@"))


def test_the_palette(snap_compare: Compare) -> None:
    assert snap_compare(window(), terminal_size=(80, 24), run_before=pressing("ctrl+p", "r", "o"))


def test_without_a_connection(snap_compare: Compare) -> None:
    app = window(connection="reconnecting", connection_detail="No answer. Next try in 2.0 s.")
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing())


def unfinished() -> TimelineView:
    """A room in which something went wrong, something waits and something is being stopped."""
    blocks = (
        message(1, "Rewrite the parser", to=("Codex",)),
        turn("turn_2", CODEX, "I began with the lexer and", order_seq=3, queued_seq=2,
             phase="interrupted", certainty="unknown", source_event_id="evt_1", duration_ms=65_000,
             ended_at=AT, error_code="TURN_INTERRUPTED", error_message="The server ended."),
        message(4, "And the tests", to=("Codex", "Guide")),
        turn("turn_5", GUIDE, order_seq=6, queued_seq=5, phase="failed", ended_at=AT,
             certainty="not_delivered", source_event_id="evt_4", duration_ms=400,
             error_code="AGENT_DISABLED", error_message="Guide is switched off."),
        turn("turn_7", CODEX, "Stopping soon", phase="cancelling", queued_seq=7,
             source_event_id="evt_4"),
        turn("turn_8", CODEX, phase="queued", queue_position=1, queued_seq=8,
             source_event_id="evt_4"),
    )  # fmt: skip
    return TimelineView("room:main", blocks, 1, 8, total_messages=2)


SIZES = pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=["80x24", "160x45"])


@pytest.fixture
def _still_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open turns have worked for no time, whenever the picture is made."""
    monkeypatch.setattr("groupx_tui.widgets.timeline.headers.words.whole_seconds", lambda s: "9 s")


@SIZES
@pytest.mark.usefixtures("_still_clock")
def test_what_can_be_done_about_turns(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = window(timeline=unfinished())
    assert snap_compare(app, terminal_size=size, run_before=pressing())


@SIZES
@pytest.mark.usefixtures("_still_clock")
def test_the_details_of_an_uncertain_turn(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = window(timeline=unfinished())
    keys = ("escape", "home", "down", "down", "d")
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


def exchange() -> TimelineView:
    """A person asks Codex, who asks two others, one of whom fails; a limit stops the next call."""
    by_codex = Author("agent:codex", "Codex", "agent")
    blocks = (
        message(1, "Is the parser fine?", to=("Codex",), root_id="c"),
        message(3, "Look at the lexer, and at its tests", by_codex, to=("Guide", "Kimi"),
                root_id="c"),
        turn("turn_4", GUIDE, "The lexer is **fine**.", order_seq=6, queued_seq=4, hop_count=1,
             root_id="c", source_event_id="evt_3", parent_turn_id="turn_2", phase="completed",
             ended_at=AT, duration_ms=4_200, response_event_id="evt_5"),
        turn("turn_5", KIMI, order_seq=7, queued_seq=5, hop_count=1, root_id="c",
             source_event_id="evt_3", parent_turn_id="turn_2", phase="failed", ended_at=AT,
             certainty="not_delivered", error_code="AGENT_GONE",
             error_message="kimi is not installed.", duration_ms=10),
        turn("turn_2", CODEX, "The lexer is fine; nobody could look at the tests.", order_seq=8,
             queued_seq=2, root_id="c", source_event_id="evt_1", phase="completed", ended_at=AT,
             duration_ms=9_100, response_event_id="evt_8"),
        NoticeBlock("note:evt_9", 9, AT, "Codex and Guide called each other 20 times.", "warning",
                    "c", "stopped"),
    )  # fmt: skip
    return TimelineView("room:main", blocks, 1, 9, total_messages=4)


@SIZES
def test_an_exchange_of_agents_folded(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = window(timeline=exchange())
    assert snap_compare(app, terminal_size=size, run_before=pressing("escape", "up", "up"))


@SIZES
def test_an_exchange_of_agents_opened(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = window(timeline=exchange())
    assert snap_compare(app, terminal_size=size, run_before=pressing("escape", "T"))


@SIZES
def test_who_asked_whom(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = window(timeline=exchange())
    assert snap_compare(app, terminal_size=size, run_before=pressing("escape", "w"))


LOOKS = pytest.mark.parametrize(
    "keys",
    [
        pytest.param(("f9",), id="memory"),
        pytest.param(("f9", "enter"), id="a-record"),
        pytest.param(("f9", "enter", "f4"), id="its-history"),
        pytest.param(("f9", "f2", *"note"), id="remembering"),
        pytest.param(("f10",), id="a-context"),
        pytest.param(("f3", *"codex", "f3"), id="a-card"),
        pytest.param(("escape", "up", "e"), id="an-event"),
        pytest.param(("slash", *"settings", "enter"), id="settings"),
        pytest.param(("slash", *"agents", "minus", *"setup", "enter"), id="agents-to-set"),
    ],
)


@SIZES
@LOOKS
def test_looking_closely(
    snap_compare: Compare, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    assert snap_compare(window(), terminal_size=size, run_before=pressing(*keys))


@LOOKS
def test_looking_closely_in_a_light_theme(snap_compare: Compare, keys: tuple[str, ...]) -> None:
    async def run(pilot: Pilot[int]) -> None:
        pilot.app.theme = "groupx-light"
        await pressing(*keys)(pilot)

    assert snap_compare(window(), terminal_size=(80, 24), run_before=run)


def test_an_exchange_of_agents_in_a_light_theme(snap_compare: Compare) -> None:
    async def run(pilot: Pilot[int]) -> None:
        pilot.app.theme = "groupx-light"
        await pressing("escape", "T")(pilot)

    assert snap_compare(window(timeline=exchange()), terminal_size=(80, 24), run_before=run)


FOUND = SearchReply(
    hits=(
        hit(5, "And who is @codex?", (11, 17)),
        hit(3, "I find, list and quote what was said here.", (2, 6)),
        hit(9, "What was said about codex far away", (20, 25), room="room:ideas"),
    )
)


@SIZES
def test_a_search_in_the_room(snap_compare: Compare, size: tuple[int, int]) -> None:
    keys = ("escape", "slash", *"codex", "enter", "n")
    assert snap_compare(window(found=FOUND), terminal_size=size, run_before=pressing(*keys))


@SIZES
def test_a_search_in_all_rooms(snap_compare: Compare, size: tuple[int, int]) -> None:
    keys = ("ctrl+f", *"codex", "enter")
    assert snap_compare(window(found=FOUND), terminal_size=size, run_before=pressing(*keys))


@SIZES
def test_the_help(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(window(), terminal_size=size, run_before=pressing("escape", "f1"))


@SIZES
def test_files_and_a_folded_paste(
    snap_compare: Compare, size: tuple[int, int], tmp_path: Path
) -> None:
    for name in ("parser.py", "src/my_parser.py", "docs/parsing.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    async def run(pilot: Pilot[int]) -> None:
        await pressing(*"why ")(pilot)
        pilot.app.post_message(events.Paste("line\n" * 1_234))
        await pilot.pause()
        await pilot.press("space", "at", *"pars")
        assert isinstance(pilot.app, GroupXApp)
        while not pilot.app.room.popup.is_open:
            await pilot.pause()

    app = window(folder=tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=run)
