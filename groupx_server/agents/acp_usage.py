"""Token counts and context size, as each agent spells them, in one spelling.

Pure: any JSON in, a flat dict out with the keys of `native.UsageReported`, only those the agent
told. Counterpart: `acp_turn.py`.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_dict

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
    "thought_tokens": "thoughtTokens",
    "totalTokens": "totalTokens",
    "total_tokens": "totalTokens",
}
_CURRENCY_CHARS: Final = 8

Usage = dict[str, int | float | str]


def usage_of_result(result: Any) -> Usage:
    """The `usage` of a prompt result, else the `_meta.quota.token_count` that Gemini gives."""
    usage = _tokens(as_dict(result).get("usage"))
    if usage:
        return usage
    return _tokens(as_dict(as_dict(as_dict(result).get("_meta")).get("quota")).get("token_count"))


def usage_of_update(update: dict[str, Any]) -> Usage:
    """A `usage_update`: how full the context is, and the cost so far."""
    usage: Usage = {}
    for key, ours in (("used", "contextUsed"), ("size", "contextSize")):
        if (number := _count(update.get(key))) is not None:
            usage[ours] = number
    cost = update.get("cost")
    if isinstance(cost, dict) and (amount := _number(cost.get("amount"))) is not None:
        usage["costAmount"] = amount
        if isinstance(currency := cost.get("currency"), str):
            usage["costCurrency"] = currency[:_CURRENCY_CHARS]
    return usage


def usage_of_chunk(update: dict[str, Any]) -> Usage:
    """The `_meta.usage` that Qwen puts on an empty message chunk."""
    return _tokens(as_dict(update.get("_meta")).get("usage"))


def _tokens(value: Any) -> Usage:
    usage: Usage = {}
    if isinstance(value, dict):
        for key, ours in _TOKEN_KEYS.items():
            if ours not in usage and (number := _count(value.get(key))) is not None:
                usage[ours] = number
    return usage


def _count(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return value
