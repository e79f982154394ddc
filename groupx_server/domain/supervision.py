"""Observers: who may watch whom, and how often a watched turn may be steered.

An observer never works on what it watches, and never watches whoever called it: its advice goes
one way. The rows of a pair are `ledger/pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from groupx_shared.errors import ErrorCode, RefusedError

DEFAULT_BRIEF: Final = "Watch what they do with this message, and step in when it goes wrong."
"""What observers are told when whoever ordered them said nothing else."""


def check_pair(workers: Sequence[str], observers: Sequence[str], caller: str) -> None:
    """Refuse a pair that cannot work.

    Raises: RefusedError (SUPERVISION_PAIR_INVALID).
    """
    if not workers:
        raise _invalid("there is nobody to watch: the message wakes no agent")
    both = [actor for actor in observers if actor in workers]
    if both:
        raise _invalid(f"{both[0]} would watch itself; name another observer")
    if caller in observers:
        raise _invalid(f"{caller} ordered the watch and works on its own turn meanwhile")


def check_steers(used: int, limit: int, subject: str) -> None:
    """Refuse more advice for one turn than `limits.steersPerSubjectTurn`.

    Raises: RefusedError (STEER_LIMIT_REACHED).
    """
    if used >= limit:
        raise RefusedError(
            f"The turn {subject} was steered {used} times already; the limit is {limit} "
            "(limits.steersPerSubjectTurn). Say in your final answer what should be done.",
            code=ErrorCode.STEER_LIMIT_REACHED,
            details={"limit": limit, "steerCount": used},
        )


def _invalid(why: str) -> RefusedError:
    return RefusedError(f"Nobody can watch this: {why}.", code=ErrorCode.SUPERVISION_PAIR_INVALID)
