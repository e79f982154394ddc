"""Token counts, context size and cost, where each ACP agent puts them.

Pure: any JSON in, a flat dict out with the keys of `native.UsageReported`, only those the agent
told. Counterpart: `acp_turn.py`.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_dict
from groupx_server.agents.token_usage import Usage, read_count, read_number, token_counts

_CURRENCY_CHARS: Final = 8


def usage_of_result(result: Any) -> Usage:
    """The `usage` of a prompt result, else the one that Grok puts below `_meta`, else the
    `_meta.quota.token_count` that Gemini gives."""
    answer = as_dict(result)
    meta = as_dict(answer.get("_meta"))
    for told in (answer.get("usage"), meta.get("usage")):
        if usage := token_counts(told):
            return usage
    return token_counts(as_dict(meta.get("quota")).get("token_count"))


def usage_of_update(update: dict[str, Any]) -> Usage:
    """A `usage_update`: how full the context is, and the cost so far."""
    usage: Usage = {}
    for key, ours in (("used", "contextUsed"), ("size", "contextSize")):
        if (number := read_count(update.get(key))) is not None:
            usage[ours] = number
    cost = update.get("cost")
    if isinstance(cost, dict) and (amount := read_number(cost.get("amount"))) is not None:
        usage["costAmount"] = amount
        if isinstance(currency := cost.get("currency"), str):
            usage["costCurrency"] = currency[:_CURRENCY_CHARS]
    return usage


def usage_of_chunk(update: dict[str, Any]) -> Usage:
    """The `_meta.usage` that Qwen puts on an empty message chunk."""
    return token_counts(as_dict(update.get("_meta")).get("usage"))
