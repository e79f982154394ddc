"""What every driver of a supervised program has in common: start, end, diagnostics.

Owns the connection of one process. Invariants: a start that fails or is given up leaves no
process, nor does a death, whatever groups its children are in; the error of a start holds what the
program wrote to stderr, since that is where the reason stands. The counterparts are the drivers,
which say how hands are shaken and sessions are opened, and `connection.py`.
"""

from __future__ import annotations

import os
import secrets
from abc import abstractmethod
from pathlib import Path
from typing import Final, Generic, Self

from groupx_server.agents.base import AgentInfo, AgentSpec, Driver
from groupx_server.agents.catalogue import KnownAgent
from groupx_server.agents.clock import Clock, SystemClock
from groupx_server.agents.connection import AgentConnection, ClientT
from groupx_server.agents.environment import agent_environment
from groupx_server.agents.fitness import Unfit, unfit_package, unfit_version
from groupx_server.agents.oneshot import ask
from groupx_server.agents.process_group import PROCESS_MARK
from groupx_server.agents.programs import Program, version_in
from groupx_server.agents.reasons import mentions_policy
from groupx_server.agents.watchdog import Guard
from groupx_shared.errors import AgentError, ErrorCode

_STDERR_CHARS: Final = 4_000
_VERSION_S: Final = 5.0


class ProcessDriver(Driver, Generic[ClientT]):
    """One agent process with a protocol client on its stdio."""

    inherited_env: tuple[str, ...] = ()
    """Variables beyond the small common set that this program needs to find its own files."""

    def __init__(
        self,
        spec: AgentSpec,
        client: ClientT,
        guard: Guard,
        clock: Clock | None = None,
        *,
        settle_s: float,
    ) -> None:
        self.spec = spec
        self._guard = guard
        self._clock: Clock = clock or SystemClock()
        self._link = AgentConnection(spec, client, settle_s, self._clock)
        self._link.leftover_mark = secrets.token_hex(16)
        self._known: KnownAgent | None = None
        self._program: Program | None = None

    def of(self, known: KnownAgent | None, program: Program | None) -> Self:
        """Tell whose program it starts, and which one was found; returns itself."""
        self._known, self._program = known, program
        return self

    async def start(self) -> AgentInfo:
        """See `Driver.start`. A program that is known to be too old is not used."""
        if self._known is not None and self._program is not None:
            self._require_fit(unfit_package(self._known, self._program.package))
        try:
            await self._link.spawn(self._environment(), self._guard)
            info = await self._shake_hands()
            if self._known is not None:
                self._require_fit(unfit_version(self._known, info.version))
            return info
        except AgentError as error:
            await self._link.end(0, "its start failed")
            await self._blame_age()
            raise self._start_error(error) from error
        except BaseException:
            self._link.kill()
            await self._link.end(0, "its start was given up")
            raise

    async def close(self) -> None:
        """See `Driver.close`."""
        await self._link.end(self.spec.timeouts.close_s, "it was closed")

    async def wait_exited(self) -> str:
        """See `Driver.wait_exited`."""
        await self._link.ended.wait()
        return self._link.end_sentence

    @property
    def pid(self) -> int | None:
        """See `Driver.pid`."""
        return self._link.pid

    def stderr_tail(self) -> str:
        """See `Driver.stderr_tail`."""
        return self._link.stderr_tail()

    @abstractmethod
    async def _shake_hands(self) -> AgentInfo:
        """Do the protocol's handshake in the process that just started. Raises: AgentError."""

    def _require_fit(self, unfit: Unfit | None) -> None:
        if unfit is not None and self._known is not None:
            raise unfit.error(self._known)

    async def _blame_age(self) -> None:
        """An old program may not even know our arguments: when no package tells its version, it is
        asked. Raises: AgentError when it is too old."""
        known, program = self._known, self._program
        if known is None or not known.minimum or program is None or program.package is not None:
            return
        argv = [str(program.path), "--version"]
        try:
            told = await ask(argv, Path("/"), self._environment(), self._guard, _VERSION_S)
        except AgentError:
            return  # what its start said is all there is
        self._require_fit(unfit_version(known, version_in(told.text)))

    def _environment(self) -> dict[str, str]:
        """Many programs put each command into a session of its own and end it in order, unless
        they are killed: then the mark finds what they left."""
        kept = {name: os.environ[name] for name in self.inherited_env if name in os.environ}
        environment = agent_environment(os.environ, {**kept, **self.spec.env})
        return {**environment, PROCESS_MARK: self._link.leftover_mark}

    def _start_error(self, error: AgentError) -> AgentError:
        """The error of a start, with what the program said."""
        stderr = self._link.stderr_tail()[-_STDERR_CHARS:]
        message, code = error.message, error.code
        if code is ErrorCode.SESSION_NOT_AVAILABLE:
            code = ErrorCode.ADAPTER_START_FAILED
        if mentions_policy(stderr):
            code = ErrorCode.NATIVE_POLICY_BLOCKED
        if self._link.first_noise:
            message += f" It wrote text instead of the protocol: “{self._link.first_noise}”."
        return AgentError(message, code=code, details={**error.details, "stderr": stderr})
