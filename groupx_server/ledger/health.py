"""What does not work with the ledger right now, in sentences for people and for the log.

One sentence for each thing that is tried: commits, checkpoints, reads, and damage, which stays.
Noted in the loop's thread only; a change of the whole is logged once, both ways.
"""

from __future__ import annotations

from typing import Literal

from groupx_server.logs import get_logger

Part = Literal["damage", "commit", "checkpoint", "read"]

log = get_logger(__name__)


class Health:
    """`problem` is None while all is well."""

    def __init__(self) -> None:
        self._failures: dict[Part, str] = {}

    def note(self, part: Part, failure: str | None) -> None:
        """Say how `part` went the last time: a sentence, or None when it worked."""
        if failure is None and part not in self._failures:
            return  # every commit and read passes here
        before = self.problem
        if failure is None:
            del self._failures[part]
        else:
            self._failures[part] = failure
        self._tell(before, self.problem)

    def _tell(self, before: str | None, now: str | None) -> None:
        if now is not None and now != before:
            log.error("ledger.failed", error=now)
        elif now is None:
            log.info("ledger.recovered")

    @property
    def problem(self) -> str | None:
        """The sentence of the oldest thing that does not work."""
        return self._failures.get("damage") or next(iter(self._failures.values()), None)
