"""What enters the view models is clean and bounded."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_shared.wire.events import EventActor
from groupx_tui.state import clean
from groupx_tui.state.clean import author_of, clean_json, clean_object, clean_sentence
from groupx_tui.state.model import Author


def test_strings_and_keys_are_cleaned_at_any_depth() -> None:
    value = {"a\x1b": ["\x07", {"b": ("\x9b", 1, None, True, 2.5)}]}
    assert clean_object(value) == {"a␛": ["␇", {"b": ["\ufffd", 1, None, True, 2.5]}]}


def test_too_deep_a_value_ends_in_an_ellipsis() -> None:
    deep: Any = "bottom"
    for _ in range(1_000):
        deep = [deep]
    shown = repr(clean_json(deep))
    assert "…" in shown
    assert "bottom" not in shown


def test_too_many_values_end_in_an_ellipsis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean, "MAX_NODES", 10)
    assert clean_json(list(range(100)))[-1] == "…"
    assert clean_json({str(n): n for n in range(100)})["…"] == "…"
    assert len(clean_json(list(range(100)))) < 12


def test_an_author_without_a_name_is_called_by_its_id() -> None:
    actor = EventActor(actor_id="agent:codex", kind="agent", display_name=" \u200b ")
    assert author_of(actor) == Author("agent:codex", "codex", "agent")


def test_a_long_sentence_is_cut_and_none_stays_none() -> None:
    assert clean_sentence(None) is None
    assert 1_900 < len(clean_sentence("x" * 10_000) or "") <= clean.MAX_SENTENCE_CHARS
