"""One turn from the head of a lane to its terminal.

    packet -> claim and prompt_invoked on disk -> prompt -> first sign: started -> … -> terminal

The order of the durable steps is the promise (see ledger/dispatch). Whatever happens, a claimed
turn ends exactly once; when the server stops in the middle, it ends as `interrupted`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from groupx_server.agents.base import Session
from groupx_server.context.gather import PacketRequest, gather_packet
from groupx_server.context.packet import Packet
from groupx_server.domain.condition import Condition, read_condition
from groupx_server.domain.limits import Limits
from groupx_server.domain.native import (
    NativeEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    Waiting,
)
from groupx_server.domain.steps import StepLog
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.batch import Step
from groupx_server.ledger.budget import end_over_budget
from groupx_server.ledger.dispatch import (
    Attempt,
    Claim,
    append_partial,
    claim_and_invoke,
    mark_native_started,
)
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.steps import note_steps
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.terminal import Ended, TurnEnd, end_turn
from groupx_server.ledger.turns import QueuedHead, head_of_lane
from groupx_server.logs import get_logger
from groupx_server.rooms.bell import Bell
from groupx_server.rooms.beside import Beside
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.collect import TurnCollector
from groupx_server.rooms.deltas import LiveOutput
from groupx_server.rooms.grants import Grants
from groupx_server.rooms.live import Outlet, Speaker
from groupx_server.rooms.meaning import Meanings
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_shared.errors import ErrorCode, GroupXError

T = TypeVar("T")

PARTIAL_EVERY_S: Final = 0.4
"""A running answer is on disk at most this long after it was shown."""
CANCEL_AGAIN_S: Final = 1.0
END_WITHIN_S: Final = 3.0
"""For the terminal of a turn whose lane is being stopped."""

NEVER_ANSWERED: Final = frozenset(
    {
        ErrorCode.SESSION_NOT_AVAILABLE,
        ErrorCode.PROTOCOL_INVALID_MESSAGE,
        ErrorCode.TURN_FIRST_EVENT_TIMEOUT,
        ErrorCode.TURN_CANCEL_TIMEOUT,
    }
)
"""Ends that say nothing of whether the prompt arrived."""

log = get_logger(__name__)


@dataclass(slots=True)
class Binding:
    """A live session with its ledger ids. `is_fresh` until it took a first prompt."""

    session: Session
    binding_id: str
    instance_id: str
    is_fresh: bool


@dataclass(slots=True)
class Runtime:
    """What every turn needs. `limits` may be replaced while the server runs."""

    ledger: Ledger
    outlet: Outlet
    limits: Limits
    clock: Clock = field(default_factory=Clock)
    grants: Grants | None = None
    """Gives sessions the room's tools; None: they get none."""
    ask_s: float = 120.0
    """How long an agent waits for another one's answer unless it says otherwise."""
    watch_s: float = 120.0
    """How long an observer waits for a step unless it says otherwise."""
    steps: Bell = field(default_factory=Bell)
    """Rung when steps of a watched turn are on disk."""
    meanings: Meanings | None = None
    """What texts mean, for search; None: words alone."""
    prepare: Callable[[PacketRequest, Packet], Awaitable[Packet]] | None = None
    """Makes the packet of a turn that would leave something out, after summing that up; None: it
    is left out."""


@dataclass(frozen=True, slots=True)
class Performer:
    """The agent whose turn it is."""

    actor_id: str
    display_name: str
    identity: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the turn left the session: what the agent's card should say."""

    error: str | None = None
    condition: Condition | None = None


class TurnRunner:
    """Runs one turn; `cancel` may be called from outside at any time."""

    def __init__(
        self,
        runtime: Runtime,
        performer: Performer,
        head: QueuedHead,
        *,
        on_waiting: Callable[[bool], None] = lambda _: None,
        on_left_queue: Callable[[], None] = lambda: None,
    ) -> None:
        self.head = head
        self._on_waiting = on_waiting
        self._on_left_queue = on_left_queue
        self._runtime = runtime
        self._performer = performer
        self._cancel_requested = asyncio.Event()
        self._on_cancel: Callable[[], object] | None = None
        """Passes a cancel on to the agent; there while it has the prompt."""
        self._collector: TurnCollector | None = None
        self._session: Session | None = None
        self._part_no = 0
        self._is_queued = True
        self.has_looked = False
        """The end was written, and with it `next_head` was read."""
        self.next_head: QueuedHead | None = None
        """The lane's next turn when this one ended; None when none waited."""

    async def run(self, binding: Binding) -> Outcome:
        """Bring the turn to its end. Raises: LedgerError when the ledger is closed."""
        try:
            packet = await self._packet_unless_cancelled(binding)
        except GroupXError as error:
            await self.fail(error, reason="context_preparation_failed")
            return Outcome()
        if packet is None:
            return Outcome()
        attempt = await self._claim(binding, packet)
        if attempt is None:
            return Outcome()
        self._leave_queue()
        self._collector = self._new_collector(attempt)
        try:
            return await self._attempted(attempt, binding, packet)
        except asyncio.CancelledError:
            await self._end_at_stop()
            raise

    async def stop_if_spent(self) -> bool:
        """End the turn when its root has spent its budget, before anything is sent; True then."""
        runtime = self._runtime
        if not runtime.limits.tokens_per_root:
            return False
        step = partial(
            end_over_budget,
            head=self.head,
            actor_id=self._performer.actor_id,
            limits=runtime.limits,
            now=runtime.clock.now(),
        )
        ended = await self._write(step)
        if ended is not None and ended.is_new:
            self._leave_queue()
        return ended is not None

    def cancel(self) -> None:
        """Tell the agent, once it has the prompt; the turn's row says `cancelling` already."""
        if self._cancel_requested.is_set():
            return
        self._cancel_requested.set()
        if self._on_cancel is not None:
            self._on_cancel()

    async def steer(self, text: str) -> bool:
        """Give the agent a further message in this turn; False when it did not take it.

        Raises: AgentError when it is not known whether it did.
        """
        return self._session is not None and await self._session.steer(text)

    @property
    def is_speaking(self) -> bool:
        """The agent has the prompt and has not ended."""
        return self._session is not None

    async def fail(
        self, error: GroupXError, reason: str | None = None, *, keep_answer: bool = True
    ) -> None:
        """End a turn that cannot go on. `keep_answer`: with what was answered until then."""
        turn_id, extra = self.head.turn_id, {} if reason is None else {"reason": reason}
        code, message = error.code, error.message
        end = TurnEnd(
            turn_id, TurnStatus.FAILED, error_code=code, error_message=message, extra=extra
        )
        if self._collector is not None and keep_answer:
            end = self._collector.finish(
                turn_id, TurnStatus.FAILED, error_code=code, error_message=message
            )
        if (await self._end(end)).is_new:
            self._leave_queue()

    def _leave_queue(self) -> None:
        if self._is_queued:
            self._is_queued = False
            self._on_left_queue()

    async def _end_at_stop(self) -> None:
        """The server stops: end as `interrupted` if the disk takes it within the bound. If not,
        the next start does; the stop goes on either way."""
        try:
            async with asyncio.timeout(END_WITHIN_S):
                await self._end(self._interrupted())
        except (TimeoutError, GroupXError) as error:
            log.warning("turn.unsettled", turn=self.head.turn_id, error=str(error))

    async def _packet_unless_cancelled(self, binding: Binding) -> Packet | None:
        """The packet; None when the turn was cancelled meanwhile, which ended it: the room may have
        to be summed up first, and that takes as long as an agent writes."""
        request = self._packet_request(binding)
        read = partial(gather_packet, request=request)
        packet = await read_patiently(self._runtime.ledger, read)
        prepare = self._runtime.prepare
        if packet.omitted == 0 or prepare is None:
            return packet  # nearly always: no task need wait beside a read of some milliseconds
        async with asyncio.TaskGroup() as tasks:
            preparing = tasks.create_task(_result_of(prepare(request, packet)))
            cancelling = tasks.create_task(self._cancel_requested.wait())
            await asyncio.wait([preparing, cancelling], return_when=asyncio.FIRST_COMPLETED)
            cancelling.cancel()
            preparing.cancel()
        if preparing.cancelled():
            return None
        result = preparing.result()
        if isinstance(result, GroupXError):
            raise result
        return result

    def _packet_request(self, binding: Binding) -> PacketRequest:
        return PacketRequest(
            room_id=self.head.room_id,
            source_event_id=self.head.source_event_id,
            actor_id=self._performer.actor_id,
            actor_name=self._performer.display_name,
            identity=self._performer.identity,
            session_is_fresh=binding.is_fresh,
            max_chars=self._runtime.limits.context_characters,
            turn_id=self.head.turn_id,
        )

    async def _claim(self, binding: Binding, packet: Packet) -> Attempt | None:
        claim = Claim(
            turn_id=self.head.turn_id,
            actor_id=self._performer.actor_id,
            binding_id=binding.binding_id,
            instance_id=binding.instance_id,
            context_through_seq=packet.through_seq,
            summary_through_seq=packet.summary_through_seq,
        )
        now = self._runtime.clock.now()
        return await self._write(partial(claim_and_invoke, claim=claim, now=now))

    def _new_collector(self, attempt: Attempt) -> TurnCollector:
        speaker = Speaker(
            self._performer.actor_id,
            self._performer.display_name,
            attempt.room_id,
            attempt.correlation_id,
        )
        runtime = self._runtime
        output = LiveOutput(attempt.turn_id, speaker, runtime.outlet, runtime.limits, runtime.clock)
        steps = StepLog() if attempt.is_watched else None
        return TurnCollector(output, runtime.limits, runtime.clock, steps)

    async def _attempted(self, attempt: Attempt, binding: Binding, packet: Packet) -> Outcome:
        failpoint("prompt.before_send")
        async with Beside() as beside:
            # No task before there is something to do: a short turn needs neither.
            beside.later(PARTIAL_EVERY_S, partial(self._save_partials, attempt.turn_id))
            self._on_cancel = partial(beside.start, partial(self._pass_on_cancel, binding.session))
            if self._cancel_requested.is_set():
                self._on_cancel()
            try:
                last = await self._follow(attempt, binding, packet)
            finally:
                self._session = self._on_cancel = None
        await self._end(self._end_of(attempt, last))
        failed = last if isinstance(last, TurnFailed) else None
        return (
            Outcome() if failed is None else Outcome(failed.message, read_condition(failed.details))
        )

    async def _follow(self, attempt: Attempt, binding: Binding, packet: Packet) -> NativeEvent:
        """Take the agent's events until the terminal one, and return that."""
        assert self._collector is not None
        has_started = False
        async with aclosing(binding.session.prompt(attempt.turn_id, packet.text)) as events:
            async for event in events:
                if not has_started and _proves_delivery(event):
                    self._session = binding.session
                    await self._started(attempt, binding, event)
                    has_started = True
                    failpoint("turn.after_started")
                if isinstance(event, TurnCompleted | TurnCancelled | TurnFailed):
                    return event
                self._collector.take(event)
                self._on_waiting(self._collector.is_waiting)
                failpoint("turn.after_event")
        return TurnFailed(
            ErrorCode.PROTOCOL_INVALID_MESSAGE,
            "The agent's stream ended without an end of the turn.",
            session_lost=True,
        )

    async def _pass_on_cancel(self, session: Session) -> None:
        """Repeated until the turn ends: a cancel that meets a prompt on its way out is not lost.
        The driver bounds how long a turn may outlive its cancel."""
        while True:
            await session.cancel()
            await asyncio.sleep(CANCEL_AGAIN_S)

    async def _started(self, attempt: Attempt, binding: Binding, event: NativeEvent) -> None:
        native_id = event.native_turn_id if isinstance(event, TurnStarted) else None
        binding.is_fresh = False
        step = partial(
            mark_native_started,
            attempt=attempt,
            native_turn_id=native_id,
            instance_id=binding.instance_id,
            now=self._runtime.clock.now(),
        )
        await self._write(step)

    async def _save_partials(self, turn_id: str) -> None:
        while True:
            await self._save_partial(turn_id)
            await asyncio.sleep(PARTIAL_EVERY_S)

    async def _save_partial(self, turn_id: str) -> None:
        assert self._collector is not None
        pieces, self._collector.unsaved = self._collector.unsaved, []
        steps = self._collector.steps
        if pieces:
            self._part_no += 1
            text = "".join(pieces)
            step = partial(append_partial, turn_id=turn_id, part_no=self._part_no, text=text)
            await self._write(step)  # what comes meanwhile goes into the next piece
        if steps is not None and steps.unsaved:
            await self._save_steps(turn_id, steps)

    async def _save_steps(self, turn_id: str, log_of: StepLog) -> None:
        """Of a watched turn, after what was said before them. They are kept until the disk has
        them: the end writes what is left."""
        steps = log_of.unsaved
        await self._write(partial(note_steps, turn_id=turn_id, steps=steps))
        log_of.saved(steps)
        self._runtime.steps.ring()

    def _end_of(self, attempt: Attempt, last: NativeEvent) -> TurnEnd:
        assert self._collector is not None
        finish = partial(self._collector.finish, attempt.turn_id)
        match last:
            case TurnCompleted():
                self._collector.record.usage.update(last.usage)
                return finish(
                    TurnStatus.COMPLETED, content=last.content, stop_reason=last.stop_reason
                )
            case TurnCancelled():
                return finish(TurnStatus.CANCELLED, content=last.content)
            case TurnFailed():
                return finish(
                    TurnStatus.FAILED,
                    content=last.content,
                    error_code=last.code,
                    error_message=last.message,
                )
            case _:
                return self._interrupted()

    def _interrupted(self) -> TurnEnd:
        assert self._collector is not None
        return self._collector.finish(
            self.head.turn_id,
            TurnStatus.INTERRUPTED,
            error_code=ErrorCode.TURN_INTERRUPTED,
            error_message="The server was stopped during this turn; nothing was sent again.",
        )

    async def _end(self, end: TurnEnd) -> Ended:
        runtime = self._runtime
        limits, now, actor_id = runtime.limits, runtime.clock.now(), self._performer.actor_id

        def step(connection: sqlite3.Connection) -> tuple[Ended, QueuedHead | None]:
            ended = end_turn(connection, end, limits, now)
            return ended, head_of_lane(connection, actor_id)

        ended, self.next_head = await self._write(step)
        self.has_looked = True
        failpoint("terminal.after_commit")
        log.info(
            "turn.ended",
            turn=end.turn_id,
            status=ended.status.value,
            error_code=end.error_code,
            duration_ms=end.duration_ms,
        )
        return ended

    async def _write(self, step: Step[T]) -> T:
        return await write_patiently(self._runtime.ledger, step)


async def _result_of(work: Awaitable[Packet]) -> Packet | GroupXError:
    """Its result, or its refusal as a value: a group of tasks would wrap that."""
    try:
        return await work
    except GroupXError as error:
        return error


def _proves_delivery(event: NativeEvent) -> bool:
    if isinstance(event, Waiting):  # silence, told by the driver
        return False
    return not (isinstance(event, TurnFailed) and event.code in NEVER_ANSWERED)
