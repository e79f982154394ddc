"""The lease: one server per database, freed by the kernel."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from groupx_server.ledger.lease import Lease
from groupx_shared.errors import LedgerBusyError, LedgerError
from support.ledgers import fixed_now

HOLDER = """
import sys, signal
from pathlib import Path
from groupx_server.ledger.lease import Lease
from groupx_server.ledger.times import utc_now
lease = Lease.take(Path(sys.argv[1]), now=utc_now)
print("held", flush=True)
signal.pause()
"""


def test_second_server_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    database = tmp_path / "groupx.db"
    with Lease.take(database, now=fixed_now):
        with pytest.raises(LedgerBusyError) as refused:
            Lease.take(database, now=fixed_now)
        assert f"process {os.getpid()} since 2026-01-31T09:15:00.250Z" in refused.value.message
        assert "groupx stop" in refused.value.message
    Lease.take(database, now=fixed_now).release()


def test_lock_file_is_private_and_stays(tmp_path: Path) -> None:
    lease = Lease.take(tmp_path / "groupx.db", now=fixed_now)
    assert lease.path == tmp_path / "groupx.db.lock"
    assert lease.path.stat().st_mode & 0o777 == 0o600
    lease.release()
    lease.release()
    assert lease.path.exists()


def test_refused_server_does_not_erase_the_holder_s_name(tmp_path: Path) -> None:
    database = tmp_path / "groupx.db"
    with Lease.take(database, now=fixed_now) as lease:
        before = lease.path.read_text()
        for _ in range(2):
            with pytest.raises(LedgerBusyError):
                Lease.take(database, now=fixed_now)
        assert lease.path.read_text() == before


def test_hostile_text_in_the_lock_file_is_made_harmless(tmp_path: Path) -> None:
    database = tmp_path / "groupx.db"
    with Lease.take(database, now=fixed_now) as lease:
        lease.path.write_bytes(b"\x1b[2J\xff" + b"x" * 10_000)
        with pytest.raises(LedgerBusyError) as refused:
            Lease.take(database, now=fixed_now)
        assert "\x1b" not in refused.value.message
        assert len(refused.value.message) < 1000


def test_child_process_does_not_inherit_the_lock(tmp_path: Path) -> None:
    with Lease.take(tmp_path / "groupx.db", now=fixed_now) as lease:
        descriptor = lease._descriptor
        assert descriptor is not None
        assert fcntl.fcntl(descriptor, fcntl.F_GETFD) & fcntl.FD_CLOEXEC


def test_lock_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    (tmp_path / "groupx.db.lock").symlink_to(target)
    with pytest.raises(LedgerError, match="make the lock file"):
        Lease.take(tmp_path / "groupx.db", now=fixed_now)
    assert target.read_text() == "precious"


def test_folder_that_takes_no_file_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="file, not a folder"):
        Lease.take(tmp_path / "file" / "groupx.db", now=fixed_now)


def test_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(_: int, __: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(LedgerError, match="put the workspace on a local disk"):
        Lease.take(tmp_path / "groupx.db", now=fixed_now)


@pytest.mark.process
def test_killed_holder_leaves_nothing_to_clean_up(tmp_path: Path) -> None:
    database = tmp_path / "groupx.db"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(database)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LedgerBusyError, match=f"process {holder.pid} "):
            Lease.take(database, now=fixed_now)
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=5)
    Lease.take(database, now=fixed_now).release()
