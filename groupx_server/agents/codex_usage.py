"""Tokens of one Codex turn, out of counts that go on through the whole thread.

Owns the thread's last known total. Codex tells the thread's total and the last model request,
after each request and again at other times; a turn is the sum of the requests that moved the
total. Invariant: the same report twice counts once; a report of an earlier turn (it comes after a
resume) only moves the total. The counterpart is `codex.py`.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_dict
from groupx_server.agents.token_usage import Usage, read_count, token_counts

_USED_UP: Final = 100
"""Percent."""


class ThreadUsage:
    """Token counts of one thread."""

    def __init__(self) -> None:
        self._total: Usage = {}
        self._turn: dict[str, int] = {}

    def begin_turn(self) -> None:
        """Count anew from here."""
        self._turn = {}

    def take(self, params: dict[str, Any], *, is_ours: bool) -> Usage:
        """Take a `thread/tokenUsage/updated`; the turn's usage so far, empty when nothing new
        belongs to it."""
        told = as_dict(params.get("tokenUsage"))
        total, last = token_counts(told.get("total")), token_counts(told.get("last"))
        is_news, self._total = total != self._total, total
        if not is_ours or not is_news:
            return {}
        for key, count in last.items():
            self._turn[key] = self._turn.get(key, 0) + int(count)
        usage: Usage = dict(self._turn)
        if "totalTokens" in last:
            usage["contextUsed"] = last["totalTokens"]
        if (size := read_count(told.get("modelContextWindow"))) is not None:
            usage["contextSize"] = size
        return usage


class RateLimits:
    """The account's limits as Codex last told them."""

    def __init__(self) -> None:
        self._told: dict[str, Any] = {}

    def take(self, params: dict[str, Any]) -> None:
        """Take an `account/rateLimits/updated`."""
        self._told = as_dict(params.get("rateLimits"))

    @property
    def resets_at(self) -> int | None:
        """When the last used-up window opens again, Unix seconds; None when none is used up."""
        times = []
        for window in (as_dict(self._told.get(key)) for key in ("primary", "secondary")):
            used, at = read_count(window.get("usedPercent")), read_count(window.get("resetsAt"))
            if at is not None and used is not None and used >= _USED_UP:
                times.append(at)
        return max(times, default=None)
