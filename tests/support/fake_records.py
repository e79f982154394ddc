"""What is remembered, told and used, without a server; and an agent's card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.context import ContextPreview, LeftOutInfo, SectionInfo
from groupx_shared.wire.memory import MemoryList, MemoryRecord, MemoryScope, WritableKind
from groupx_shared.wire.replies import ActorUsage, AgentList, UsageReply, UsageTotals
from groupx_tui.client.records import Records

AT = "2026-11-30T09:15:00.000Z"
USAGE = UsageTotals(
    turns=4, reported_turns=3, input_tokens=12_000, output_tokens=900, cached_tokens=8_000,
    total_tokens=12_900, costs={"USD": 0.0421},
)  # fmt: skip


def memory(number: int, content: str, **more: Any) -> MemoryRecord:
    """A record of the main room."""
    fields: dict[str, Any] = {
        "memory_id": f"mem_{number}",
        "scope": MemoryScope(type="room", id="room:main"),
        "kind": "fact",
        "author_actor_id": "agent:codex",
        "content": content,
        "source_event_id": "evt_1",
        "source_kind": "agent_tool",
        "status": "active",
        "created_at": AT,
    }
    return MemoryRecord(**(fields | more))


def some_records() -> list[MemoryRecord]:
    """A decision, a pinned fact, an agent's own note."""
    own = MemoryScope(type="agent", id="agent:codex")
    return [
        memory(3, "The parser keeps the last line", kind="decision"),
        memory(2, "Tests run with pytest -q", pinned_at=AT, author_actor_id="user:web"),
        memory(1, "I like short functions", kind="preference", scope=own,
               agent_memory_type="core", source_event_id=None),
    ]  # fmt: skip


class FakeRecords(Records):
    """Holds records in memory; notes what it was asked."""

    def __init__(self) -> None:
        self.records = some_records()
        self.old: list[MemoryRecord] = []
        self.asked: list[tuple[Any, ...]] = []

    async def memories(self, *, with_history: bool = False, limit: int = 500) -> MemoryList:
        self.asked.append(("memories", with_history))
        return MemoryList(items=(*self.records, *(self.old if with_history else [])))

    async def versions(self, memory_id: str) -> MemoryList:
        self.asked.append(("versions", memory_id))
        older = memory(0, "The parser drops the last line", status="superseded")
        return MemoryList(items=(self._find(memory_id), older))

    async def remember(self, room_id: str, kind: WritableKind, content: str) -> MemoryRecord:
        self.asked.append(("remember", room_id, kind, content))
        made = memory(9, content, kind=kind, author_actor_id="user:web")
        self.records.insert(0, made)
        return made

    async def correct(self, memory_id: str, content: str) -> MemoryRecord:
        self.asked.append(("correct", memory_id, content))
        return self._replace(memory_id, content=content)

    async def retract(self, memory_id: str) -> MemoryRecord:
        self.asked.append(("retract", memory_id))
        gone = self._replace(memory_id, status="retracted", retracted_at=AT)
        self.records.remove(gone)
        self.old.append(gone)
        return gone

    async def pin(self, memory_id: str, *, pinned: bool) -> MemoryRecord:
        self.asked.append(("pin", memory_id, pinned))
        return self._replace(memory_id, pinned_at=AT if pinned else None)

    async def preview(self, room_id: str, actor_id: str, draft: str) -> ContextPreview:
        self.asked.append(("preview", room_id, actor_id, draft))
        return ContextPreview(
            room_id=room_id, actor_id=actor_id, session="new",
            text="[groupx_protocol]\nroom=room:main\n[/groupx_protocol]\n", characters=24_000,
            soft_characters=48_000, max_characters=96_000, through_seq=5, needs_compaction=True,
            sections=(
                SectionInfo(name="current_message", characters=900, mandatory=True, included=1),
                SectionInfo(
                    name="recent_messages", characters=20_000, mandatory=False, included=12,
                    omitted=3, left_out=(LeftOutInfo(id="evt_1", characters=9),),
                ),
            ),
        )  # fmt: skip

    async def usage(self, *, actor_id: str | None = None) -> UsageReply:
        self.asked.append(("usage", actor_id))
        actor = ActorUsage(actor_id=actor_id or "agent:codex", **USAGE.model_dump())
        return UsageReply(totals=USAGE, actors=(actor,))

    async def raw_event(self, event_id: str) -> str:
        self.asked.append(("raw_event", event_id))
        return f'{{"eventId": "{event_id}", "type": "message.created"}}'

    async def raw_turn(self, turn_id: str) -> str:
        self.asked.append(("raw_turn", turn_id))
        return f'{{"turnId": "{turn_id}", "status": "completed"}}'

    async def agent(self, actor_id: str) -> AgentInfo:
        for card in CARDS.agents:
            if card.actor_id == actor_id:
                return card
        raise RefusedError("There is no such agent.", code=ErrorCode.UNKNOWN_ACTOR)

    def _find(self, memory_id: str) -> MemoryRecord:
        return next(record for record in self.records if record.memory_id == memory_id)

    def _replace(self, memory_id: str, **changes: Any) -> MemoryRecord:
        old = self._find(memory_id)
        new = old.model_copy(update=changes)
        self.records[self.records.index(old)] = new
        return new


CARDS = AgentList(
    agents=(
        AgentInfo(
            actor_id="agent:codex", display_name="Codex", driver="codex", enabled=True,
            status="needs_login", detail="Nobody is signed in: run “codex login” in a shell.",
            cwd="/home/me/project", command="codex app-server", agent_name="codex",
            agent_version="1.2.3", queued_turns=2,
        ),
    )
)  # fmt: skip


class FakeCommands:
    """The command line: says what it was asked to do."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.config_path: Path | None = None
        self.prints = "ok       python    3.11.7\nfailed   agent x   not installed\n"

    async def run(self, words: Sequence[str]) -> str:
        self.asked.append(tuple(words))
        return self.prints
