"""What agents say to agents: one line where it began, opened and closed without moving the eye."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.state.model import Author, Block, MessageBlock, TimelineView, TurnBlock
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline.document import Scene
from groupx_tui.widgets.timeline.folds import Folds
from groupx_tui.widgets.timeline.hints import KeyHints
from groupx_tui.widgets.timeline.reader import Reader
from groupx_tui.widgets.timeline.threads import THREAD, Threads, thread_id, thread_of
from support import timelines
from support.timelines import CLAUDE, CODEX

ROOT = "corr_1"
KIMI = Author("agent:kimi", "kimi", "agent")


def call(seq: int, author: Author, *to: str, root: str = ROOT) -> MessageBlock:
    return timelines.message(seq, f"call {seq}", author=author, to=to, root_id=root)


def called(seq: int, author: Author, by: int, phase: str = "completed", hop: int = 1) -> TurnBlock:
    return timelines.turn(
        seq, f"answer {seq}", phase, author=author, hop_count=hop, root_id=ROOT,
        source_event_id=f"evt_{by}",
    )  # fmt: skip


def exchange() -> tuple[Block, ...]:
    """A person asks codex, who asks two others, one of whom fails, and then answers."""
    return (
        timelines.message(1, "do it", to=("codex",), root_id=ROOT),
        call(2, CODEX, "claude", "kimi"),
        called(3, CLAUDE, by=2),
        timelines.message(4, "between", root_id="corr_2"),
        called(5, KIMI, by=2, phase="failed"),
        timelines.turn(6, "done", hop_count=0, root_id=ROOT, source_event_id="evt_1"),
    )


def reader_of(view: TimelineView, height: int = 30, width: int = 76) -> Reader:
    scene = Scene(tz=UTC, now=timelines.START + timedelta(minutes=20), keys=KeyHints("R", "C", "S"))
    reader = Reader(scene, lambda: "15:00")
    reader.resize(width, height)
    reader.show(view)
    return reader


def texts(reader: Reader) -> list[str]:
    return [
        text
        for ref in reader.viewport.rows
        if (text := reader.document.row(ref).strip.text.strip())
    ]


def test_only_what_agents_say_to_agents_belongs_to_an_exchange() -> None:
    assert [thread_of(block) for block in exchange()] == ["", ROOT, ROOT, "", ROOT, ""]
    assert thread_of(call(9, CODEX)) == "", "said to the people in the room"
    assert thread_of(timelines.notice(9)) == ""


def test_an_exchange_is_one_line_where_it_began_and_all_else_stays() -> None:
    shown = texts(reader_of(timelines.view(*exchange())))
    line = next(text for text in shown if text.startswith("▸ codex asked claude and kimi"))
    assert "1 of 2 answered" in line
    assert "1 unanswered" in line
    assert shown.index(line) < shown.index("between")
    assert not {"call 2", "answer 3", "answer 5"} & set(shown)
    assert shown[-1] == "done"


def test_opened_each_part_stands_at_its_place_and_says_who_called_it() -> None:
    reader = reader_of(timelines.view(*exchange()))
    reader.scene.folds.toggle(thread_id(ROOT), THREAD)
    reader.show(timelines.view(*exchange()))
    shown = texts(reader)
    assert any(text.startswith("↳ codex · ") and "→ claude, kimi" in text for text in shown)
    assert any(text.startswith("↳ claude · answered") and "→ codex" in text for text in shown)
    assert shown.index("call 2") < shown.index("answer 3") < shown.index("between")
    assert shown.index("between") < shown.index("answer 5")


def test_deeper_calls_stand_deeper() -> None:
    blocks = (call(2, CODEX, "claude"), call(3, CLAUDE, "kimi"), called(4, KIMI, by=3, hop=2))
    folds = Folds()
    folds.set_kind("thread", is_open=True)
    lineage = Threads().arrange(blocks, folds).lineage
    assert [lineage[block.block_id].depth for block in blocks] == [1, 2, 2]
    assert lineage["turn:turn_4"].caller == "claude"


def test_enter_on_the_line_opens_it_and_the_line_stays_where_it_is() -> None:
    view = timelines.view(*exchange())
    reader = reader_of(view, height=9)
    reader.scroll(-3)
    row = next(n for n, text in enumerate(rows_of(reader)) if text.startswith("▸ codex asked"))
    found = reader.cursor.at(reader.viewport.rows[row])
    assert found is not None
    assert reader.toggle(found)
    assert rows_of(reader)[row].startswith("▾ codex asked")
    found = reader.cursor.at(reader.viewport.rows[row])
    assert found is not None
    assert reader.toggle(found)
    assert rows_of(reader)[row].startswith("▸ codex asked")


def rows_of(reader: Reader) -> list[str]:
    return [reader.document.row(ref).strip.text.strip() for ref in reader.viewport.rows]


def test_while_it_goes_on_the_line_says_who_works_and_what_is_streamed_draws_nothing() -> None:
    running = called(3, CLAUDE, by=2, phase="running")
    blocks = (call(2, CODEX, "claude", "kimi"), running, called(4, KIMI, by=2, phase="queued"))
    threads, folds = Threads(), Folds()
    first = threads.arrange(blocks, folds).blocks
    more = replace(running, text=StreamText("answer 3 and more"))
    second = threads.arrange((blocks[0], more, blocks[2]), folds).blocks
    assert len(first) == 1
    assert first[0] is second[0]
    shown = texts(reader_of(timelines.view(*blocks)))
    assert shown[-1] == "▸ codex asked claude and kimi · claude works · 1 waiting · 14:05"


def test_a_jump_into_a_folded_exchange_opens_it() -> None:
    reader = reader_of(timelines.view(*exchange()))
    assert reader.bring("turn:turn_3")
    assert "answer 3" in texts(reader)


def test_the_position_counts_what_is_folded() -> None:
    reader = reader_of(timelines.view(*exchange()))
    assert (reader.position().first, reader.position().last) == (1, 5)
    reader.scene.folds.toggle(thread_id(ROOT), THREAD)
    reader.show(timelines.view(*exchange()))
    assert (reader.position().first, reader.position().last) == (1, 5)


def test_several_callers_are_named_together() -> None:
    blocks = (call(2, CODEX, "claude"), call(3, CLAUDE, "codex"), called(4, CODEX, by=3, hop=2))
    line = texts(reader_of(timelines.view(*blocks)))[-1]
    assert line.startswith("▸ codex and claude talked · answered")


def test_a_stopped_loop_says_how_to_let_it_go_on_until_somebody_does() -> None:
    stopped = timelines.notice(2, "a limit", tone="warning", root_id=ROOT, loop="stopped")
    reader = reader_of(timelines.view(stopped))
    assert texts(reader)[-1] == "C lets them go on"
    gone_on = timelines.notice(3, "You let the agents go on", root_id=ROOT, loop="continued")
    reader.show(timelines.view(stopped, gone_on))
    assert "C lets them go on" not in texts(reader)


def test_advice_and_watch_orders_say_what_they_are() -> None:
    advice = timelines.message(
        2,
        "look at the tests",
        author=CLAUDE,
        to=("codex",),
        kind="supervision.advice",
        root_id=ROOT,
    )
    shown = texts(reader_of(timelines.view(*exchange(), advice)))
    assert "claude · 14:05 → codex · advice" in shown, "not folded: people want to see it"
    assert shown[-1] == "look at the tests"


def talk(count: int) -> tuple[Block, ...]:
    """Three roots in turn: a message, a call, the turn that it woke."""
    made: list[Block] = []
    for number in range(count):
        root, seq = f"corr_{number // 3 % 3}", number + 1
        if number % 3 == 0:
            made.append(timelines.message(seq, root_id=root))
        elif number % 3 == 1:
            made.append(call(seq, CODEX, "claude", root=root))
        else:
            made.append(replace(called(seq, CLAUDE, by=number), root_id=root))
    return tuple(made)


@given(
    st.lists(
        st.tuples(st.sampled_from(["grow", "change", "end", "fold", "drop"]), st.integers(0, 40)),
        max_size=12,
    )
)
def test_step_by_step_it_is_as_if_it_was_arranged_at_once(steps: list[tuple[str, int]]) -> None:
    threads, folds, all_blocks, count = Threads(), Folds(), list(talk(60)), 9
    first = 0
    for what, number in steps:
        index = first + number % max(1, count - first)
        block = all_blocks[index]
        if what == "grow":
            count = min(60, count + number)
        elif what == "drop":
            first = min(count - 1, first + number % 3)
        elif what == "fold":
            folds.toggle(thread_id(f"corr_{number % 3}"), THREAD)
        elif isinstance(block, TurnBlock):
            text = StreamText(f"{block.text} more")
            changed = replace(block, text=text, error_code=f"E{number}")
            all_blocks[index] = replace(changed, phase="failed") if what == "end" else changed
        blocks = tuple(all_blocks[first:count])
        found, wanted = threads.arrange(blocks, folds), Threads().arrange(blocks, folds)
        assert found == wanted
