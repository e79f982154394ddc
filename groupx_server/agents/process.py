"""Child processes: the only place that starts, feeds, watches and ends them.

Owns the process, its three pipes and its process group. Invariants: every child has a session and
a group of its own and is covered by the guard before it is told anything; stderr is always
drained; whatever happens, also cancellation, the whole group is gone after `stop`. Output is
pushed to a sink (no reader task, no line limit); the sink pauses reading when it has enough.
The counterpart is a driver, which is the sink.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

from groupx_server.agents.process_group import POLL_S, TERM_S, group_is_alive, signal_group
from groupx_server.agents.stderr_ring import StderrRing
from groupx_shared.errors import AgentError
from groupx_shared.text import safe_line

_KILL_S: Final = 2.0
"""After KILL only the kernel can be late."""
_EXIT_DRAIN_S: Final = 0.5
"""After the exit, how long output that is still in the pipe is read; a grandchild may hold the
pipe open for ever."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """Why nothing more comes. `status` as the shell counts it, negative for a signal; None when
    the program closed its output and goes on running."""

    status: int | None
    sentence: str


class OutputSink(Protocol):
    """Who takes a program's output."""

    def on_output(self, data: bytes) -> None:
        """The next bytes of stdout."""
        ...

    def on_ended(self, end: ProcessEnd) -> None:
        """No more output comes. Called once."""
        ...


class _Guard(Protocol):
    def add(self, pgid: int) -> None: ...
    def remove(self, pgid: int) -> None: ...


class AgentProcess(asyncio.SubprocessProtocol):
    """One running program; made by `spawn`."""

    def __init__(self, label: str, sink: OutputSink, guard: _Guard) -> None:
        self._label = label
        self._sink = sink
        self._guard = guard
        self._stderr = StderrRing()
        self._transport: asyncio.SubprocessTransport | None = None
        self._pid = 0
        self._exited = asyncio.Event()
        self._stopping = asyncio.Lock()
        self._open_pipes = {1, 2}
        self._reading = True
        self._told = False
        self._is_closed = False
        self._is_gone = False

    @classmethod
    async def spawn(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        label: str,
        sink: OutputSink,
        guard: _Guard,
    ) -> AgentProcess:
        """Start a program. `label` names it in sentences.

        Raises: AgentError (ADAPTER_START_FAILED) saying what was not found and what to do.
        """
        program = _find_program(argv, cwd, env, label)
        loop = asyncio.get_running_loop()
        process = cls(label, sink, guard)
        try:
            await loop.subprocess_exec(
                lambda: process,
                program,
                *argv[1:],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=os.fspath(cwd),
                env=dict(env),
                start_new_session=True,
            )
        except OSError as error:
            raise _start_error(
                label, f"{program} could not be run: {error.strerror or error}", argv
            ) from error
        except BaseException:
            process.kill_now()
            process._release()
            raise
        return process

    # --- asyncio.SubprocessProtocol ---------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The child runs: cover it before anything is written to it."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._pid = self._transport.get_pid() or 0
        self._guard.add(self._pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Output of the child."""
        if fd == 1:
            self._sink.on_output(data)
        else:
            self._stderr.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe ended; the end of stdout is the end of the conversation."""
        self._open_pipes.discard(fd)
        if fd == 1 or not self._open_pipes:
            self._end_soon()

    def process_exited(self) -> None:
        """The child is gone; its last output may still be in the pipe. What is left of its
        group has nobody to talk to."""
        self._exited.set()
        if not self._group_is_gone():
            self._signal(signal.SIGTERM)
        self._end_soon()
        if self._is_closed:
            asyncio.get_running_loop().call_later(_EXIT_DRAIN_S, self._uncover)

    # --- for the driver ---------------------------------------------------------------------

    @property
    def pid(self) -> int | None:
        """Process id (and group id) while it runs."""
        return None if self._exited.is_set() else self._pid

    @property
    def exit_status(self) -> int | None:
        """Exit status as the shell counts it, negative for a signal; None while it runs."""
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def unsent_bytes(self) -> int:
        """Bytes written and not yet taken by the program."""
        pipe = self._stdin()
        return pipe.get_write_buffer_size() if pipe is not None else 0

    def write(self, data: bytes) -> bool:
        """Queue bytes for stdin; False when the program no longer takes any."""
        pipe = self._stdin()
        if pipe is None or pipe.is_closing():
            return False
        pipe.write(data)
        return True

    def pause_reading(self) -> None:
        """Take no more output; the program blocks when the pipe is full."""
        if self._reading and 1 in self._open_pipes and (pipe := self._stdout()) is not None:
            pipe.pause_reading()
            self._reading = False

    def resume_reading(self) -> None:
        """Take output again."""
        if not self._reading and (pipe := self._stdout()) is not None:
            self._reading = True
            if not pipe.is_closing():
                pipe.resume_reading()
            if self._exited.is_set():
                self._end_soon()

    def stderr_tail(self) -> str:
        """The last lines of stderr, cleaned and bounded."""
        return self._stderr.text()

    def kill_now(self) -> None:
        """KILL the whole group without waiting."""
        self._signal(signal.SIGKILL)

    async def stop(self, grace_s: float) -> None:
        """End the group: close stdin, wait `grace_s`, TERM, wait, KILL, wait. Bounded; safe to
        call again and from several tasks. A cancelled caller leaves a killed group behind."""
        try:
            async with self._stopping:
                await self._stop(grace_s)
        except BaseException:
            self._signal(signal.SIGKILL)
            raise
        finally:
            self._release()

    async def _stop(self, grace_s: float) -> None:
        if (pipe := self._stdin()) is not None and not pipe.is_closing():
            pipe.close()
        self.resume_reading()
        if grace_s > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._exited.wait()
        if not self._group_is_gone():
            self._signal(signal.SIGTERM)
            if not await self._wait_gone(TERM_S):
                self._signal(signal.SIGKILL)
                await self._wait_gone(_KILL_S)

    def _release(self) -> None:
        self._is_closed = True
        if self._transport is not None:
            self._transport.close()
        self._uncover()

    def _uncover(self) -> None:
        if self._pid and self._group_is_gone():
            self._guard.remove(self._pid)

    async def _wait_gone(self, timeout_s: float) -> bool:
        deadline = asyncio.get_running_loop().time() + timeout_s
        while not self._group_is_gone():
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True

    def _group_is_gone(self) -> bool:
        """Gone is: the leader is collected and nobody living is left in its group. From then on
        the number may belong to somebody else, so it is never looked at again."""
        if self._transport is None:
            return True
        if not self._is_gone and self._exited.is_set():
            self._is_gone = not group_is_alive(self._pid)
        return self._is_gone

    def _signal(self, number: int) -> None:
        if not self._is_gone:
            signal_group(self._pid, number)

    def _end_soon(self) -> None:
        """Tell the sink once the exit and the end of both pipes are known, or soon after one."""
        if self._told or not self._reading:
            return
        if not self._open_pipes and self._exited.is_set():
            self._tell()
            return
        asyncio.get_running_loop().call_later(_EXIT_DRAIN_S, self._tell)

    def _tell(self) -> None:
        if self._told or not self._reading:
            return
        self._told = True
        if not self._exited.is_set():
            self._signal(signal.SIGTERM)  # it closed its output: nobody can talk with it any more
        self._sink.on_ended(self._end())

    def _end(self) -> ProcessEnd:
        status = self._transport.get_returncode() if self._transport is not None else None
        if not self._exited.is_set() or status is None:
            what = f"{self._label} closed its output without exiting"
        elif status < 0:
            what = f"{self._label} was ended by {_signal_name(-status)}"
        else:
            what = f"{self._label} exited with status {status}"
        last = safe_line(self._stderr.last_line(), 300)
        return ProcessEnd(status, f"{what}; its last words were: {last}" if last else f"{what}.")

    def _stdin(self) -> asyncio.WriteTransport | None:
        return cast("asyncio.WriteTransport | None", self._pipe(0))

    def _stdout(self) -> asyncio.ReadTransport | None:
        return cast("asyncio.ReadTransport | None", self._pipe(1))

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return None if self._transport is None else self._transport.get_pipe_transport(fd)


class Sidecar:
    """A small helper program of ours that reads from a pipe; made by `start_sidecar`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._process.pid

    def write(self, data: bytes) -> bool:
        """Write a short line at once; False when the program is gone or does not read."""
        if self._process.stdin is None or self._process.stdin.closed:
            return False
        try:
            return os.write(self._process.stdin.fileno(), data) == len(data)
        except OSError:
            return False

    def discard(self) -> None:
        """Kill a program that is dead or stuck and collect it, before its pipe is closed: what
        it would do at the end of the pipe is not wanted."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_S)
        self._close_pipe()

    async def close(self, timeout_s: float) -> None:
        """Close the pipe and wait for the exit; after `timeout_s` the program is killed."""
        self._close_pipe()
        deadline = asyncio.get_running_loop().time() + timeout_s
        while self._process.poll() is None:
            if asyncio.get_running_loop().time() >= deadline:
                self._process.kill()
                deadline += timeout_s
            await asyncio.sleep(POLL_S)

    def _close_pipe(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()


def start_sidecar(argv: Sequence[str]) -> Sidecar:
    """Start a helper program in a session of its own, silent, with a pipe on its stdin."""
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    )
    if process.stdin is not None:
        os.set_blocking(process.stdin.fileno(), False)
    return Sidecar(process)


def _find_program(argv: Sequence[str], cwd: Path, env: Mapping[str, str], label: str) -> str:
    if not argv or not argv[0]:
        raise _start_error(label, "no command is configured for it", argv)
    if not cwd.is_dir():
        raise _start_error(label, f"its folder {cwd} does not exist", argv)
    name = argv[0]
    if "/" in name:
        path = cwd / name
        if not path.is_file():
            raise _start_error(label, f"the program {path} does not exist", argv)
        if not os.access(path, os.X_OK):
            raise _start_error(label, f"the program {path} is not executable", argv)
        return os.fspath(path)
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    if found is None:
        raise _start_error(label, f"the program {name} is not on its PATH", argv)
    return found


def _start_error(label: str, found: str, argv: Sequence[str]) -> AgentError:
    return AgentError(
        f"{label} could not be started: {safe_line(found, 400)}. Install the program, or correct "
        "the agent's command and folder in the settings.",
        details={"program": safe_line(argv[0], 200) if argv else ""},
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
