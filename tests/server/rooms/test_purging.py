"""How a purge stands is told truly, and one that runs is joined, not done twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_server.ledger.accept import Source
from groupx_server.rooms.purging import MAX_KNOWN
from groupx_shared.errors import LedgerDiskError, RefusedError
from groupx_shared.wire.forgetting import RedactContent, RedactReply
from support.rooms import House, house

SECRET = "the quetzalcoatlus key is 7731"


async def _remove(rooms: House, event_id: str, command: str, *, purge: bool = True) -> RedactReply:
    request = RedactContent(client_command_id=command, purge=purge)
    return await rooms.service.forgetting.redact("event", event_id, request, Source())


def _stages(rooms: House) -> list[str]:
    told = [body["stage"] for body in rooms.listener.bodies("content.purging")]
    return list(dict.fromkeys(told))


async def test_each_stage_is_told_live_and_how_it_ended_is_known(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        reply = await _remove(rooms, said.message_event_id, "one")
        assert reply.checked
        assert _stages(rooms) == ["removing", "index", "wiping", "backups", "checking", "done"]
        (purge,) = rooms.service.forgetting.purges().purges
        assert (purge.ref_id, purge.stage, purge.left_in) == (said.message_event_id, "done", ())
        assert purge.checked
        assert purge.ended_at is not None


async def test_nothing_is_told_of_a_removal_without_a_purge(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        reply = await _remove(rooms, said.message_event_id, "one", purge=False)
        assert (reply.purged, reply.checked) == (False, False)
        assert _stages(rooms) == []
        assert rooms.service.forgetting.purges().purges == ()


async def test_a_second_one_for_the_same_text_waits_for_the_first_and_ends_alike(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        at_backups, go_on = asyncio.Event(), asyncio.Event()
        renewed: list[str] = []

        async def renew() -> list[str]:
            renewed.append("once")
            at_backups.set()
            await go_on.wait()
            return ["old.db"]

        rooms.service.forgetting.purging.renew_backups = renew
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            first = tasks.create_task(_remove(rooms, said.message_event_id, "one"))
            await at_backups.wait()
            purging = rooms.service.forgetting.purging
            second = tasks.create_task(purging.run(said.message_event_id, ()))
            await asyncio.sleep(0)
            go_on.set()
        assert renewed == ["once"]
        assert (first.result().checked, second.result().is_checked) == (True, True)
        assert first.result().removed_backups == second.result().removed_backups == ("old.db",)
        again = await _remove(rooms, said.message_event_id, "two")
        assert (again.checked, again.left_in) == (True, ())  # it was looked for the first time
        assert renewed == ["once", "once"]


async def test_another_text_waits_for_its_turn_and_says_so(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = [await rooms.send(f"{SECRET} {number}", to=[]) for number in range(2)]
        at_backups, go_on = asyncio.Event(), asyncio.Event()

        async def renew() -> list[str]:
            at_backups.set()
            await go_on.wait()
            return []

        rooms.service.forgetting.purging.renew_backups = renew
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            tasks.create_task(_remove(rooms, said[0].message_event_id, "one"))
            await at_backups.wait()
            tasks.create_task(_remove(rooms, said[1].message_event_id, "two"))
            await rooms.listener.until(lambda: "waiting" in _stages(rooms))
            go_on.set()
        assert [each.stage for each in rooms.service.forgetting.purges().purges] == ["done"] * 2


async def test_what_was_removed_before_is_purged_and_nobody_says_it_was_looked_for(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        await _remove(rooms, said.message_event_id, "one", purge=False)
        later = await _remove(rooms, said.message_event_id, "two")
        assert (later.purged, later.checked, later.left_in) == (True, False, ())


async def test_a_failure_is_told_with_its_reason(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])

        async def renew() -> list[str]:
            raise LedgerDiskError("The disk is full.")

        rooms.service.forgetting.purging.renew_backups = renew
        with pytest.raises(LedgerDiskError):
            await _remove(rooms, said.message_event_id, "one")
        (purge,) = rooms.service.forgetting.purges().purges
        assert (purge.stage, purge.error_message) == ("failed", "The disk is full.")
        assert purge.removed
        assert await rooms.events("content.redacted")  # the text itself is removed


async def test_what_is_refused_is_told_as_failed_and_the_last_ones_are_known(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        for number in range(MAX_KNOWN + 5):
            with pytest.raises(RefusedError):
                await _remove(rooms, f"evt_none{number}", f"c{number}")
        purges = rooms.service.forgetting.purges().purges
        assert len(purges) == MAX_KNOWN
        assert {(purge.stage, purge.removed) for purge in purges} == {("failed", False)}
        assert purges[-1].ref_id == f"evt_none{MAX_KNOWN + 4}"
