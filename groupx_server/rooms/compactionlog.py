"""How compactions stand: told live to everybody who looks, and kept on disk at each real step.

Invariant: what is on disk is never ahead of the summaries: a part counts as kept in the transaction
that keeps its summary. What only moves (who is asked, which try) is told live and not written.
Counterparts: `compaction`, which does the work, and `ledger.compactions`.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from groupx_server.context.checkpoint import Chunk
from groupx_server.ledger.compactions import interrupted, keep_compaction
from groupx_server.rooms.live import Speaker, live_event
from groupx_server.rooms.patience import write_patiently
from groupx_server.rooms.scribes import Written
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import GroupXError
from groupx_shared.ids import SYSTEM, new_id
from groupx_shared.wire.context import CompactionBody, CompactionInfo
from groupx_shared.wire.events import EventType

_KINDS: Final = {
    "started": EventType.CONTEXT_COMPACTION_STARTED,
    "retrying": EventType.CONTEXT_COMPACTION_RETRYING,
    "completed": EventType.CONTEXT_COMPACTION_COMPLETED,
    "failed": EventType.CONTEXT_COMPACTION_FAILED,
    "interrupted": EventType.CONTEXT_COMPACTION_FAILED,
}
Cause = Literal["turn", "asked", "behind"]


@dataclass(slots=True)
class Operation:
    """One compaction as it stands, and what its kept parts have stood for."""

    room_id: str
    cause: Cause = "turn"
    operation_id: str = field(default_factory=lambda: new_id("op"))
    messages: int = 0
    characters: int = 0
    info: CompactionInfo = field(init=False)
    has_begun: bool = False

    def __post_init__(self) -> None:
        self.info = CompactionInfo(
            operation_id=self.operation_id, phase="started", cause=self.cause
        )


class CompactionLog:
    """Tells and keeps how compactions stand."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._newest: dict[str, CompactionInfo] = {}

    def newest(self, room_id: str) -> CompactionInfo | None:
        """How the room's latest compaction of this server's life stands."""
        return self._newest.get(room_id)

    def expect(self, operation: Operation) -> None:
        """It will begin soon."""
        self._newest[operation.room_id] = operation.info

    async def begin_part(self, operation: Operation, chunk: Chunk, parts_left: int) -> None:
        """Its next part begins, with those who write down their days first."""
        if not operation.has_begun:
            operation.has_begun = True
            operation.info = operation.info.model_copy(update={"started_at": self._now()})
        self._tell(
            operation,
            phase="started",
            step="days",
            part=operation.info.kept_parts + 1,
            parts=operation.info.kept_parts + parts_left,
            from_seq=chunk.from_seq,
            through_seq=chunk.through_seq,
            message_count=len(chunk.messages),
            source_characters=sum(len(message.content) for message in chunk.messages),
            attempt=1,
            generator_actor_id=None,
        )
        await self._keep(operation)

    def asks(self, operation: Operation, actor_id: str) -> None:
        """An agent is asked for the summary."""
        self._tell(operation, step="summary", generator_actor_id=actor_id)

    def tries_again(self, operation: Operation, attempt: int, max_attempts: int) -> None:
        """Nobody wrote one; all are asked again."""
        self._tell(operation, phase="retrying", attempt=attempt, max_attempts=max_attempts)

    def keep_part(
        self, connection: sqlite3.Connection, operation: Operation, now: str
    ) -> CompactionInfo:
        """In the transaction that keeps the part's summary: it counts. Return how it stands."""
        info = operation.info.model_copy(update={"kept_parts": operation.info.part})
        keep_compaction(connection, operation.room_id, info, now)
        return info

    def kept(self, operation: Operation, info: CompactionInfo, written: Written) -> None:
        """The part's summary is on disk."""
        operation.messages += info.message_count
        operation.characters += info.source_characters
        operation.info = info.model_copy(
            update={
                "generator_actor_id": written.actor_id,
                "summary_characters": len(written.text),
                "usage": written.usage,
            }
        )

    async def complete(self, operation: Operation) -> None:
        """All that was wanted is done; of one that did not begin there is nothing to tell."""
        if not operation.has_begun:
            return
        self._tell(
            operation,
            phase="completed",
            parts=operation.info.kept_parts,
            message_count=operation.messages,
            source_characters=operation.characters,
            ended_at=self._now(),
        )
        await self._keep(operation)

    async def fail(
        self, operation: Operation, error: GroupXError, has_no_writer: bool = False
    ) -> None:
        """It ends without its present part."""
        self._tell(
            operation,
            phase="failed",
            has_no_writer=has_no_writer,
            error_code=error.code,
            error_message=error.message,
            ended_at=self._now(),
        )
        await self._keep(operation)

    def break_off(self, operation: Operation) -> None:
        """Its task is being cancelled; on disk the next start says so."""
        operation.info = interrupted(operation.info, self._now())
        self._tell(operation)

    def _tell(self, operation: Operation, **changes: object) -> None:
        operation.info = operation.info.model_copy(update=changes)
        self._newest[operation.room_id] = operation.info
        speaker = Speaker(SYSTEM, "GroupX", operation.room_id, new_id("corr"))
        body = CompactionBody(room_id=operation.room_id, **operation.info.model_dump())
        wire = body.model_dump(mode="json", by_alias=True, exclude_none=True)
        kind = _KINDS[operation.info.phase]
        data = live_event(speaker, kind, wire, self._now())
        self._runtime.outlet.publish_transient(data, operation.room_id)

    async def _keep(self, operation: Operation) -> None:
        step = partial(
            keep_compaction, room_id=operation.room_id, info=operation.info, now=self._now()
        )
        await write_patiently(self._runtime.ledger, step)

    def _now(self) -> str:
        return self._runtime.clock.now()
