"""The life of one configured agent: start when needed, watch, restart with patience, close.

Owns at most one driver (one process) and the sessions in it, one for each room. Invariants: the
process starts with the first session that is asked for, once, however many ask; a session that is
lost, or whose process is gone, is never handed out again; an agent that died while idle is
started again only if it had sessions, ever more slowly, and at once when a prompt needs it; every
change is told through `on_status`. `run` never raises for what an agent does. The counterparts
are `base.Driver` below and rooms/ above, which decides what is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from groupx_server.agents.base import (
    AgentInfo,
    AgentSpec,
    Driver,
    DriverFactory,
    Recalled,
    Session,
    SessionRequest,
    native_protocol,
)
from groupx_server.agents.clock import Clock, SystemClock
from groupx_server.logs import get_logger
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from groupx_shared.ids import new_id

FIRST_RETRY_S: Final = 1.0
MAX_RETRY_S: Final = 60.0
HEALTHY_S: Final = 60.0
"""A process that lived this long was fine: its death starts the back-off from the beginning."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)

START_SHARE_S: Final = 2.0
"""So long a start counts among the few at once: most of its processor time is spent by then."""

HostState = Literal["stopped", "starting", "ready", "retrying", "failed"]

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HostStatus:
    """What is known of an agent's process. `detail` is a sentence for people; `instance_id` the
    process that the status is about; `changed_at` and `retry_at` (when a dead one is started
    again) aware UTC."""

    state: HostState
    detail: str = ""
    pid: int | None = None
    info: AgentInfo | None = None
    instance_id: str | None = None
    changed_at: datetime = _NEVER
    retry_at: datetime | None = None


class _Place:
    """A place at the gate, left once."""

    def __init__(self, gate: asyncio.Semaphore) -> None:
        self._gate: asyncio.Semaphore | None = gate

    def leave(self) -> None:
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.release()


class AgentHost:
    """Keeps one agent going; `run` belongs into the server's TaskGroup."""

    def __init__(
        self,
        spec: AgentSpec,
        factory: DriverFactory,
        on_status: Callable[[HostStatus], None] = lambda _: None,
        *,
        clock: Clock | None = None,
        today: Callable[[], datetime] = lambda: datetime.now(UTC),
        start_gate: asyncio.Semaphore | None = None,
    ) -> None:
        """`start_gate` is shared by all hosts: a start costs seconds of CPU, so few run at once."""
        self.spec = spec
        self._factory = factory
        self._on_status = on_status
        self._clock: Clock = clock or SystemClock()
        self._today = today
        self._gate = start_gate or asyncio.Semaphore()
        self._lock = asyncio.Lock()
        self._driver: Driver | None = None
        self._starting: Driver | None = None
        self._retiring: Driver | None = None
        self._retired = asyncio.Event()
        self._instance_id: str | None = None
        self._started_at = 0.0
        self._sessions: dict[str, Session] = {}
        self._deaths = 0
        self._wanted = False
        self._closing = False
        self._wake = asyncio.Event()
        self._status = HostStatus("stopped")
        self._info: AgentInfo | None = None

    # --- what is known ----------------------------------------------------------------------

    @property
    def status(self) -> HostStatus:
        """The latest status."""
        return self._status

    @property
    def info(self) -> AgentInfo | None:
        """What the agent said of itself when it last started."""
        return self._info

    @property
    def protocol(self) -> str:
        """The protocol of its driver; a native session is resumed only under the same one."""
        if self._info is not None:
            return self._info.protocol
        return native_protocol(self.spec.driver)

    @property
    def instance_id(self) -> str | None:
        """Id of the running process in the ledger; another one for each start."""
        return self._instance_id if self._is_alive() else None

    def stderr_tail(self) -> str:
        """The last lines that the process wrote to stderr."""
        return self._driver.stderr_tail() if self._driver is not None else ""

    # --- sessions ---------------------------------------------------------------------------

    async def session(self, room_id: str, request: SessionRequest) -> Session:
        """The room's session: the open one, else one opened (or resumed, when `request` says so)
        in the running process, which is started when there is none.

        Raises: AgentError. Nothing was sent to the agent's model then.
        """
        kept = self._kept(room_id)
        if kept is not None:
            return kept
        async with self._lock:
            kept = self._kept(room_id)
            if kept is not None:
                return kept
            try:
                driver = await self._running_driver()
            except AgentError as error:
                self._tell("failed", error.message)
                raise
            session = await driver.open_session(request)
            self._sessions[room_id] = session
            return session

    def keeps(self, room_id: str, session: Session) -> bool:
        """This is the room's open session, and its process is not about to end."""
        return self._retiring is None and self._kept(room_id) is session

    async def forget(self, room_id: str) -> None:
        """Close the room's session, if one is open; the next one asked for is opened anew."""
        session = self._sessions.pop(room_id, None)
        if session is not None and not session.lost and self._is_alive():
            await session.close()

    async def recall(
        self,
        request: SessionRequest,
        native_turn_id: str | None,
        is_ours: Callable[[str], bool],
    ) -> Recalled | None:
        """Ask the agent what became of a turn of an earlier process (see `Driver.recall`).

        Raises: AgentError.
        """
        async with self._lock:
            driver = await self._running_driver()
            return await driver.recall(request, native_turn_id, is_ours)

    async def discard(self) -> None:
        """The session was lost: end the process; the next `session` starts another."""
        await self._end("It was stopped after a turn that could not go on.")

    async def restart(self) -> None:
        """End the process now; `run` starts it again (or the next `session` does)."""
        self._deaths = 0
        await self._end("It is being restarted.")
        self._wanted = True
        self._wake.set()

    # --- life -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Watch the process and start it again when it died idle, until `close`."""
        while not self._closing:
            driver = self._driver
            if driver is not None:
                await self._watch(driver)
            elif self._wanted:
                await self._start_again()
            else:
                await self._wake.wait()
                self._wake.clear()

    async def close(self) -> None:
        """End the process and `run`, bounded; the host starts nothing any more."""
        self._closing = True
        self._wake.set()
        await self._end("It was stopped with the server.")

    async def _watch(self, driver: Driver) -> None:
        reason = await driver.wait_exited()
        if self._retiring is driver:
            await self._retired.wait()
            return
        async with self._lock:
            if self._driver is not driver:
                return  # replaced meanwhile
            await self._take_down(driver)
            if self._closing:
                return
            log.warning("agent_exited", agent=self.spec.actor_id, reason=reason)
            had_sessions = bool(self._sessions)
            self._sessions.clear()
            if self._clock.now() - self._started_at >= HEALTHY_S:
                self._deaths = 0
            self._wanted = had_sessions
            if had_sessions:
                self._tell_retry(reason)
            else:
                self._tell("stopped", reason)

    async def _start_again(self) -> None:
        """Wait out the back-off, unless a session is asked for first, and start."""
        if self._deaths:
            until = self._clock.now() + self._delay_s()
            self._wake.clear()
            await self._clock.wait(self._wake, until)
        async with self._lock:
            if self._closing or self._driver is not None or not self._wanted:
                return
            try:
                await self._start()
            except AgentError as error:
                log.warning("agent_restart_failed", agent=self.spec.actor_id, reason=error.message)
                self._tell_retry(error.message)
            except Exception as error:  # the agent's border: one broken agent stops nobody else
                log.exception("agent_restart_crashed", agent=self.spec.actor_id)
                self._tell_retry(f"Its driver failed: {error!r}.")

    async def _running_driver(self) -> Driver:
        driver = self._driver
        if driver is not None and self._is_alive():
            return driver
        if driver is not None:
            await self._take_down(driver)
            self._sessions.clear()
        return await self._start()

    async def _start(self) -> Driver:
        """Start a process (the lock is held). Raises: AgentError."""
        self._wanted = False
        self._tell("starting", "It is starting.")
        try:
            info, driver = await self._start_in_turn()
        except asyncio.CancelledError:
            self._tell("stopped", "Its start was given up.")
            raise
        finally:
            self._starting = None
        self._driver, self._info = driver, info
        self._instance_id = new_id("instance")
        self._started_at = self._clock.now()
        self._tell("ready", " ".join(f"{info.name} {info.version} is running.".split()))
        self._wake.set()
        return driver

    async def _start_in_turn(self) -> tuple[AgentInfo, Driver]:
        """Start among few at once; a start that takes long makes room for the next meanwhile, so
        that agents which hang delay nobody else."""
        await self._gate.acquire()
        place = _Place(self._gate)
        timer = asyncio.get_running_loop().call_later(START_SHARE_S, place.leave)
        try:
            return await self._start_driver()
        finally:
            timer.cancel()
            place.leave()

    async def _start_driver(self) -> tuple[AgentInfo, Driver]:
        if self._closing:
            raise AgentError(
                "The server is shutting down; no agent is started.", code=ErrorCode.SHUTTING_DOWN
            )
        try:
            self._starting = driver = self._factory(self.spec)
        except ConfigError as error:
            raise AgentError(error.message, details=error.details) from error
        return await driver.start(), driver

    async def _end(self, why: str) -> None:
        """End the process, whoever waits for it. It is closed before the lock is taken, so that
        a start or an opening session fails at once instead of delaying this."""
        self._retired.clear()
        self._retiring = self._driver or self._starting
        try:
            if self._retiring is not None:
                await self._retiring.close()
            async with self._lock:
                self._sessions.clear()
                self._wanted = False
                if self._driver is not None:
                    await self._take_down(self._driver)
                self._tell("stopped", why)
        finally:
            self._retiring = None
            self._retired.set()

    async def _take_down(self, driver: Driver) -> None:
        await driver.close()
        self._driver = None

    def _kept(self, room_id: str) -> Session | None:
        session = self._sessions.get(room_id)
        if session is None or session.lost or not self._is_alive():
            return None
        return session

    def _is_alive(self) -> bool:
        return self._driver is not None and self._driver.is_usable

    def _delay_s(self) -> float:
        return float(min(MAX_RETRY_S, FIRST_RETRY_S * 2 ** (self._deaths - 1)))

    def _tell_retry(self, reason: str) -> None:
        self._deaths = min(self._deaths + 1, 32)
        self._wanted = True
        delay_s = self._delay_s()
        detail = f"{reason} It is started again in {delay_s:g} s."
        self._tell("retrying", detail, self._today() + timedelta(seconds=delay_s))

    def _tell(self, state: HostState, detail: str, retry_at: datetime | None = None) -> None:
        driver = self._driver
        self._status = HostStatus(
            state,
            detail,
            driver.pid if driver is not None else None,
            self._info,
            self._instance_id,
            self._today(),
            retry_at,
        )
        self._on_status(self._status)
