"""What only acknowledges, and what says something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.acknowledgement import MAX_CHARS, PHRASES, is_acknowledgement


@pytest.mark.parametrize(
    "text",
    [
        *("ok", "OK.", "Okay!", "Thanks!", "thank you", "Thanks, got it.", "Got it — thanks!"),
        *("👍", "👍🏽", "👍👍 🙏", "❤️", "ok 👍", "Thanks 🎉!", "收到", "收到。"),
        *(
            "好的，谢谢！",
            "谢谢 🙏",
            "了解です",
            "Ｔｈａｎｋｓ",
            "You\N{RIGHT SINGLE QUOTATION MARK}re welcome!",
        ),
        *("@codex thanks!", "  ok  ", "ok\n\nthanks\n", "…", ".", "Merci !", "Danke, verstanden."),
    ],
)
def test_a_text_that_only_acknowledges(text: str) -> None:
    assert is_acknowledgement(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "\n"),
        *("yes", "no", "done", "go on", "approved", "✅", "❌", "🚨", "1", "?", "ok?", "好吗？"),
        *("ok, now run the tests", "Thanks, but the build is red.", "got it wrong", "not ok"),
        *("okay so", "收到，我来处理登录页", "thanks codex", "the fix is good", "LGTM"),
        "thanks " * 20,
    ],
)
def test_a_text_that_says_or_asks_something(text: str) -> None:
    assert not is_acknowledgement(text)


@given(st.lists(st.sampled_from(sorted(PHRASES)), min_size=1, max_size=3))
def test_phrases_one_after_the_other_only_acknowledge(phrases: list[str]) -> None:
    text = ", ".join(phrases)
    assert is_acknowledgement(text) == (len(text) <= MAX_CHARS)


@given(st.text(max_size=200), st.sampled_from(["fix", "why", "修复", "7"]))
def test_a_word_that_is_on_no_list_makes_it_a_message(text: str, word: str) -> None:
    assert not is_acknowledgement(f"{text} {word}") or "@" in text
