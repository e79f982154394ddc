"""A soak: thousands of messages while the server and its agents are killed all the time.

    PYTHONPATH=tests python tests/soak/soak.py --messages 2000 --kills 100

Several clients send to several agents in several rooms; whatever they get no answer to they send
again. A killer ends the server and agents with SIGKILL, at random moments and at named points. At
the end the judge compares what was promised with what is there. Prints a table and, as the last
line, JSON; exit code 1 when a count that must be zero is not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from support.server_process import SCRIPTED_AGENT, ServerProcess, client_of
from support.soak_chaos import Killer
from support.soak_judge import Judge, quantiles
from support.soak_load import ROOMS, Follower, Sender, Site

AGENTS: Final = ("ada", "bob", "cai", "dee")
SETTLE_S: Final = 120.0
"""For all turns to end after the last kill."""
THREAD_S: Final = 60.0


@dataclass(frozen=True)
class Plan:
    """How long, how hard, and with which dice."""

    messages: int = 2_000
    kills: int = 100
    seconds: float = 1_800
    """The soak ends then, whatever was reached."""
    seed: int = 1
    senders: int = 4


def run(plan: Plan, folder: Path) -> dict[str, Any]:
    """Run one soak in `folder`; return its numbers."""
    logs = {f"agent:{name}": folder / f"{name}.jsonl" for name in AGENTS}
    server = ServerProcess(folder, _config(folder))
    site = Site(AGENTS)
    started = time.monotonic()
    follower = Follower(site)
    senders = [Sender(site, number, plan.seed) for number in range(plan.senders)]

    def is_over(kills: int) -> bool:
        late = time.monotonic() - started > plan.seconds
        return late or bool(site.faults) or (kills >= plan.kills and site.accepted >= plan.messages)

    killer = Killer(server, site, plan.seed, is_over)
    site.goes_on = killer.is_alive
    try:
        site.runtime = server.start()
        _make_rooms(site)
        for thread in (killer, follower, *senders):
            thread.start()
        for thread in (killer, *senders):
            thread.join(plan.seconds + THREAD_S)
        _settle(server, site)
        rss = _rss_mb(server)
        _let_catch_up(follower, site)
        status = server.stop()
    finally:
        if server.process is not None and server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    follower.is_wanted = False
    follower.join(THREAD_S)
    judge = Judge(server.workspace.data_folder / "groupx.db", logs)
    judge.judge(senders, follower)
    for fault in site.faults:
        judge.verdict.blame("faults", fault)
    judge.verdict.zeros["repeatsDiffer"] = site.different
    return {
        "seed": plan.seed,
        "seconds": round(time.monotonic() - started, 1),
        "accepted": sum(len(sender.accepted) for sender in senders),
        "turns": len(judge.turns),
        "ends": dict(Counter(turn.status for turn in judge.turns.values())),
        "events": judge.newest_seq,
        "kills": dict(killer.kills),
        "killsInAll": killer.count,
        "repeats": sum(sender.repeats for sender in senders),
        "cancels": sum(sender.cancels for sender in senders),
        "refusedQueueFull": site.refused,
        "streams": follower.connections,
        "acceptMs": quantiles(a.seconds for sender in senders for a in sender.accepted),
        "downMs": quantiles(killer.down_s),
        "serverRssMb": rss,
        "exitStatus": status,
        "mustBeZero": dict(judge.verdict.zeros),
        "examples": dict(judge.verdict.examples),
    }


def _config(folder: Path) -> dict[str, Any]:
    def agent(name: str) -> dict[str, Any]:
        sessions = folder / f"{name}-sessions"
        sessions.mkdir(exist_ok=True)
        return {
            "driver": "acp",
            "command": {"executable": sys.executable, "args": [str(SCRIPTED_AGENT)]},
            "env": {
                "SCRIPTED_LOG": str(folder / f"{name}.jsonl"),
                "SCRIPTED_SESSIONS": str(sessions),
            },
        }

    return {
        "agents": {name: agent(name) for name in AGENTS},
        # Short packets, or the agents' logs would be most of the work; silence ends soon.
        "limits": {"contextCharacters": 4096},
        "timeouts": {"firstEventMs": 2000, "cancelMs": 2000, "closeMs": 1000},
    }


def _make_rooms(site: Site) -> None:
    assert site.runtime is not None
    with client_of(site.runtime) as client:
        for room in ROOMS[1:]:
            body = {"clientCommandId": room, "title": room[5:].title(), "roomId": room}
            client.post("/api/rooms", json=body).raise_for_status()


def _settle(server: ServerProcess, site: Site) -> None:
    """Wait until no turn is open; start the server again if a last kill, also one at a named point
    that it only now comes to, left it down.
    """
    deadline = time.monotonic() + SETTLE_S
    while time.monotonic() < deadline:
        if server.process is None or server.process.poll() is not None:
            site.runtime = server.start()
        assert site.runtime is not None
        with contextlib.suppress(httpx.TransportError), client_of(site.runtime) as client:
            if not client.get("/api/turns?status=open").json()["turns"]:
                return
        time.sleep(0.1)


def _let_catch_up(follower: Follower, site: Site) -> None:
    assert site.runtime is not None
    with client_of(site.runtime) as client:
        newest = client.get("/api/bootstrap").json()["throughSeq"]
    deadline = time.monotonic() + THREAD_S
    while (not follower.seqs or follower.seqs[-1] < newest) and time.monotonic() < deadline:
        time.sleep(0.05)


def _rss_mb(server: ServerProcess) -> float:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    kib = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return round(int(kib) / 1024, 1)


def show(result: dict[str, Any]) -> None:
    """A table for people, then one line of JSON."""
    for name, value in result.items():
        if name == "mustBeZero":
            for count, number in value.items():
                print(f"{count:>20}  {number}{'' if number == 0 else '  ← must be 0'}")
        elif name != "examples":
            print(f"{name:>20}  {json.dumps(value)}")
    for name, lines in result["examples"].items():
        for line in lines:
            print(f"{name}: {line}")
    print(json.dumps(result))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Kill the server and its agents under load.")
    parser.add_argument("--messages", type=int, default=Plan.messages)
    parser.add_argument("--kills", type=int, default=Plan.kills)
    parser.add_argument("--seconds", type=float, default=Plan.seconds)
    parser.add_argument("--seed", type=int, default=Plan.seed)
    parser.add_argument("--folder", type=Path, help="keep everything here, to look at it")
    options = parser.parse_args(arguments)
    plan = Plan(options.messages, options.kills, options.seconds, options.seed)
    with tempfile.TemporaryDirectory(prefix="groupx-soak-") as folder:
        result = run(plan, options.folder or Path(folder))
    show(result)
    return int(any(result["mustBeZero"].values()))


if __name__ == "__main__":
    raise SystemExit(main())
