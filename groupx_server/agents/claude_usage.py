"""Tokens, cost and context of one Claude Code turn.

Owns the sums of a turn, which may end in several results when it was steered. Tokens in a result
are those since the result before; its cost is the whole cost of the session so far, unless it also
gives the part since then. The counterpart is `claude_turn.py`; `CostBook` outlives a turn.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_dict
from groupx_server.agents.token_usage import Usage, read_count, read_number

_INPUT_KEYS: Final = ("input_tokens", "cache_creation_input_tokens")
_CURRENCY: Final = "USD"


class CostBook:
    """What a session cost until now, as far as it is known (None for one that was resumed)."""

    def __init__(self, *, is_new: bool) -> None:
        self._so_far: float | None = 0.0 if is_new else None

    def since_last(self, result: dict[str, Any]) -> float | None:
        """What was spent since the result before, in dollars."""
        total, before = read_number(result.get("total_cost_usd")), self._so_far
        if total is not None:
            self._so_far = float(total)
        models = as_dict(result.get("model_usage_since_last_result"))
        costs = [read_number(as_dict(model).get("costUSD")) for model in models.values()]
        told = [cost for cost in costs if cost is not None]
        if told:
            return float(sum(told))
        if total is None or before is None or total < before:
            return None
        return float(total) - before


class TurnUsage:
    """The usage of one turn."""

    def __init__(self, costs: CostBook) -> None:
        self._costs = costs
        self._tokens: dict[str, int] = {}
        self._cost: float | None = None
        self._context: dict[str, int] = {}

    def saw_message(self, usage: Any) -> None:
        """The usage of one request of the main thread: what is in the context now."""
        told = as_dict(usage)
        counts = (read_count(told.get(key)) for key in (*_INPUT_KEYS, "cache_read_input_tokens"))
        held = sum(count for count in counts if count)
        if held:
            self._context["contextUsed"] = held + (read_count(told.get("output_tokens")) or 0)

    def saw_result(self, result: dict[str, Any]) -> None:
        """The usage of a `result`."""
        for key, count in _tokens(as_dict(result.get("usage"))).items():
            self._tokens[key] = self._tokens.get(key, 0) + count
        cost = self._costs.since_last(result)
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost
        models = [as_dict(model) for model in as_dict(result.get("modelUsage")).values()]
        sizes = [size for model in models if (size := read_count(model.get("contextWindow")))]
        if sizes and self._context:
            self._context["contextSize"] = max(sizes)

    def total(self) -> Usage:
        """All of it, in the keys of `native.UsageReported`."""
        usage: Usage = {**self._tokens, **self._context}
        if self._cost:  # a turn that reached no model costs nothing, and says so by silence
            usage["costAmount"] = round(self._cost, 6)
            usage["costCurrency"] = _CURRENCY
        return usage


def _tokens(told: dict[str, Any]) -> dict[str, int]:
    """Token counts of a result; nothing when it tells of none (an aborted request)."""
    details = as_dict(told.get("output_tokens_details"))
    counts = {
        "inputTokens": sum(read_count(told.get(key)) or 0 for key in _INPUT_KEYS),
        "outputTokens": read_count(told.get("output_tokens")) or 0,
        "cachedTokens": read_count(told.get("cache_read_input_tokens")) or 0,
    }
    total = sum(counts.values())
    if not total:
        return {}
    thoughts = read_count(details.get("thinking_tokens"))
    return {**counts, **({"thoughtTokens": thoughts} if thoughts else {}), "totalTokens": total}
