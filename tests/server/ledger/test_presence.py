"""A database that is deleted, moved or replaced under the server: refused at once, and rescued."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from groupx_server.ledger.presence import identity
from groupx_server.ledger.store import Ledger
from groupx_shared.errors import LedgerDiskError
from support.ledgers import fixed_now, opened


def remember(key: str) -> Callable[[sqlite3.Connection], None]:
    def step(book: sqlite3.Connection) -> None:
        book.execute("INSERT INTO ledger_meta VALUES (?, 'x')", (key,))

    return step


def keys(path: Path) -> set[str]:
    with opened(path) as book:
        return {key for (key,) in book.execute("SELECT key FROM ledger_meta")}


def rescued(folder: Path) -> list[Path]:
    return list(folder.glob("groupx.rescued-*.bak.db"))


def _delete(path: Path) -> None:
    path.unlink()


def _move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def _replace(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    copy.rename(path)


def _delete_wal(path: Path) -> None:
    path.with_name("groupx.db-wal").unlink()


def _delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("lose", [_delete, _move, _replace, _delete_wal, _delete_folder])
async def test_a_lost_file_refuses_writes_and_all_that_was_accepted_is_in_the_named_copy(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    path = tmp_path / "data" / "groupx.db"
    async with await Ledger.open(path, now=fixed_now) as ledger:
        await ledger.write(remember("accepted"))
        lose(path)
        for _ in range(2):
            with pytest.raises(LedgerDiskError, match="was deleted, moved or replaced") as refused:
                await ledger.write(remember("refused"))
        (copy,) = rescued(path.parent)
        assert str(copy) in refused.value.message
        assert "accepted" in keys(copy)
        assert "refused" not in keys(copy)
        assert ledger.problem == refused.value.message
        assert (
            await ledger.read(
                lambda book: book.execute(
                    "SELECT count(*) FROM ledger_meta WHERE key = 'accepted'"
                ).fetchone()[0]
            )
            == 1
        )


async def test_a_file_lost_while_nobody_writes_is_rescued_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    async with await Ledger.open(path) as ledger:
        await ledger.write(remember("accepted"))
        path.unlink()
    (copy,) = rescued(tmp_path)
    assert "accepted" in keys(copy)


async def test_a_copy_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    path = tmp_path / "data" / "groupx.db"
    async with await Ledger.open(path) as ledger:
        await ledger.write(remember("accepted"))
        shutil.rmtree(path.parent)
        path.parent.write_text("a file where the folder was")
        with pytest.raises(LedgerDiskError, match="could not be copied") as refused:
            await ledger.write(remember("refused"))
        assert "keep the server running" in refused.value.message


def test_identity_of_nothing_is_none(tmp_path: Path) -> None:
    assert identity(tmp_path / "no") is None
    assert identity(tmp_path) == identity(tmp_path / "." / ".." / tmp_path.name)
