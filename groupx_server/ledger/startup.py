"""What a start does to the rows, in one transaction, before anybody can ask; and what another
roster does to them later."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import NO_RECOLLECTION, Recollection
from groupx_server.ledger.actors import disable_others, upsert_agent
from groupx_server.ledger.advice import settle_left_advice
from groupx_server.ledger.bindings import interrupt_leftovers
from groupx_server.ledger.compactions import settle_left_compactions
from groupx_server.ledger.recovery import Recovery, recover
from groupx_server.ledger.steers import settle_left_nudges


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One agent of the roster, as the ledger keeps it."""

    actor_id: str
    display_name: str
    enabled: bool


def settle_at_start(
    connection: sqlite3.Connection,
    roster: Sequence[RosterRow],
    limits: Limits,
    now: str,
    recallable: Mapping[str, Recollection] = NO_RECOLLECTION,
) -> Recovery:
    """Bring the actors up to date, close what an earlier server's processes left open, and settle
    the turns it was working on (those of `recallable` agents as `recover` says)."""
    take_roster(connection, roster, now)
    interrupt_leftovers(connection, now)
    settle_left_nudges(connection, now)
    settle_left_advice(connection, now)
    settle_left_compactions(connection, now)
    return recover(connection, limits, now, recallable)


def take_roster(connection: sqlite3.Connection, roster: Sequence[RosterRow], now: str) -> None:
    """Bring the actors up to date with the config."""
    for row in roster:
        upsert_agent(connection, row.actor_id, row.display_name, row.enabled, now)
    disable_others(connection, [row.actor_id for row in roster], now)
