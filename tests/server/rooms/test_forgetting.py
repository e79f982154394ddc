"""After a purge no byte of a removed text is in any file of the ledger."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.accept import Source
from groupx_server.ledger.revocations import list_path
from groupx_server.ledger.search import Filters
from groupx_server.portability.keeper import BackupKeeper
from groupx_server.portability.rotation import Policy
from groupx_server.rooms.forgetting import remove_restored
from groupx_shared.wire.context import CompactContext
from groupx_shared.wire.forgetting import RedactContent, RedactReply
from support.rooms import NOW, House, house

SECRET = "the quetzalcoatlus key is 7731"
WORD = b"quetzalcoatlus"


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def _holding(folder: Path) -> list[str]:
    return [file.name for file in _files(folder) if WORD in file.read_bytes()]


async def _remove(rooms: House, event_id: str, **more: bool) -> RedactReply:
    rooms.commands += 1
    request = RedactContent(client_command_id=f"r{rooms.commands}", **more)
    return await rooms.service.forgetting.redact("event", event_id, request, Source())


async def _lived_in(rooms: House) -> str:
    """A room with the secret in messages, search, a summary and backups; the secret's event id."""
    for number in range(40):
        await rooms.send(f"before {number} " + "x" * 300, to=[])
    said = await rooms.send(SECRET, to=[])
    for number in range(40):
        await rooms.send(f"after {number} " + "y" * 300, to=[])
    await rooms.service.searching.find("quetzalcoatlus", Filters(), None, 5)
    rooms.fleet.plan("a", [ContentDelta("- The quetzalcoatlus key was named."), TurnCompleted()])
    request = CompactContext(client_command_id="sum", keep=1)
    await rooms.service.contexts.compact("room:main", request)
    await rooms.listener.until(lambda: bool(rooms.listener.bodies("context.compaction.completed")))
    return said.message_event_id


@pytest.mark.slow
async def test_a_purge_leaves_no_byte_in_database_journal_and_backups(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        event_id = await _lived_in(rooms)
        keeper = BackupKeeper(rooms.ledger, Policy(7, timedelta(days=7)))
        keeper.folder.mkdir()
        rooms.service.forgetting.purging.renew_backups = keeper.renew
        await rooms.ledger.backup(keeper.folder / "groupx-20260101-000000.bak.db")
        await rooms.ledger.backup(tmp_path / "groupx.v13-20260101-000000.bak.db")
        assert len(_holding(tmp_path)) >= 3
        reply = await _remove(rooms, event_id, purge=True)
        assert _holding(tmp_path) == []
        assert (reply.purged, reply.left_in, reply.summaries) == (True, (), 1)
        assert len(reply.removed_backups) == 2
        assert len(list(keeper.folder.iterdir())) == 1
        hits = (await rooms.service.searching.find("after", Filters(), None, 5)).hits
        assert hits  # the rest is found as before
        again = await rooms.send("still writing", to=[])
        assert again.seq > 80


@pytest.mark.slow
async def test_without_a_purge_the_text_is_gone_from_every_reply(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        event_id = await _lived_in(rooms)
        told: list[str] = []
        rooms.service.forgetting.on_removed = lambda: told.append("removed")
        reply = await _remove(rooms, event_id)
        assert not reply.purged
        assert told == ["removed"]
        assert WORD not in await rooms.service.event(event_id)
        page = await rooms.service.page("room:main", None, None, None, 500, ())
        assert not [event for event in page.events if WORD in event]
        found = await rooms.service.searching.find("quetzalcoatlus", Filters(), None, 5)
        assert found.hits == ()


async def test_what_quotes_it_is_named_and_a_purge_says_that_it_still_stands_there(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        quote = await rooms.send(f"Again: {SECRET}.", to=[])
        reply = await _remove(rooms, said.message_event_id, purge=True)
        assert reply.elsewhere == (quote.message_event_id,)
        assert reply.left_in == ("groupx.db",)
        reply = await _remove(rooms, quote.message_event_id, purge=True, copies=True)
        assert (reply.elsewhere, reply.left_in) == ((), ())
        assert _holding(tmp_path) == []


async def test_an_index_that_was_made_by_other_rules_keeps_no_word_either(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        await rooms.service.searching.find("quetzalcoatlus", Filters(), None, 5)
        await rooms.ledger.write(_index_other_words)
        assert (await _remove(rooms, said.message_event_id, purge=True)).left_in == ()
        left = [file.name for file in _files(tmp_path) if b"alcoatl" in file.read_bytes()]
        assert left == []


def _index_other_words(book: sqlite3.Connection) -> None:
    """As if earlier rules had put in words that today's do not make."""
    book.execute("INSERT INTO search_fts(rowid, text) VALUES (9999, 'quetzalcoatl quetzalcoatls')")
    book.execute(
        "UPDATE ledger_meta SET value = '{\"version\":0,\"seq\":1}' WHERE key = 'search_index'"
    )


async def test_the_same_command_removes_once_and_purges_again(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        request = RedactContent(client_command_id="once", purge=True)
        redact = rooms.service.forgetting.redact
        first = await redact("event", said.message_event_id, request, Source())
        second = await redact("event", said.message_event_id, request, Source())
        assert first.audit_event_id == second.audit_event_id
        assert second.purged


@pytest.mark.parametrize(
    "text", ["密码是小熊猫七七三一", "line one\nline “two” with quotes\t\\ end"]
)
async def test_any_script_and_any_escape_is_found_in_the_files(tmp_path: Path, text: str) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(text, to=[])
        await rooms.service.searching.find("小熊猫", Filters(), None, 5)
        reply = await _remove(rooms, said.message_event_id, purge=True)
        assert reply.left_in == ()
        probe = text[:9].encode()
        assert [f.name for f in _files(tmp_path) if probe in f.read_bytes()] == []


def _restore(backup: Path, database: Path) -> None:
    for journal in database.parent.glob("groupx.db-*"):
        journal.unlink()
    backup.replace(database)


async def test_a_restored_backup_does_not_bring_it_back(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        await rooms.send("something else", to=[])
        backup = tmp_path / "elsewhere.db"
        await rooms.ledger.backup(backup)
        await _remove(rooms, said.message_event_id, purge=True)
    _restore(backup, tmp_path / "groupx.db")
    assert _holding(tmp_path) == ["groupx.db"]
    async with house(tmp_path) as rooms:
        assert await remove_restored(rooms.ledger, NOW) == 1
        assert await remove_restored(rooms.ledger, NOW) == 0
        assert WORD not in await rooms.service.event(said.message_event_id)
        assert _holding(tmp_path) == []
        assert (await rooms.events("message.created"))[1]["body"]["content"] == "something else"
    listed = (tmp_path / "groupx.removed.jsonl").read_text("utf-8")
    assert listed.count("\n") == 1
    assert "quetzal" not in listed


async def test_a_list_that_was_lost_is_written_again_at_the_next_start(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        said = await rooms.send(SECRET, to=[])
        await _remove(rooms, said.message_event_id)
        path = list_path(rooms.ledger.path)
        whole = path.read_text("utf-8")
        path.unlink()
        assert await remove_restored(rooms.ledger, NOW) == 0
        assert path.read_text("utf-8") == whole
