"""Token counts, as each vendor spells them, in one spelling.

Pure: any JSON in, a flat dict out with the keys of `native.UsageReported`, only those the agent
told. Counterparts: `acp_usage.py`, `codex_usage.py`.
"""

from __future__ import annotations

from typing import Any, Final

_TOKEN_KEYS: Final = {
    "inputTokens": "inputTokens",
    "input_tokens": "inputTokens",
    "outputTokens": "outputTokens",
    "output_tokens": "outputTokens",
    "cachedReadTokens": "cachedTokens",
    "cachedInputTokens": "cachedTokens",
    "cached_tokens": "cachedTokens",
    "thoughtTokens": "thoughtTokens",
    "reasoningOutputTokens": "thoughtTokens",
    "reasoningTokens": "thoughtTokens",
    "thought_tokens": "thoughtTokens",
    "totalTokens": "totalTokens",
    "total_tokens": "totalTokens",
}

Usage = dict[str, int | float | str]


def token_counts(value: Any) -> Usage:
    """The counts in one object of an agent; nothing from anything else."""
    usage: Usage = {}
    if isinstance(value, dict):
        for key, ours in _TOKEN_KEYS.items():
            if ours not in usage and (number := read_count(value.get(key))) is not None:
                usage[ours] = number
    return usage


def read_count(value: Any) -> int | None:
    """A whole number, 0 or more, else None."""
    number = read_number(value)
    return None if number is None else int(number)


def read_number(value: Any) -> int | float | None:
    """A number, 0 or more, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return value
