"""Chains of agents calling agents, as lists of actors: cycles and going back and forth.

A chain is read from the caller up: the caller first, then the agent that called it, and so on to
the one that a person woke. Reading it from the ledger is `ledger/lineage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groupx_shared.errors import ErrorCode, RefusedError


def check_cycle(chain: Sequence[str], targets: Iterable[str]) -> None:
    """Refuse to wait for somebody who waits, directly or not, for this very call.

    Raises: RefusedError (CAUSAL_CYCLE).
    """
    for target in targets:
        if target in chain:
            whom = "itself" if target == chain[0] else f"{target}, which is waiting above it"
            raise RefusedError(
                f"{chain[0]} cannot wait for {whom}: neither would ever go on. Answer in your "
                "final text, or use “send”, which does not wait.",
                code=ErrorCode.CAUSAL_CYCLE,
                details={"target": target, "chain": list(chain)},
            )


def calls_in_a_row(chain: Sequence[str], target: str) -> int:
    """How many calls in a row, this one included, went only between the caller and `target`."""
    count = 0
    pair = (chain[0], target)
    for actor in chain:
        if actor != pair[count % 2]:
            break
        count += 1
    return count
