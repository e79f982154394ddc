"""Starting, stopping and using GroupX as a person or a script does: the real programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_shared.runtime import read_runtime
from groupx_shared.workspace import find_workspace
from support.command_line import command, groupx, groupx_json
from support.server_process import ServerProcess
from support.waiting import eventually

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A workspace with a scripted agent and the guide; its server is stopped at the end."""
    server = ServerProcess(tmp_path)
    config = {"agents": {"bot": server.agent_config(), "guide": {"driver": "builtin"}}}
    (tmp_path / "groupx.json").write_text(json.dumps(config))
    os.environ["GROUPX_MODEL_DISCOVERY"] = "0"
    yield tmp_path
    groupx(tmp_path, "stop", code=None)


def _pid(folder: Path) -> int:
    runtime = read_runtime(find_workspace(folder))
    assert runtime is not None
    return runtime.pid


def test_ten_starts_at_once_give_one_server(folder: Path) -> None:
    starts = [
        subprocess.Popen(
            command(folder, "start"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        for _ in range(10)
    ]
    assert [start.wait(60) for start in starts] == [0] * 10
    pid = _pid(folder)
    os.kill(pid, 0)
    log = (folder / ".groupx" / "logs" / "server.log").read_text()
    assert log.count('"event": "server.ready"') == 1


def test_a_pipe_gets_its_answer(folder: Path) -> None:
    assert groupx(folder, "send", "--wait", text="[[say hello to you]]").stdout == "hello to you\n"


def test_wait_with_json_prints_one_object(folder: Path) -> None:
    result = groupx_json(folder, "send", "--wait", "--to", "bot", "[[say ok]]")
    assert set(result) == {"roomId", "messageEventId", "correlationId", "turns"}
    (turn,) = result["turns"]
    assert (turn["target"], turn["status"], turn["content"]) == ("agent:bot", "completed", "ok")


def test_exit_codes_say_how_it_ended(folder: Path) -> None:
    groupx(folder, "send", "--wait", "[[error -32603 no credit]]", code=1)
    groupx(folder, "send", "--nonsense", code=2)
    groupx(folder, "send", "--wait", "--timeout", "1", "[[silent]]", code=4)
    groupx(folder, "send", "--to", "nobody", "hi", code=6)
    groupx(folder, "turns", "show", "turn_none", code=6)


def test_a_restart_is_another_process_on_the_same_ledger(folder: Path) -> None:
    groupx(folder, "send", "--wait", "[[say one]]")
    first = _pid(folder)
    groupx(folder, "restart")
    assert _pid(folder) != first
    assert "one" in groupx(folder, "history").stdout


def test_stop_ends_the_server_and_its_agents_and_a_second_stop_is_harmless(folder: Path) -> None:
    pid_text = groupx(folder, "send", "--wait", "[[child]]").stdout
    grandchild = int(pid_text)
    server = _pid(folder)
    groupx(folder, "stop")
    eventually(lambda: not _lives(server) and not _lives(grandchild), within_s=10)
    groupx(folder, "stop", code=None)


def test_a_hangup_leaves_a_background_server_alone(folder: Path) -> None:
    groupx(folder, "start")
    os.kill(_pid(folder), signal.SIGHUP)
    assert groupx(folder, "send", "--wait", "[[say still here]]").stdout == "still here\n"


def test_a_message_repeated_with_its_id_is_accepted_once(folder: Path) -> None:
    one = groupx_json(folder, "send", "--id", "same", "[[say x]]")
    two = groupx_json(folder, "send", "--id", "same", "[[say x]]")
    assert one == two
    groupx(folder, "send", "--id", "same", "another text", code=6)


def test_a_tail_shows_what_happens_and_ends_with_a_broken_pipe(folder: Path) -> None:
    groupx(folder, "start")
    tail = subprocess.Popen(
        command(folder, "tail", "--since", "0", "--json", "--all-types"),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert tail.stdout is not None
    groupx(folder, "send", "--wait", "[[say to the tail]]")
    seen = ""
    while "to the tail" not in seen or "turn.completed" not in seen:
        seen += tail.stdout.readline()
    tail.stdout.close()
    groupx(folder, "send", "--wait", "[[say more]]")
    assert tail.wait(20) in (0, -signal.SIGPIPE, 141)


def test_rooms_are_made_used_renamed_and_archived(folder: Path) -> None:
    groupx(folder, "rooms", "create", "Side talk")
    groupx(folder, "send", "--room", "side-talk", "--wait", "--to", "bot", "[[say aside]]")
    assert "aside" in groupx(folder, "history", "--room", "side-talk").stdout
    assert "aside" not in groupx(folder, "history").stdout
    groupx(folder, "rooms", "rename", "side-talk", "Chamber")
    groupx(folder, "rooms", "archive", "side-talk")
    groupx(folder, "send", "--room", "side-talk", "hi", code=6)
    assert "Chamber" in groupx(folder, "rooms", "list", "--all").stdout


def test_the_guide_answers_without_a_word_of_tools_that_it_does_not_need(folder: Path) -> None:
    groupx(folder, "send", "--wait", "--to", "guide", "/help")
    lines = groupx(folder, "export").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    (ready,) = [e["body"] for e in events if e["type"] == "session.ready"]
    assert ready.get("toolsProblem") is None
    assert ready.get("errorCode") is None


def test_an_export_has_every_durable_event_in_order(folder: Path) -> None:
    for number in range(3):
        groupx(folder, "send", "--wait", f"[[tool ls]] [[say {number}]]")
    target = folder / "out.jsonl"
    groupx(folder, "export", "-o", str(target))
    seqs = [json.loads(line)["seq"] for line in target.read_text().splitlines()]
    assert seqs == list(range(1, seqs[-1] + 1))
    assert target.stat().st_mode & 0o077 == 0
    markdown = groupx(folder, "export", "--format", "md").stdout
    assert "[[tool ls]] [[say 2]]" in markdown


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
