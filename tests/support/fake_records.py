"""What is remembered, told and used, without a server; and an agent's card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.context import (
    CompactionReply,
    ContextPreview,
    LeftOutInfo,
    ResetReply,
    SectionInfo,
    SummaryReply,
)
from groupx_shared.wire.replies import (
    ActorUsage,
    AgentList,
    GroupUsage,
    TurnInfo,
    UsageReply,
    UsageTotals,
)
from groupx_tui.client.records import Records
from groupx_tui.client.shelf import Query
from groupx_tui.state.remembered import Kept, Place

AT = "2026-11-30T09:15:00.000Z"
USAGE = UsageTotals(
    turns=4, reported_turns=3, input_tokens=12_000, output_tokens=900, cached_tokens=8_000,
    total_tokens=12_900, costs={"USD": 0.0421},
)  # fmt: skip

UPKEEP = (
    GroupUsage(key="summary", turns=3, reported_turns=3, total_tokens=41_200,
               costs={"USD": 0.012}, last_at=AT),
    GroupUsage(key="dated", turns=1, last_at="2026-11-29T20:00:00.000Z"),
)  # fmt: skip


def memory(number: int, content: str, **more: Any) -> Kept:
    """A record of the main room."""
    fields: dict[str, Any] = {
        "record_id": f"mem_{number}",
        "place": "room",
        "owner_id": "room:main",
        "kind": "fact",
        "author_id": "agent:codex",
        "content": content,
        "source_event_id": "evt_1",
        "source_kind": "agent_tool",
        "status": "active",
        "created_at": AT,
    }
    return Kept(**(fields | more))


def identity(number: int, content: str, author_id: str) -> Kept:
    """Something said of Codex."""
    return memory(number, content, record_id=f"identity_{number}", place="identity", kind="note",
                  owner_id="agent:codex", author_id=author_id,
                  created_at="2026-11-29T09:15:00.000Z")  # fmt: skip


def some_records() -> list[Kept]:
    """A decision, a pinned fact, what an agent keeps and what its day held, and who it is."""
    own: dict[str, Any] = {"owner_id": "agent:codex", "source_event_id": None}
    return [
        memory(5, "The parser keeps the last line", kind="decision"),
        memory(4, "Tests run with pytest -q", pinned_at=AT, author_id="user:web"),
        memory(3, "I like short functions", kind="preference", place="core", **own),
        memory(2, "- looked at the lexer", kind="summary", place="dated", day="2026-11-29", **own),
        identity(3, "I review, briefly", "agent:codex"),
        identity(2, "Ask before you push", "user:web"),
        identity(1, "Knows the lexer best", "agent:guide"),
    ]


class FakeRecords(Records):
    """Holds records in memory; notes what it was asked."""

    def __init__(self) -> None:
        self.records = some_records()
        self.old: list[Kept] = []
        self.asked: list[tuple[Any, ...]] = []
        self.page_size = 100
        self.is_away = False
        """The server does not answer."""
        self.cards = CARDS.agents
        self.failure: TurnInfo | None = FAILED
        self.has_older = True
        """Older messages were summed up, and can be."""

    async def memory_page(self, query: Query) -> tuple[list[Kept], str | None]:
        self.asked.append(("memory_page", query))
        if self.is_away:
            raise ServerUnreachableError("The server does not answer.")
        return self._page(query, [kept for kept in self._all(query) if not kept.is_identity])

    async def identity_page(self, query: Query) -> tuple[list[Kept], str | None]:
        self.asked.append(("identity_page", query))
        word = query.get("perspective")
        found = [kept for kept in self._all(query) if kept.is_identity]
        return self._page(query, [kept for kept in found if word in (None, kept.word)])

    def _all(self, query: Query) -> list[Kept]:
        words = str(query.get("words") or "").rstrip("*").lower()
        kept = [*self.records, *(self.old if query.get("includeHistory") else [])]
        if query.get("status") == "retracted":
            kept = self.old
        owner = query.get("scopeId") or query.get("subjectActorId")
        wanted = {
            "kind": query.get("kind"),
            "author_id": query.get("authorActorId"),
            "owner_id": owner,
            "place": query.get("agentMemoryType"),
        }
        return [
            each
            for each in kept
            if words in each.content.lower()
            and all(value in (None, getattr(each, name)) for name, value in wanted.items())
        ]

    def _page(self, query: Query, found: list[Kept]) -> tuple[list[Kept], str | None]:
        start = int(query.get("cursor") or 0)
        end = start + self.page_size
        return found[start:end], str(end) if end < len(found) else None

    async def versions(self, kept: Kept) -> list[Kept]:
        self.asked.append(("versions", kept.record_id))
        older = memory(0, "The parser drops the last line", status="superseded")
        return [kept, older]

    async def remember(
        self, place: Place, owner_id: str, kind: str, content: str, *, pinned: bool = False
    ) -> Kept:
        self.asked.append(("remember", place, owner_id, kind, content, pinned))
        made = memory(9, content, kind=kind, author_id="user:web", place=place, owner_id=owner_id)
        self.records.insert(0, made)
        return made

    async def correct(self, kept: Kept, kind: str, content: str) -> Kept:
        self.asked.append(("correct", kept.record_id, kind, content))
        return self._replace(kept, kind=kind, content=content)

    async def retract(self, kept: Kept) -> Kept:
        self.asked.append(("retract", kept.record_id))
        gone = self._replace(kept, status="retracted", retracted_at=AT)
        self.records.remove(gone)
        self.old.append(gone)
        return gone

    async def pin(self, kept: Kept, *, pinned: bool) -> Kept:
        self.asked.append(("pin", kept.record_id, pinned))
        return self._replace(kept, pinned_at=AT if pinned else None)

    async def compact(self, room_id: str) -> CompactionReply:
        self.asked.append(("compact", room_id))
        return CompactionReply(accepted=self.has_older)

    async def summary(self, room_id: str) -> SummaryReply:
        self.asked.append(("summary", room_id))
        return SummaryReply(
            room_id=room_id, exists=self.has_older, summary_id="summary_1", from_seq=3,
            through_seq=412, message_count=380, message_characters=214_300, characters=1_250,
            author_actor_id="agent:codex", created_at=AT,
            content="## Parser\n- The last line is kept.\n- Tests run with pytest -q.",
        )  # fmt: skip

    async def reset(self, room_id: str) -> ResetReply:
        self.asked.append(("reset", room_id))
        return ResetReply(reset=self.has_older, through_seq=5)

    async def preview(
        self, room_id: str, actor_id: str, draft: str, reply_to: str | None = None
    ) -> ContextPreview:
        self.asked.append(("preview", room_id, actor_id, draft, reply_to))
        return ContextPreview(
            room_id=room_id, actor_id=actor_id, session="new",
            text="[groupx_protocol]\nroom=room:main\n[/groupx_protocol]\n", characters=24_000,
            soft_characters=48_000, max_characters=96_000, through_seq=5, needs_compaction=True,
            sections=(
                SectionInfo(name="current_message", characters=900, mandatory=True, included=1),
                SectionInfo(
                    name="room_delta_since_cursor", characters=20_000, mandatory=False, included=12,
                    omitted=3, left_out=(LeftOutInfo(id="evt_1", characters=9),),
                ),
            ),
        )  # fmt: skip

    async def usage(self, *, actor_id: str | None = None) -> UsageReply:
        self.asked.append(("usage", actor_id))
        actor = ActorUsage(actor_id=actor_id or "agent:codex", **USAGE.model_dump())
        return UsageReply(totals=USAGE, actors=(actor,), upkeep=UPKEEP)

    async def raw_event(self, event_id: str) -> str:
        self.asked.append(("raw_event", event_id))
        return f'{{"eventId": "{event_id}", "type": "message.created"}}'

    async def raw_turn(self, turn_id: str) -> str:
        self.asked.append(("raw_turn", turn_id))
        return f'{{"turnId": "{turn_id}", "status": "completed"}}'

    async def last_failure(self, actor_id: str) -> TurnInfo | None:
        self.asked.append(("last_failure", actor_id))
        return self.failure

    async def agent(self, actor_id: str) -> AgentInfo:
        for card in self.cards:
            if card.actor_id == actor_id:
                return card
        raise RefusedError("There is no such agent.", code=ErrorCode.UNKNOWN_ACTOR)

    def _replace(self, kept: Kept, **changes: Any) -> Kept:
        new = replace(kept, **changes)
        ids = [each.record_id for each in self.records]
        self.records[ids.index(kept.record_id)] = new
        return new


FAILED = TurnInfo(
    turn_id="turn_3", room_id="room:ideas", target_actor_id="agent:codex", status="failed",
    source_event_id="evt_1", correlation_id="c", error_code="AGENT_NEEDS_LOGIN",
    error_message="Nobody is signed in.", queued_at=AT, terminal_at=AT,
)  # fmt: skip
CARDS = AgentList(
    agents=(
        AgentInfo(
            actor_id="agent:codex", display_name="Codex", driver="codex", enabled=True,
            status="needs_login", detail="Nobody is signed in: run “codex login” in a shell.",
            cwd="/home/me/project", command="codex app-server", agent_name="codex",
            agent_version="1.2.3", model="gpt-5.4", queued_turns=2,
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
