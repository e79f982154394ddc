"""One sentence for all that is wrong, told to the log once each way."""

from __future__ import annotations

from groupx_server.ledger.health import Health
from support.captured_logs import capture_logs


def test_a_failure_is_told_until_the_same_thing_works_again() -> None:
    health = Health()
    health.note("commit", "The disk is full.")
    health.note("read", None)
    assert health.problem == "The disk is full."
    health.note("commit", None)
    assert health.problem is None


def test_damage_stays_and_comes_first() -> None:
    health = Health()
    health.note("commit", "The disk is full.")
    health.note("damage", "The file is damaged.")
    health.note("commit", None)
    assert health.problem == "The file is damaged."


def test_each_change_is_logged_once() -> None:
    health = Health()
    with capture_logs() as entries:
        for _ in range(3):
            health.note("commit", "The disk is full.")
        health.note("checkpoint", "The disk is full, too.")
        for _ in range(3):
            health.note("commit", None)
        health.note("checkpoint", None)
        health.note("checkpoint", None)
    assert [(entry["event"], entry.get("error")) for entry in entries] == [
        ("ledger.failed", "The disk is full."),
        ("ledger.failed", "The disk is full, too."),
        ("ledger.recovered", None),
    ]
