"""A busy day of a server that is killed at a named point, and then said once more.

The day says everything that a client can say, each with a clientCommandId of its own. After the
kill the server is started again and the whole day is said once more with the same ids, as clients
do that got no answer. Whatever the point was: every message is there once and in order, no prompt
reached an agent twice, every turn has ended, a first answer is repeated to the letter, and the
ledger breaks no rule. `POINTS` is the table; two test files share it, to run side by side.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.times import utc_now
from groupx_shared.runtime import read_runtime
from ledger_files.build import file_of
from support.server_process import ServerProcess, client_of, server_in
from support.waiting import eventually

ENDED = ("completed", "failed", "cancelled", "interrupted")
WORDS = (
    "[[think a thought]] [[tool ls]] [[burst 40]]",
    "[[say half]] [[silent]]",
    "[[say side]]",
    "[[say watched]]",
)
STEERED = "Go. [[run ls]] [[steered]]"
ADVISED = "Go on. [[run ls]] [[steered]]"
ADVICE = "Turn right."
STEER = {
    "observers": ["eye"],
    "brief": "Look. [[mcp-call watch timeoutMs=20000]] [[mcp-call watch timeoutMs=3000]] "
    "[[mcp-call steer action=nudge;reason=why;content=turn left]] "
    "[[mcp-call watch until=terminal;timeoutMs=20000]]",
}
"""One observer that looks, steers, and looks on to the end."""
REMEMBERED = {
    "scope": {"type": "room", "id": "room:main"},
    "kind": "fact",
    "content": "Elephants remember.",
}
FORGOTTEN = "Whoever reads this has not forgotten."
SYNTHETIC = {
    "what is stored as JSON is JSON",
    "a delivery cursor is not ahead of what was delivered",
}
"""Rules that the hand-written old files break before anything is done to them."""


def new(_: Path) -> None:
    """No ledger yet."""


def used(path: Path) -> None:
    """A ledger that is due for a backup."""
    prepare(path, now=utc_now)


def old(path: Path) -> None:
    """A ledger of the earlier program."""
    shutil.copyfile(file_of(9), path)


class Case(NamedTuple):
    """What the server starts with, and how the day's first turn must end: None says nothing."""

    ledger: Callable[[Path], None] = new
    first_turn: str | None = "completed"


ONCE = Case(first_turn="completed")
"""The kill leaves the first turn done once: nothing had left, or its end was on disk."""
UNCERTAIN = Case(first_turn="interrupted")
"""The prompt may have left: the turn is never sent again."""
OPEN = Case(first_turn=None)
"""Whether it had left depends on what was written before."""

POINTS: dict[str, Case] = {
    "create.before_rename": ONCE,
    "create.after_rename": ONCE,
    "migrate.mid": Case(old),
    "migrate.before_commit": Case(old),
    "migrate.after_commit": Case(old),
    "recover.before_commit": Case(used),
    "backup.mid": Case(used, None),
    "backup.before_check": Case(used, None),
    "backup.before_publish": Case(used, None),
    "backup.after_publish": Case(used, None),
    "writer.before_commit:1": ONCE,
    "writer.before_commit:7": OPEN,
    "writer.after_commit:1": ONCE,
    "writer.after_commit:3": OPEN,
    "writer.after_commit:7": OPEN,
    "room.before_commit:1": ONCE,
    "receipt.before_commit:1": ONCE,
    "accept.before_commit": ONCE,
    "receipt.before_commit:2": ONCE,
    "session.before_commit": ONCE,
    "claim.before_commit": ONCE,
    "prompt_invoked.before_commit": ONCE,
    "prompt.before_send": UNCERTAIN,
    "cursor.before_commit:1": UNCERTAIN,
    "native_started.before_commit": UNCERTAIN,
    "turn.after_started": UNCERTAIN,
    "turn.after_event": UNCERTAIN,
    "terminal.after_reasoning": UNCERTAIN,
    "terminal.after_tools": UNCERTAIN,
    "terminal.after_response": UNCERTAIN,
    "terminal.after_event": UNCERTAIN,
    "cursor.before_commit:2": UNCERTAIN,
    "terminal.before_commit": UNCERTAIN,
    "terminal.after_commit": ONCE,
    "partial.before_commit": ONCE,
    "cancel.before_commit": ONCE,
    "receipt.before_commit:4": ONCE,
    "room.before_commit:2": ONCE,
    "receipt.before_commit:6": ONCE,
    "receipt.before_commit:8": ONCE,
    "index.before_commit:1": OPEN,
    "index.before_commit:2": OPEN,
    "pair.before_commit": ONCE,
    "steps.before_commit": ONCE,
    "watch.before_commit:1": ONCE,
    "watch.before_commit:2": ONCE,
    "steer.before_commit": ONCE,
    "nudge.before_commit": ONCE,
    "advice.before_commit": ONCE,
    "advice.before_settle": ONCE,
    "compact.before_commit": ONCE,
    "reset.before_commit": ONCE,
    "dated.before_commit": ONCE,
    "redact.before_commit": ONCE,
    "purge.mid_merge:1": ONCE,
    "purge.after_clean": ONCE,
    "session_end.before_commit": ONCE,
}


IN_A_TURN = [
    point
    for point in POINTS
    if point.startswith(
        ("session", "claim", "prompt", "cursor", "native", "turn", "partial", "cancel", "terminal")
    )
]


@dataclass
class Day:
    """The commands of a day, and what the server answered."""

    server: ServerProcess
    client: httpx.Client
    replies: dict[str, dict[str, Any]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    """Ids of the messages in the order in which they were accepted."""

    def live(self) -> None:
        """Say everything, one after the other. Raises: httpx.HTTPError when the server dies."""
        self._do("room", "POST", "/api/rooms", title="Annex")
        self._say("first", WORDS[0], "room:main")
        self._cancel()
        self._do("memory", "POST", "/api/memory", **REMEMBERED)
        self._do("rename", "PATCH", "/api/rooms/room:annex", title="The annex")
        self._say("third", WORDS[2], "room:annex")
        self._do("restart", "POST", "/api/agents/agent:bot/restart")
        self._watched()
        self._steered()
        self._advised()
        self._compact()
        self._do("reset", "POST", "/api/rooms/room:annex/context/reset")
        self._forget()
        self._say("last", "[[say last]]", "room:main")

    def _watched(self) -> None:
        """A message whose agent is watched by another one."""
        watch = {"observers": ["eye"], "brief": "Look. [[say seen]]"}
        turn_id = self._say("watched", WORDS[3], "room:main", supervision=watch)
        self._wait(turn_id, *ENDED)
        (observer,) = self.replies["watched"]["supervision"]["observers"]
        self._wait(str(observer["turnId"]), *ENDED)

    def _steered(self) -> None:
        """A message whose agent works until its observer has put a word into its turn."""
        task = {"content": STEERED, "roomId": "room:annex", "to": ["mole"]}
        reply = self._do("steered", "POST", "/api/messages", **task, supervision=STEER)
        self._wait(str(reply["turns"][0]["turnId"]), *ENDED)
        (observer,) = reply["supervision"]["observers"]
        self._wait(str(observer["turnId"]), *ENDED)

    def _advised(self) -> None:
        """A message whose agent works until a person has put a word into its turn."""
        task = {"content": ADVISED, "roomId": "room:annex", "to": ["mole"]}
        reply = self._do("advised", "POST", "/api/messages", **task)
        turn_id = str(reply["turns"][0]["turnId"])
        self._wait(turn_id, "running", *ENDED)
        body = {"clientCommandId": "advise", "content": ADVICE}
        advice = self.client.post(f"/api/turns/{turn_id}/advise", json=body)
        assert advice.status_code < 300, advice.text
        self.replies["advise"] = advice.json()  # what became of it may differ after a kill
        self._wait(turn_id, *ENDED)
        if next_turn_id := self.replies["advise"].get("nextTurnId"):
            self._wait(str(next_turn_id), *ENDED)

    def _do(self, command: str, method: str, path: str, **body: Any) -> dict[str, Any]:
        reply = self.client.request(method, path, json={"clientCommandId": command, **body})
        assert reply.status_code < 300, reply.text
        result: dict[str, Any] = reply.json()
        assert self.replies.setdefault(command, result) == result
        return result

    def _say(self, command: str, content: str, room: str, *statuses: str, **more: Any) -> str:
        body = {"content": content, "roomId": room, "to": ["bot"], **more}
        reply = self._do(command, "POST", "/api/messages", **body)
        if command not in self.order:
            self.order.append(command)
        turn_id = str(reply["turns"][0]["turnId"])
        self._wait(turn_id, *(statuses or ENDED))
        return turn_id

    def _cancel(self) -> None:
        turn_id = self._say("second", WORDS[1], "room:main", "running", *ENDED)

        def has_partial() -> bool:
            turn = self.client.get(f"/api/turns/{turn_id}").json()
            return bool(turn.get("partialText")) or turn["status"] in ENDED

        eventually(has_partial)
        self._do("cancel", "POST", f"/api/turns/{turn_id}/cancel")
        self._wait(turn_id, *ENDED)

    def _forget(self) -> None:
        """Have a record removed with every byte of it; which backups that replaces may differ."""
        said = {**REMEMBERED, "content": FORGOTTEN, "clientCommandId": "remember"}
        memory_id = self.client.post("/api/memory", json=said).json()["memory"]["memoryId"]
        body = {"clientCommandId": "forget", "purge": True}
        reply = self.client.post(f"/api/memory/{memory_id}/redact", json=body)
        assert reply.status_code == 200, reply.text
        assert reply.json()["leftIn"] == []

    def _compact(self) -> None:
        """Sum the room up; after a kill nothing is under way any more, and that is all right."""
        self._do("compact", "POST", "/api/rooms/room:main/context/compact", keep=1)

        def has_ended() -> bool:
            usage = self.client.get("/api/context").json()
            return usage.get("compaction", {}).get("phase") not in ("started", "retrying")

        eventually(has_ended)

    def _wait(self, turn_id: str, *statuses: str) -> None:
        self.server.wait_turn(self.client, turn_id, *statuses, within_s=45)


def _ready_or_dead(server: ServerProcess) -> bool:
    """Wait until the server answers; False when it died before."""
    process = server.process
    assert process is not None

    def is_decided() -> bool:
        runtime = read_runtime(server.workspace)
        return process.poll() is not None or (runtime is not None and runtime.pid == process.pid)

    eventually(is_decided, within_s=20)
    return process.poll() is None


def _day_that_ends_by_itself(server: ServerProcess, point: str) -> dict[str, dict[str, Any]]:
    """Start with the fail point and live the day until the server dies; return the answers."""
    server.spawn(point)
    replies: dict[str, dict[str, Any]] = {}
    if _ready_or_dead(server):
        runtime = read_runtime(server.workspace)
        assert runtime is not None
        with client_of(runtime) as client:
            day = Day(server, client, replies)
            try:
                day.live()
            except (httpx.HTTPError, KeyError, ValueError):
                pass  # it died in the middle of an answer
            else:
                server.stop()  # the point lies in the stop
    assert server.wait_dead() == -9
    return replies


def kill_and_repeat(folder: Path, point: str) -> None:
    """Live the day until the server dies at `point`, say it again, and look at everything."""
    case = POINTS[point]
    with server_in(folder) as server:
        agents = {name: server.agent_config("--http-mcp") for name in ("bot", "eye")}
        agents["mole"] = server.codex_config()
        (folder / "groupx.json").write_text(json.dumps({"agents": agents}), encoding="utf-8")
        database = server.workspace.data_folder / "groupx.db"
        database.parent.mkdir()
        case.ledger(database)
        first = _day_that_ends_by_itself(server, point)
        with client_of(server.start()) as client:
            day = Day(server, client, dict(first))
            day.live()
            _assert_true(server, client, day, case.first_turn)
        assert server.stop() == 0
        files = [file for file in database.parent.rglob("*") if file.is_file()]
        assert not [file for file in files if FORGOTTEN.encode() in file.read_bytes()]
        known = SYNTHETIC if case.ledger is old else set()
        assert {violation.rule for violation in server.violations()} <= known


def _assert_true(
    server: ServerProcess, client: httpx.Client, day: Day, first_turn: str | None
) -> None:
    said = [(day.replies[name]["messageEventId"], day.replies[name]["seq"]) for name in day.order]
    rows = client.get("/api/export?format=jsonl").text.splitlines()
    events = [httpx.Response(200, content=row).json() for row in rows]
    people = [
        (event["eventId"], event["seq"])
        for event in events
        if event["type"] == "message.created" and event["body"].get("content", "")[:2] == "[["
    ]
    assert people == said  # once each, in the order in which they were accepted
    assert [seq for _, seq in said] == sorted(seq for _, seq in said)
    for name, content in zip(day.order, (*WORDS, "[[say last]]"), strict=True):
        turn_id = day.replies[name]["turns"][0]["turnId"]
        turn = client.get(f"/api/turns/{turn_id}").json()
        wanted = first_turn if name == "first" else None
        assert turn["status"] in ((wanted,) if wanted else ENDED)
        sent = len(server.prompts(content))
        assert sent <= 1
        assert sent == 1 or turn["status"] != "completed"
    assert (turn["status"], turn["content"]) == ("completed", "last")
    _assert_steered_once(server, events, day.replies["advise"])
    records = client.get("/api/memory?scopeType=room&scopeId=room:main").json()["items"]
    assert [record["content"] for record in records].count(REMEMBERED["content"]) == 1
    assert FORGOTTEN not in [record["content"] for record in records]
    for words in ("elephants", "thought burst", "half silent"):
        assert client.get("/api/search", params={"q": words}).json()["hits"]


def _assert_steered_once(
    server: ServerProcess, events: list[dict[str, Any]], advice: dict[str, Any]
) -> None:
    """Advice reaches a turn at most once, and what became of it is told, once: an observer's, and
    a person's."""
    steered = [e["body"] for e in events if e["type"] == "supervision.steered"]
    live = [body["messageEventId"] for body in steered if body["delivery"] == "live"]
    told = [e["body"] for e in events if e["type"] == "supervision.nudged"]
    nudged = [body for body in told if body["messageEventId"] != advice["messageEventId"]]
    assert [body["messageEventId"] for body in nudged] == live
    assert len(steered) <= 1
    of_person = [each for each in server.logged("turn/steer") if ADVICE in json.dumps(each)]
    given = [each for each in server.logged("turn/steer") if each not in of_person]
    assert len(given) <= len(live)
    advised = [body["outcome"] for body in told if body not in nudged]
    assert len(of_person) <= len(advised) <= 1
    said = [e for e in events if e["body"].get("content") == ADVICE]
    assert len(said) == 1
    if advised == ["taken"]:
        assert len(of_person) == 1
    elif not advised:  # its turn had ended: it is the next one
        assert advice["delivery"] == "queued"
    if nudged and nudged[0]["outcome"] == "taken":
        assert len(given) == 1
