"""Token counts of a turn, from what the endpoint reports (nothing is guessed)."""

from __future__ import annotations

from typing import Any


class TokenCount:
    """Sums over the requests of one turn."""

    def __init__(self) -> None:
        self._sums = {"input": 0, "output": 0, "thought": 0, "cached": 0}
        self._seen = False

    def add(self, counts: dict[str, Any]) -> int:
        """Take one request's counts and return how many tokens its context held (0: unknown)."""
        if not counts:
            return 0
        taken = {
            "input": _count(counts.get("prompt_tokens")),
            "output": _count(counts.get("completion_tokens")),
            "thought": _detail(counts, "completion_tokens_details", "reasoning_tokens"),
            "cached": _detail(counts, "prompt_tokens_details", "cached_tokens"),
        }
        self._seen = True
        for name, value in taken.items():
            self._sums[name] += value
        return taken["input"] + taken["output"]

    def total(self) -> dict[str, int] | None:
        """The counts under ACP's names; None when the endpoint told nothing."""
        if not self._seen:
            return None
        sums = self._sums
        usage = {
            "inputTokens": sums["input"],
            "outputTokens": sums["output"],
            "totalTokens": sums["input"] + sums["output"],
        }
        if sums["thought"]:
            usage["thoughtTokens"] = sums["thought"]
        if sums["cached"]:
            usage["cachedReadTokens"] = sums["cached"]
        return usage


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _detail(counts: dict[str, Any], group: str, name: str) -> int:
    details = counts.get(group)
    return _count(details.get(name)) if isinstance(details, dict) else 0
