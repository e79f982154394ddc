"""History drops whole exchanges and stays under its limit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.history import History


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20))), st.integers(0, 60))
def test_the_newest_exchanges_that_fit_are_kept(
    exchanges: list[tuple[str, str]], limit: int
) -> None:
    history = History(limit)
    for user, assistant in exchanges:
        history.add(user, assistant)
    kept: list[tuple[str, str]] = []
    for user, assistant in reversed(exchanges):
        if sum(len(u) + len(a) for u, a in [*kept, (user, assistant)]) > limit:
            break
        kept.insert(0, (user, assistant))
    contents = [message["content"] for message in history.messages()]
    assert contents == [text for exchange in kept for text in exchange]
    assert history.chars == sum(map(len, contents)) <= limit


def test_user_and_assistant_take_turns() -> None:
    history = History(100)
    history.add("a", "b")
    history.add("c", "d")
    assert [message["role"] for message in history.messages()] == ["user", "assistant"] * 2
    history.clear()
    assert (history.messages(), history.chars, len(history)) == ([], 0, 0)
