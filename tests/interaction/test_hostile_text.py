"""Control sequences from models, names, titles, rooms and paths reach no terminal and no pipe."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groupx_tui.client.session import ClientSession
from groupx_tui.state.model import ClientView, TurnBlock
from support.hostile import HOSTILE, strings_in, unsafe_characters
from support.server_process import ServerProcess, client_of, send, server_in

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]

WRITABLE = HOSTILE.replace("\x00", "")
"""NUL is refused in what people write (it would end a text for half of all programs)."""

AGENT = """
import json, sys
HOSTILE = json.loads(sys.argv[1])
def write(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def update(**fields):
    write({"method": "session/update", "params": {"sessionId": "s", "update": fields}})
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        info = {"name": "evil" + HOSTILE, "version": HOSTILE}
        write({"id": request["id"], "result": {"protocolVersion": 1, "agentInfo": info}})
    elif method == "session/new":
        write({"id": request["id"], "result": {"sessionId": "s"}})
    elif method == "session/prompt":
        update(sessionUpdate="agent_thought_chunk", content={"type": "text", "text": HOSTILE})
        update(sessionUpdate="tool_call", toolCallId="t" + HOSTILE, title="ls " + HOSTILE,
               kind=HOSTILE, status="completed", rawInput={HOSTILE: HOSTILE},
               locations=[{"path": "/tmp/" + HOSTILE, "line": 3}],
               content=[{"type": "content", "content": {"type": "text", "text": HOSTILE}},
                        {"type": "diff", "path": HOSTILE, "oldText": HOSTILE, "newText": "x"}])
        update(sessionUpdate="plan", entries=[{"content": HOSTILE, "priority": HOSTILE}])
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": HOSTILE})
        if "fail" in json.dumps(request):
            write({"id": request["id"], "error": {"code": -32603, "message": HOSTILE}})
        else:
            write({"id": request["id"], "result": {"stopReason": "end_turn"}})
    elif "id" in request:
        write({"id": request["id"], "result": {}})
"""


def _server(folder: Path) -> dict[str, Any]:
    script = folder / "agent.py"
    script.write_text(AGENT, encoding="utf-8")
    command = {"executable": sys.executable, "args": [str(script), json.dumps(HOSTILE)]}
    cwd = folder / "work\x1b[31m\u202efolder"
    cwd.mkdir()
    agent = {"driver": "acp", "command": command, "name": f"Ev{HOSTILE}"[:60], "cwd": str(cwd)}
    return {"agents": {"evil": agent}}


def _groupx(server: ServerProcess, *words: str) -> str:
    """Run a command in a pipe; return all that it wrote, as it wrote it."""
    done = subprocess.run(
        [sys.executable, "-m", "groupx_tui.cli", "--config", str(server.folder), *words],
        capture_output=True,
        timeout=30,
        check=False,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
    )
    return (done.stdout + done.stderr).decode("utf-8")


def test_no_command_prints_what_would_act_on_a_terminal(tmp_path: Path) -> None:
    with server_in(tmp_path, _server(tmp_path)) as server:
        with client_of(server.start()) as client:
            room = client.post(
                "/api/rooms",
                json={"clientCommandId": "r", "title": f"R{WRITABLE}"[:60], "roomId": "room:evil"},
            )
            assert room.status_code < 300, room.text
            for number, text in enumerate(("hi " + WRITABLE, "fail")):
                accepted = send(client, text, ["evil"], f"c{number}", roomId="room:evil")
                server.wait_turn(client, accepted["turns"][0]["turnId"])
            failed = accepted["turns"][0]["turnId"]
        commands = [
            ("history", "--room", "evil"),
            ("send", "--wait", "--room", "evil", "--to", "evil", "hi"),
            ("send", "--wait", "--room", "evil", "--to", "evil", "fail"),
            ("export", "--room", "evil", "--format", "md"),
            ("export", "--room", "evil", "--format", "jsonl"),
            ("history", "--room", "evil", "--json"),
            ("rooms", "list"),
            ("agents", "list"),
            ("turns", "list"),
            ("turns", "show", failed),
            ("status",),
            ("doctor",),
        ]
        for words in commands:
            output = _groupx(server, *words)
            assert output.strip(), words
            assert unsafe_characters(output) == set(), words
        assert server.stop() == 0


def test_nothing_that_the_client_would_draw_can_act_on_a_terminal(tmp_path: Path) -> None:
    async def follow(server: ServerProcess) -> list[str]:
        session = ClientSession(server.workspace, room_id="room:main")
        seen: list[str] = []
        has_all = asyncio.Event()

        def take(view: ClientView) -> None:
            seen.extend(strings_in(view))
            if any(isinstance(block, TurnBlock) for block in view.timeline.blocks):
                has_all.set()

        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(session.run(take))
            async with asyncio.timeout(20):
                await has_all.wait()
            running.cancel()
        await session.aclose()
        return seen

    with server_in(tmp_path, _server(tmp_path)) as server:
        with client_of(server.start()) as client:
            for number, text in enumerate(("hi " + WRITABLE, "fail")):
                accepted = send(client, text, ["evil"], f"c{number}")
                server.wait_turn(client, accepted["turns"][0]["turnId"])
        drawn = asyncio.run(follow(server))
        assert any("␛" in text for text in drawn)
        assert unsafe_characters("".join(drawn)) == set()
