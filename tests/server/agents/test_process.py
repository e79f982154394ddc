"""Child processes: started with care, ended with everything they started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from groupx_server.agents.process import AgentProcess, ProcessEnd, start_sidecar
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import LIMIT_S, NoGuard, is_running, until

pytestmark = pytest.mark.process
PYTHON = [sys.executable, "-S", "-c"]
SAY_PID_AND_WAIT = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
IGNORE_ALL = (
    "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print(os.getpid(), flush=True)\nwhile True: signal.pause()"
)
WITH_CHILD = (
    "import signal, subprocess, sys;"
    "child = subprocess.Popen([sys.executable, '-S', '-c', {child!r}], stdout=subprocess.PIPE);"
    "print(child.stdout.readline().decode().strip(), flush=True);"
    "sys.stdin.read()"
)


class Sink:
    """Remembers what came."""

    def __init__(self) -> None:
        self.data = b""
        self.ends: list[ProcessEnd] = []
        self.changed = asyncio.Event()
        self.process: AgentProcess | None = None
        self.pause_after: int | None = None

    def on_output(self, data: bytes) -> None:
        self.data += data
        if self.process and self.pause_after is not None and len(self.data) >= self.pause_after:
            self.process.pause_reading()
        self.changed.set()

    def on_ended(self, end: ProcessEnd) -> None:
        self.ends.append(end)
        self.changed.set()

    async def line(self) -> str:
        async with asyncio.timeout(LIMIT_S):
            while b"\n" not in self.data:
                self.changed.clear()
                await self.changed.wait()
        return self.data.partition(b"\n")[0].decode()

    async def end(self) -> ProcessEnd:
        async with asyncio.timeout(LIMIT_S):
            while not self.ends:
                self.changed.clear()
                await self.changed.wait()
        return self.ends[0]


class Bench:
    """Starts processes of one test and ends them all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.guard = NoGuard()
        self.started: list[AgentProcess] = []

    async def start(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None
    ) -> tuple[AgentProcess, Sink]:
        sink = Sink()
        process = await AgentProcess.spawn(
            argv,
            cwd=self.folder,
            env=os.environ if env is None else env,
            label="toy",
            sink=sink,
            guard=self.guard,
        )
        sink.process = process
        self.started.append(process)
        return process, sink

    async def run(self, code: str) -> tuple[AgentProcess, Sink]:
        return await self.start([*PYTHON, code])


@pytest.fixture
async def bench(tmp_path: Path):  # type: ignore[no-untyped-def]
    bench = Bench(tmp_path)
    yield bench
    for process in bench.started:
        await process.stop(0)
    await until(lambda: bench.guard.groups == set(), "every group was withdrawn")


async def test_a_program_lives_in_a_group_of_its_own_which_is_guarded(bench: Bench) -> None:
    process, sink = await bench.run(SAY_PID_AND_WAIT)
    pid = int(await sink.line())
    assert process.pid == pid
    assert os.getpgid(pid) == pid != os.getpgid(0)
    assert os.getsid(pid) == pid
    assert bench.guard.groups == {pid}


async def test_closing_stdin_is_enough_for_a_program_that_listens(bench: Bench) -> None:
    process, sink = await bench.run(SAY_PID_AND_WAIT)
    await sink.line()
    await process.stop(LIMIT_S)
    assert (await sink.end()).status == 0
    assert process.pid is None
    assert bench.guard.groups == set()


async def test_a_program_that_ignores_the_end_of_stdin_gets_a_term(bench: Bench) -> None:
    process, sink = await bench.run("import signal; print(1, flush=True); signal.pause()")
    await sink.line()
    await process.stop(0.05)
    assert (await sink.end()).status == -signal.SIGTERM


@pytest.mark.slow
async def test_a_program_that_ignores_term_is_killed(bench: Bench) -> None:
    process, sink = await bench.run(IGNORE_ALL)
    pid = int(await sink.line())
    await process.stop(0.05)
    assert not is_running(pid)
    assert (await sink.end()).status == -signal.SIGKILL


async def test_a_grandchild_ends_with_the_program(bench: Bench) -> None:
    child = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
    process, sink = await bench.run(WITH_CHILD.format(child=child))
    grandchild = int(await sink.line())
    await process.stop(LIMIT_S)
    assert not is_running(grandchild)


@pytest.mark.slow
async def test_a_grandchild_that_ignores_term_is_killed_too(bench: Bench) -> None:
    process, sink = await bench.run(WITH_CHILD.format(child=IGNORE_ALL))
    grandchild = int(await sink.line())
    await process.stop(LIMIT_S)
    assert not is_running(grandchild)


async def test_stop_can_be_called_by_many_and_again(bench: Bench) -> None:
    process, sink = await bench.run(SAY_PID_AND_WAIT)
    await sink.line()
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(process.stop(1))
    await process.stop(1)
    assert len(sink.ends) == 1


@pytest.mark.slow
async def test_a_cancelled_stop_leaves_a_dead_group(bench: Bench) -> None:
    process, sink = await bench.run(IGNORE_ALL)
    pid = int(await sink.line())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(process.stop(60))
        await asyncio.sleep(0)
        task.cancel()
    await until(lambda: not is_running(pid), "the process is gone")
    await until(lambda: bench.guard.groups == set(), "the guard knows")


@pytest.mark.parametrize("steps", range(12))
async def test_a_spawn_cancelled_at_any_moment_leaves_nothing(bench: Bench, steps: int) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(bench.run(SAY_PID_AND_WAIT))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
    for process in bench.started:  # it was quicker than the cancel
        await process.stop(0)
    for pid in bench.guard.added:
        await until(partial(_is_gone, pid), "the process is gone")
    await until(lambda: bench.guard.groups == set(), "the guard knows")


def _is_gone(pid: int) -> bool:
    return not is_running(pid)


async def test_what_was_written_before_the_exit_is_still_read(bench: Bench) -> None:
    _, sink = await bench.run("import sys; sys.stdout.write('x' * 1_000_000); sys.exit(4)")
    end = await sink.end()
    assert len(sink.data) == 1_000_000
    assert end.status == 4
    assert end.sentence == "toy exited with status 4."


async def test_the_end_waits_until_a_paused_reader_has_read_everything(bench: Bench) -> None:
    process, sink = await bench.run("import sys; sys.stdout.write('x' * 300_000)")
    sink.pause_after = 1
    await until(lambda: process.pid is None or len(sink.data) > 0, "something came")
    for _ in range(100):
        assert sink.ends == []
        sink.changed.clear()
        process.resume_reading()
        async with asyncio.timeout(LIMIT_S):
            await sink.changed.wait()
        if sink.ends:
            break
    await sink.end()
    assert len(sink.data) == 300_000


async def test_the_last_words_are_part_of_the_reason(bench: Bench) -> None:
    code = "import sys; sys.stderr.write('first\\n\\x1b[31mno such model\\x1b[0m\\n'); sys.exit(2)"
    process, sink = await bench.run(code)
    assert (await sink.end()).sentence == (
        "toy exited with status 2; its last words were: no such model"
    )
    assert process.stderr_tail() == "first\nno such model"


@pytest.mark.slow
async def test_a_pipe_held_by_a_grandchild_does_not_hide_the_exit(bench: Bench) -> None:
    code = (
        "import subprocess, sys;"
        "subprocess.Popen([sys.executable, '-S', '-c', 'import signal; signal.pause()']);"
        "sys.exit(5)"
    )
    _, sink = await bench.run(code)
    assert (await sink.end()).status == 5


async def test_writing_to_a_program_that_is_gone_is_no_error(bench: Bench) -> None:
    process, sink = await bench.run("pass")
    await sink.end()
    await process.stop(0)
    assert process.write(b"hello") is False
    assert process.unsent_bytes == 0


async def test_only_the_given_environment_arrives(bench: Bench) -> None:
    code = "import os; print(sorted(k for k in os.environ if k != 'LC_CTYPE'))"
    _, sink = await bench.start([*PYTHON, code], {"TOY": "1"})
    assert await sink.line() == "['TOY']"


# --- what cannot be started ------------------------------------------------------------------


async def refused(bench: Bench, argv: Sequence[str]) -> AgentError:
    with pytest.raises(AgentError) as failed:
        await bench.start(argv, {"PATH": str(bench.folder)})
    assert failed.value.code is ErrorCode.ADAPTER_START_FAILED
    assert bench.guard.added == []
    return failed.value


async def test_a_missing_program_is_named(bench: Bench) -> None:
    error = await refused(bench, ["kimi", "acp"])
    assert error.message.startswith(
        "toy could not be started: the program kimi is not on its PATH."
    )
    assert error.details == {"program": "kimi"}


async def test_a_missing_path_is_named(bench: Bench) -> None:
    assert "/no/such/agent does not exist" in (await refused(bench, ["/no/such/agent"])).message


async def test_a_file_that_is_not_executable_is_named(bench: Bench) -> None:
    (bench.folder / "agent").write_text("#!/bin/sh\n")
    assert "is not executable" in (await refused(bench, ["./agent"])).message


async def test_a_file_that_is_no_program_is_named(bench: Bench) -> None:
    program = bench.folder / "agent"
    program.write_text("this is no program\n")
    program.chmod(0o755)
    assert "could not be run" in (await refused(bench, ["./agent"])).message


async def test_a_missing_folder_is_named(bench: Bench) -> None:
    bench.folder = bench.folder / "gone"
    assert "gone does not exist" in (await refused(bench, [sys.executable])).message


async def test_an_empty_command_is_named(bench: Bench) -> None:
    assert "no command is configured" in (await refused(bench, [])).message


# --- sidecars --------------------------------------------------------------------------------


async def test_a_sidecar_ends_when_its_pipe_is_closed() -> None:
    sidecar = start_sidecar([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"])
    assert sidecar.write(b"hello\n")
    await sidecar.close(LIMIT_S)
    assert not is_running(sidecar.pid)
    assert sidecar.write(b"late") is False


async def test_a_sidecar_that_does_not_end_is_killed() -> None:
    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
    sidecar = start_sidecar([sys.executable, "-S", "-c", code])
    await sidecar.close(0.1)
    assert not is_running(sidecar.pid)
