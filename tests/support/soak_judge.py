"""The judge of a soak: what people were told, what agents were sent, and what the ledger holds."""

from __future__ import annotations

import itertools
import json
import math
import re
import sqlite3
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from groupx_server.ledger.verify import find_violations
from support.soak_load import Accepted, Follower, Sender

TAG: Final = re.compile(r"\bm\d+x\b")
OPEN: Final = ("queued", "dispatching", "running", "cancelling")


@dataclass
class Verdict:
    """The counts that must be zero, with some examples of each."""

    zeros: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def blame(self, what: str, example: str) -> None:
        self.zeros[what] += 1
        if len(self.examples[what]) < 5:
            self.examples[what].append(example)


MUST_BE_ZERO: Final = (
    "lost",
    "doubled",
    "sentTwice",
    "pending",
    "disordered",
    "endedWithoutReason",
    "repeatsDiffer",
    "eventsMissed",
    "eventsDoubled",
    "rulesBroken",
    "faults",
)


@dataclass(frozen=True)
class Turn:
    """A turn as the ledger holds it."""

    turn_id: str
    actor_id: str
    tag: str
    enqueue_seq: int
    status: str
    error_message: str | None


class Judge:
    """Looks at a ledger whose server is stopped."""

    def __init__(self, database: Path, prompt_logs: dict[str, Path]) -> None:
        self.verdict = Verdict()
        for name in MUST_BE_ZERO:
            self.verdict.zeros[name] = 0
        self._prompt_logs = prompt_logs
        with closing(sqlite3.connect(database)) as book:
            self._broken = find_violations(book)
            self.messages: dict[str, tuple[int, str, str]] = {}
            self._seqs = [seq for (seq,) in book.execute("SELECT seq FROM events ORDER BY seq")]
            self._read_messages(book)
            self.turns = {turn.turn_id: turn for turn in self._read_turns(book)}

    def _read_messages(self, book: sqlite3.Connection) -> None:
        rows = book.execute(
            "SELECT seq, event_id, room_id, json_extract(body_json, '$.content') FROM events"
            " WHERE event_type = 'message.created' AND actor_id = 'user:web' ORDER BY seq"
        )
        for seq, event_id, room_id, content in rows:
            tag = tag_of(content)
            if tag in self.messages:
                self.verdict.blame("doubled", f"{tag} is there twice")
            self.messages[tag] = (seq, event_id, room_id)

    def _read_turns(self, book: sqlite3.Connection) -> Iterable[Turn]:
        rows = book.execute(
            "SELECT t.turn_id, t.target_actor_id, json_extract(e.body_json, '$.content'),"
            " t.enqueue_seq, t.status, t.error_message FROM turns t"
            " JOIN events e ON e.event_id = t.source_event_id ORDER BY t.enqueue_seq"
        )
        for turn_id, actor_id, content, *rest in rows:
            yield Turn(turn_id, actor_id, tag_of(content), *rest)

    def judge(self, senders: Sequence[Sender], follower: Follower) -> None:
        """Fill in the verdict."""
        for sender in senders:
            for accepted in sender.accepted:
                self._judge_accepted(accepted)
            self._judge_order(sender)
        for turn in self.turns.values():
            self._judge_turn(turn)
        for actor_id, path in self._prompt_logs.items():
            self._judge_prompts(actor_id, path)
        self._judge_events(follower)
        for violation in self._broken:
            self.verdict.blame("rulesBroken", f"{violation.rule}: {violation.rows}")

    def _judge_accepted(self, accepted: Accepted) -> None:
        found = self.messages.get(accepted.tag)
        reply = accepted.reply
        if found != (reply["seq"], reply["messageEventId"], accepted.body["roomId"]):
            self.verdict.blame("lost", f"{accepted.tag}: {found} is not {reply}")
        for told in reply["turns"]:
            turn = self.turns.get(told["turnId"])
            if turn is None or turn.tag != accepted.tag:
                self.verdict.blame("lost", f"{accepted.tag}: the turn for {told['target']}")

    def _judge_order(self, sender: Sender) -> None:
        """What one client sent one after the other stands in this order."""
        seqs = [accepted.reply["seq"] for accepted in sender.accepted]
        for before, after in itertools.pairwise(seqs):
            if before >= after:
                self.verdict.blame("disordered", f"{sender.name}: {before} before {after}")

    def _judge_turn(self, turn: Turn) -> None:
        if turn.status in OPEN:
            self.verdict.blame("pending", f"{turn.turn_id} is {turn.status}")
        elif turn.status in ("failed", "interrupted") and not turn.error_message:
            self.verdict.blame("endedWithoutReason", f"{turn.turn_id} {turn.status}")

    def _judge_prompts(self, actor_id: str, path: Path) -> None:
        """Each prompt once, and in the order in which its turn was accepted."""
        by_tag = {turn.tag: turn for turn in self.turns.values() if turn.actor_id == actor_id}
        sent = [tag_of(text) for text in prompts_in(path)]
        for tag, count in Counter(sent).items():
            if count > 1:
                self.verdict.blame("sentTwice", f"{tag} to {actor_id}: {count} times")
            if tag not in by_tag:
                self.verdict.blame("faults", f"{actor_id} was sent {tag}, which is no turn of it")
        order = [by_tag[tag].enqueue_seq for tag in sent if tag in by_tag]
        for before, after in itertools.pairwise(order):
            if before > after:
                self.verdict.blame("disordered", f"{actor_id}: {before} before {after}")
        answered = {tag for tag, turn in by_tag.items() if turn.status == "completed"}
        for tag in answered - set(sent):
            self.verdict.blame("faults", f"{tag} is completed, but {actor_id} was never sent it")

    def _judge_events(self, follower: Follower) -> None:
        seen = Counter(follower.seqs)
        for seq in seen:
            if seen[seq] > 1:
                self.verdict.blame("eventsDoubled", str(seq))
        for seq in set(self._seqs) - seen.keys():
            self.verdict.blame("eventsMissed", str(seq))
        if follower.seqs != sorted(follower.seqs):
            self.verdict.blame("disordered", "the event stream")

    @property
    def newest_seq(self) -> int:
        return self._seqs[-1] if self._seqs else 0


def tag_of(content: str | None) -> str:
    found = TAG.findall(content or "")
    return found[0] if found else "(none)"


def prompts_in(path: Path) -> list[str]:
    """The current message of every prompt that an agent was sent, over all its lives."""
    if not path.exists():
        return []
    texts = []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            entry: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # the agent was killed while it wrote; what it wrote before counts
        if entry.get("what") == "prompt":
            section = entry["text"].rpartition("[current_message")[2]
            texts.append(section.partition("]")[2])  # the fence is random, and may look like a tag
    return texts


def quantiles(values: Iterable[float]) -> dict[str, float]:
    """p50, p95 and the largest, in milliseconds."""
    sound = sorted(value for value in values if not math.isnan(value))
    if len(sound) < 2:
        return {}
    cuts = statistics.quantiles(sound, n=100)
    ms = {"p50": cuts[49], "p95": cuts[94], "max": sound[-1]}
    return {name: round(value * 1000, 1) for name, value in ms.items()}
