"""Disks that are really full, or fail, under a server process: set, healed, seen by the kernel.

`FailingDisk` makes system calls of the ledger's files fail inside the server (`faulty_disk.c`).
`SmallDisk` is a real file system of a few megabytes in a mount namespace of its own.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

SOURCE: Final = Path(__file__).with_name("faulty_disk.c")
KINDS: Final = ("write", "sync", "read")


class FailingDisk:
    """`fail("write", errno.EIO)` from now on; `heal()`."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler to build the failing disk with")
        library, self._control = folder / "faulty_disk.so", folder / "faulty_disk.control"
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True, timeout=60)
        self._control.write_bytes(bytes(len(KINDS)))
        self.environment = {"LD_PRELOAD": str(library), "FAULTY_DISK": str(self._control)}

    def fail(self, kind: str, code: int) -> None:
        self._set(KINDS.index(kind), code)

    def heal(self) -> None:
        for number in range(len(KINDS)):
            self._set(number, 0)

    def _set(self, number: int, code: int) -> None:
        with self._control.open("r+b") as file:  # in place: the server has it mapped
            file.seek(number)
            file.write(bytes([code]))


class SmallDisk:
    """A file system of its own, seen by what `launcher` starts."""

    def __init__(self, holder: subprocess.Popen[bytes], folder: Path) -> None:
        self.launcher = ["nsenter", "-t", str(holder.pid), "-U", "-m", "--preserve-credentials"]
        self.folder = Path(f"/proc/{holder.pid}/root{folder}")
        """The same files as seen from outside."""

    def fill(self) -> None:
        """Leave no free byte."""
        with (self.folder / "filler").open("ab", buffering=0) as file:
            size = 65_536
            while size:
                try:
                    file.write(b"x" * size)
                except OSError:
                    size //= 2

    def empty(self) -> None:
        """Give the space back."""
        (self.folder / "filler").unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """A small disk mounted at `folder`; skips the test where that is not allowed."""
    mount = f"mount -t tmpfs -o size={megabytes}m,mode=700 none '{folder}'"
    script = f"{mount} && echo ok && exec sleep 600"
    command = ["unshare", "-U", "-r", "-m", "sh", "-c", script]
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("no unshare or nsenter")
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert holder.stdout is not None
        if holder.stdout.readline() != b"ok\n":
            pytest.skip("a file system cannot be mounted here")
        yield SmallDisk(holder, folder)
    finally:
        holder.kill()
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()
