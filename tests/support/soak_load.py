"""The load of a soak: clients that repeat until they are answered, and a reader that never misses.

Everything that a client was told is kept, for the judge to compare with what the ledger says.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from groupx_shared.runtime import RuntimeFile
from groupx_shared.wire.sse import SseParser

PAUSE_S: Final = 0.02
ROOMS: Final = ("room:main", "room:red", "room:green", "room:blue")
SCRIPTS: Final = (
    (60, "[[say {tag}]]"),
    (15, "[[think hm]] [[tool ls]] [[burst 20]] [[say {tag}]]"),
    (6, "[[say {tag}]] [[then-exit 0]]"),
    (4, "[[say half]] [[exit 3]] {tag}"),
    (4, "[[kill]] {tag}"),
    (4, "[[error -32603 no credit]] {tag}"),
    (4, "[[empty]] {tag}"),
    (3, "[[silent]] {tag}"),
)
"""What agents are made to do, by weight: most answer, some die in every way there is."""


@dataclass
class Accepted:
    """A message as its sender knows it."""

    tag: str
    command_id: str
    body: dict[str, Any]
    reply: dict[str, Any]
    seconds: float
    """From the first try to the answer; nan when more than one try was needed."""


@dataclass
class Site:
    """What all threads share."""

    agents: tuple[str, ...]
    runtime: RuntimeFile | None = None
    """The server that runs now; None between a kill and the next start."""
    goes_on: Callable[[], bool] = lambda: True
    sent: int = 0
    refused: int = 0
    """Answers 429: the queue of an agent was full."""
    different: int = 0
    """Repetitions that were not answered as the first time."""
    faults: list[str] = field(default_factory=list)
    """Answers that no client should ever get."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    accepted: int = 0

    def count_accepted(self) -> None:
        with self.lock:
            self.accepted += 1

    def next_number(self) -> int:
        with self.lock:
            self.sent += 1
            return self.sent


class Sender(threading.Thread):
    """One client: sends, repeats until accepted, now and then cancels or says something again."""

    def __init__(self, site: Site, number: int, seed: int) -> None:
        super().__init__(name=f"sender-{number}", daemon=True)
        self.accepted: list[Accepted] = []
        self.cancels = 0
        self.repeats = 0
        self._site = site
        self._number = number
        self._random = random.Random(seed * 1000 + number)
        self._client: httpx.Client | None = None
        self._url = ""

    def run(self) -> None:
        try:
            while self._site.goes_on():
                self._send_one()
                if self._random.random() < 0.05:
                    self._repeat_one()
                if self._random.random() < 0.08:
                    self._cancel_one()
        except Exception as error:  # noqa: BLE001 - a thread's end: the judge must know of it
            self._site.faults.append(f"{self.name} broke: {error!r}")
        finally:
            self._disconnect()

    def _send_one(self) -> None:
        tag = f"m{self._site.next_number()}x"
        script = self._random.choices([s for _, s in SCRIPTS], [w for w, _ in SCRIPTS])[0]
        body = {
            "clientCommandId": f"c-{tag}",
            "roomId": self._random.choice(ROOMS),
            "content": script.format(tag=tag),
            "to": self._random.sample(self._site.agents, self._random.choice((0, 1, 1, 1, 2))),
        }
        begun = time.monotonic()
        reply, tries = self._post("/api/messages", body)
        if reply is not None:
            seconds = time.monotonic() - begun if tries == 1 else float("nan")
            self._site.count_accepted()
            self.accepted.append(Accepted(tag, f"c-{tag}", body, reply, seconds))

    def _repeat_one(self) -> None:
        if not self.accepted:
            return
        old = self._random.choice(self.accepted[-50:])
        reply, _ = self._post("/api/messages", old.body)
        self.repeats += 1
        if reply is not None and reply != old.reply:
            self._site.different += 1

    def _cancel_one(self) -> None:
        turns = [turn for sent in self.accepted[-10:] for turn in sent.reply["turns"]]
        if turns:
            turn_id = self._random.choice(turns)["turnId"]
            self._post(f"/api/turns/{turn_id}/cancel", {"clientCommandId": f"x-{turn_id}"})
            self.cancels += 1

    def _post(self, path: str, body: dict[str, Any]) -> tuple[dict[str, Any] | None, int]:
        """Try until it is answered; None when the soak ends first. Also return the tries."""
        for tries in range(1, 1_000_000):
            reply = self._try(path, body)
            if reply is not None and reply.status_code < 300:
                result: dict[str, Any] = reply.json()
                return result, tries
            if not self._site.goes_on():
                return None, tries
            if reply is not None and reply.status_code == 429:
                self._site.refused += 1
            elif reply is not None and reply.status_code != 503:
                self._site.faults.append(f"{path}: {reply.status_code} {reply.text[:300]}")
                return None, tries
            time.sleep(PAUSE_S)
        raise AssertionError("unreachable")

    def _try(self, path: str, body: dict[str, Any]) -> httpx.Response | None:
        """None when nobody answered, or not to the end."""
        runtime = self._site.runtime
        if runtime is None:
            return None
        if self._client is None or self._url != runtime.url:
            self._connect(runtime)
        assert self._client is not None
        try:
            return self._client.post(path, json=body)
        except httpx.HTTPError:
            return None

    def _connect(self, runtime: RuntimeFile) -> None:
        self._disconnect()
        self._url = runtime.url
        headers = {"Authorization": f"Bearer {runtime.token}"}
        self._client = httpx.Client(
            base_url=runtime.url, headers=headers, timeout=30, trust_env=False
        )

    def _disconnect(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


class Follower(threading.Thread):
    """Follows all events over every restart, from the last one that it saw."""

    def __init__(self, site: Site) -> None:
        super().__init__(name="follower", daemon=True)
        self.seqs: list[int] = []
        self.connections = 0
        self.is_wanted = True
        self._site = site

    def run(self) -> None:
        while self.is_wanted:
            runtime = self._site.runtime
            if runtime is not None:
                # When the server dies, go on behind the last event that came whole.
                with contextlib.suppress(httpx.HTTPError, ValueError):
                    self._follow(runtime)
            time.sleep(PAUSE_S)

    def _follow(self, runtime: RuntimeFile) -> None:
        url = f"{runtime.url}/api/events?afterSeq={self.seqs[-1] if self.seqs else 0}"
        headers = {"Authorization": f"Bearer {runtime.token}"}
        parser = SseParser()
        with httpx.stream("GET", url, headers=headers, timeout=20, trust_env=False) as reply:
            if reply.status_code != 200:
                reply.read()
                if reply.status_code != 503:
                    self._site.faults.append(f"events: {reply.status_code} {reply.text[:300]}")
                return
            self.connections += 1
            for chunk in reply.iter_raw():
                for frame in parser.feed(chunk):
                    seq = json.loads(frame.data).get("seq")
                    if seq is not None:
                        self.seqs.append(seq)
                if not self.is_wanted:
                    return
