"""The composition root: builds everything, owns the root TaskGroup, the order of start and stop.

Start: log, ledger (lease, upgrade), recovery, socket, agents' lanes, HTTP, and last the runtime
file, so that a client that finds the file finds a server that answers.
Stop: refuse new work and end the streams, end turns and agents (bounded), stop listening, remove
the runtime file, close the ledger. Only then may another server take the lease.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from groupx_server.agents.base import RECALLING_DRIVERS, DriverFactory
from groupx_server.agents.leftovers import MARK, sweep
from groupx_server.agents.registry import DriverRegistry
from groupx_server.agents.watchdog import Watchdog
from groupx_server.allocator import give_back_large_blocks
from groupx_server.assistant.configuring import Settings
from groupx_server.assistant.conversation import Conversation
from groupx_server.assistant.setup import Setup, read_setup
from groupx_server.domain.limits import Limits
from groupx_server.http.app import Extras, build_app
from groupx_server.http.auth import Access, Credential, Credentials
from groupx_server.http.serve import HttpServer, bind_loopback
from groupx_server.http.state import ServerState
from groupx_server.ledger.startup import RosterRow, settle_at_start
from groupx_server.ledger.store import Ledger
from groupx_server.logs import get_logger, open_log
from groupx_server.mcp.endpoint import ToolEndpoint
from groupx_server.mcp.gate import Gate
from groupx_server.mcp.operatorendpoint import OperatorEndpoint
from groupx_server.portability.keeper import BackupKeeper
from groupx_server.portability.rotation import Policy
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.broadcast import Hub, HubLimits
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.compaction import Compactor
from groupx_server.rooms.dated import Diaries
from groupx_server.rooms.forgetting import Forgetting, remove_restored
from groupx_server.rooms.grants import Grants
from groupx_server.rooms.live import LateOutlet
from groupx_server.rooms.meaning import Meanings
from groupx_server.rooms.reload import ConfigSource, Reloader
from groupx_server.rooms.roster import Roster, build_roster
from groupx_server.rooms.searching import Searching
from groupx_server.rooms.service import RoomService
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.config import database_path, load_config, runtime_key
from groupx_shared.errors import GroupXError, WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.runtime import RuntimeFile, new_token, remove_runtime, write_runtime
from groupx_shared.settings import BackupSettings, Config, LimitSettings
from groupx_shared.version import VERSION
from groupx_shared.workspace import Workspace

TOOLS_PATH: Final = "/mcp"
"""Where agents find the room's tools."""
GC_YOUNG: Final = 5_000
"""New containers between two looks at the youngest ones; Python's own is 700."""
OPERATOR_PATH: Final = "/mcp/operator"
"""Where the room assistant finds its own."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Site:
    """Where and as what this server runs."""

    workspace: Workspace
    config: Config
    log_path: Path
    clock: Clock


async def run_server(workspace: Workspace, stop: asyncio.Event, *, in_foreground: bool) -> None:
    """Serve `workspace` until `stop` is set or a client asks for it.

    Raises: GroupXError when it cannot start; nothing is left running then.
    """
    config = load_config(workspace)
    private_folder(workspace.data_folder)
    log_path = open_log(workspace.data_folder, to_stderr=in_foreground)
    site = _Site(workspace, config, log_path, Clock())
    log.info("server.starting", version=VERSION, pid=os.getpid(), config=str(workspace.config_path))
    async with await Ledger.open(database_path(workspace, config)) as ledger:
        if ledger.upgrade.backup_path is not None:
            log.info("ledger.upgraded", backup=str(ledger.upgrade.backup_path))
        sock = bind_loopback(config.server.host, config.server.port)
        try:
            await _serve(site, ledger, sock, stop)
        except ExceptionGroup as group:
            raise _cause_of(group) from group
        finally:
            sock.close()
    log.info("server.stopped", pid=os.getpid())


def _cause_of(group: ExceptionGroup) -> Exception:
    """The error of ours inside a TaskGroup's group, which a person can act on; else the group."""
    found: Exception | None = group.subgroup(GroupXError)
    while isinstance(found, ExceptionGroup):
        found = found.exceptions[0]
    return found or group


@dataclass(frozen=True, slots=True)
class _Parts:
    """What one run of the server consists of."""

    runtime: RuntimeFile
    agents: Agents
    service: RoomService
    hub: Hub
    http: HttpServer
    state: ServerState
    gates: Sequence[Gate]
    talk: Conversation


async def _serve(site: _Site, ledger: Ledger, sock: socket.socket, stop: asyncio.Event) -> None:
    if left := sweep(ledger.lease_mark):
        log.warning("agents.leftovers_ended", groups=str(left))
    watchdog = Watchdog()
    try:
        parts = await _build(site, ledger, sock, stop, watchdog)
        async with (
            _running(parts.agents, parts.hub, parts.http, parts.state),
            _backed_up(ledger, site.config.storage.backups, parts.service.forgetting),
            _indexed(parts.service.searching),
            _compacted(parts.service.contexts.compactor),
            _written_down(parts.service.diaries),
            _tools_served(parts.gates),
            _assisted(parts.talk),
        ):
            with _published(site.workspace, parts.runtime):
                _spare_collector()
                parts.state.readiness = "ok"
                log.info("server.ready", url=parts.runtime.url)
                give_back_large_blocks()
                await stop.wait()
                log.info("server.stopping")
                parts.state.close()
    finally:
        await watchdog.close()


async def _build(
    site: _Site, ledger: Ledger, sock: socket.socket, stop: asyncio.Event, watchdog: Watchdog
) -> _Parts:
    """Settle what the last run left open, then put the parts of this run together."""
    config = site.config
    runtime, reader_token = _runtime_file(site, sock), new_token()
    builtin_env = {"GROUPX_AGENT_URL": runtime.url, "GROUPX_AGENT_TOKEN": reader_token}
    roster_of = partial(
        build_roster,
        root=site.workspace.root,
        builtin_env=builtin_env,
        common_env={MARK: ledger.lease_mark},
    )
    roster = roster_of(config)
    await _prepare_rows(ledger, roster, site)
    await remove_restored(ledger, site.clock.now())
    outlet = LateOutlet()
    tools = ToolEndpoint()
    grants = Grants(f"{runtime.url}{TOOLS_PATH}", on_issue=tools.want)
    turn_runtime = _turn_runtime(site, ledger, outlet, grants)
    factory = DriverRegistry(watchdog)
    agents = Agents(turn_runtime, roster, factory)
    tools.connect(turn_runtime, agents)
    service = RoomService(turn_runtime, agents)
    ring = HubLimits(ring_events=config.limits.sse_events, ring_bytes=config.limits.sse_bytes)
    hub = Hub(service, ledger, ring)
    outlet.connect(hub)
    hub.on_audience = partial(setattr, ledger.fresh, "is_wanted")
    service.forgetting.on_removed = partial(_forget_frames, ledger, hub)
    state = ServerState(
        port=sock.getsockname()[1],
        runtime_scope_key=runtime.runtime_scope_key,
        runtime_key=runtime.runtime_key,
        problem=partial(_problem_of, ledger),
    )
    credentials = Credentials(
        {runtime.token: Credential(), reader_token: Credential(access=Access.READER)}
    )
    side = _build_side(site, runtime, builtin_env, turn_runtime, factory)
    tell = partial(_tell_config, site, runtime, state)
    source = ConfigSource(
        load=partial(load_config, site.workspace),
        roster_of=roster_of,
        limits_of=_limits,
        on_taken=_all_of(tell, side.take, service.searching.take),
    )
    reload = Reloader(turn_runtime, agents, source, config).reload
    settings = Settings(site.workspace, source.load, reload)
    side.gate.connect(turn_runtime, agents, service, side.talk, side.grants, settings)
    app = build_app(
        service,
        credentials,
        hub,
        state,
        request_stop=stop.set,
        extras=Extras(reload, side.talk),
        mounted={TOOLS_PATH: tools, OPERATOR_PATH: side.gate},
    )
    http = HttpServer(app, sock)
    return _Parts(runtime, agents, service, hub, http, state, (tools, side.gate), side.talk)


@dataclass(frozen=True, slots=True)
class _Side:
    """The room assistant's parts."""

    talk: Conversation
    gate: OperatorEndpoint
    grants: Grants
    setup_of: Callable[[Config], Setup | None]

    def take(self, config: Config) -> None:
        """Other settings count from now on."""
        self.talk.replace(self.setup_of(config))


def _build_side(
    site: _Site,
    runtime: RuntimeFile,
    builtin_env: Mapping[str, str],
    turn_runtime: Runtime,
    factory: DriverFactory,
) -> _Side:
    setup_of = partial(
        read_setup,
        root=site.workspace.root,
        builtin_env=builtin_env,
        common_env={MARK: turn_runtime.ledger.lease_mark},
    )
    gate = OperatorEndpoint()
    grants = Grants(f"{runtime.url}{OPERATOR_PATH}", on_issue=gate.want)
    talk = Conversation(turn_runtime, factory, grants, setup_of(site.config))
    return _Side(talk, gate, grants, setup_of)


def _turn_runtime(site: _Site, ledger: Ledger, outlet: LateOutlet, grants: Grants) -> Runtime:
    timeouts = site.config.timeouts
    return Runtime(
        ledger,
        outlet,
        _limits(site.config.limits),
        site.clock,
        grants=grants,
        ask_s=timeouts.ask_ms / 1000,
        watch_s=timeouts.watch_ms / 1000,
        meanings=Meanings(ledger, site.clock, site.config.search.embeddings),
    )


def _runtime_file(site: _Site, sock: socket.socket) -> RuntimeFile:
    return RuntimeFile(
        url=_url(sock),
        token=new_token(),
        pid=os.getpid(),
        runtime_scope_key=site.workspace.scope_key,
        runtime_key=runtime_key(site.workspace, site.config),
        version=VERSION,
        started_at=site.clock.now(),
        log_file=str(site.log_path),
    )


@asynccontextmanager
async def _running(
    agents: Agents, hub: Hub, server: HttpServer, state: ServerState
) -> AsyncIterator[None]:
    """Run lanes, fan-out and HTTP; leaving ends them in the order that loses nothing: agents
    first (their turns' ends are still published), then the streams, then the socket."""
    http_stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.run(http_stop), name="http")
        fanning = tasks.create_task(hub.run(), name="hub")
        working = tasks.create_task(agents.run(), name="agents")
        try:
            await server.is_ready.wait()
            yield
        finally:
            state.close()
            working.cancel()
            await asyncio.wait([working])
            hub.close()
            await asyncio.wait([fanning])
            http_stop.set()
            await asyncio.wait([serving])


@asynccontextmanager
async def _backed_up(
    ledger: Ledger, settings: BackupSettings, forgetting: Forgetting
) -> AsyncIterator[None]:
    """Automatic backups are made meanwhile; one under way at the end is given up."""
    policy = Policy(settings.keep, timedelta(days=settings.max_age_days))
    async with asyncio.TaskGroup() as tasks:
        keeper = BackupKeeper(ledger, policy)
        forgetting.purging.renew_backups = keeper.renew
        keeping = tasks.create_task(keeper.run(), name="backups") if settings.enabled else None
        try:
            yield
        finally:
            if keeping is not None:
                keeping.cancel()


@asynccontextmanager
async def _indexed(searching: Searching) -> AsyncIterator[None]:
    """The search index follows the ledger meanwhile; it goes on where it was after a stop."""
    async with asyncio.TaskGroup() as tasks:
        indexing = tasks.create_task(searching.run(), name="search index")
        comparing = tasks.create_task(searching.run_meanings(), name="search vectors")
        try:
            yield
        finally:
            indexing.cancel()
            comparing.cancel()


@asynccontextmanager
async def _compacted(compactor: Compactor) -> AsyncIterator[None]:
    """Rooms are summed up meanwhile when somebody asks for it; one under way at the end changes
    nothing."""
    async with asyncio.TaskGroup() as tasks:
        compacting = tasks.create_task(compactor.run(), name="compaction")
        try:
            yield
        finally:
            compacting.cancel()


@asynccontextmanager
async def _written_down(diaries: Diaries) -> AsyncIterator[None]:
    """Agents write down their days meanwhile; what waits at the end waits on disk."""
    async with asyncio.TaskGroup() as tasks:
        writing = tasks.create_task(diaries.run(), name="dated memory")
        try:
            yield
        finally:
            writing.cancel()


@asynccontextmanager
async def _tools_served(gates: Sequence[Gate]) -> AsyncIterator[None]:
    """The tools of agents and of the assistant answer meanwhile."""
    async with asyncio.TaskGroup() as tasks:
        serving = [tasks.create_task(gate.run(), name="tools") for gate in gates]
        try:
            yield
        finally:
            for each in serving:
                each.cancel()


@asynccontextmanager
async def _assisted(talk: Conversation) -> AsyncIterator[None]:
    """The room assistant answers meanwhile; an answer under way ends as interrupted."""
    async with asyncio.TaskGroup() as tasks:
        talking = tasks.create_task(talk.run(), name="assistant")
        try:
            yield
        finally:
            talking.cancel()


@contextmanager
def _published(workspace: Workspace, runtime: RuntimeFile) -> Iterator[None]:
    """The runtime file stands while the server answers."""
    write_runtime(workspace, runtime)
    try:
        yield
    finally:
        remove_runtime(workspace, runtime.pid)


async def _prepare_rows(ledger: Ledger, roster: Roster, site: _Site) -> None:
    """Bring the actors up to date and settle what an earlier server left open, in one
    transaction, before anybody can ask."""
    now = site.clock.now()
    limits = _limits(site.config.limits)

    rows = [
        RosterRow(entry.actor_id, entry.display_name, entry.enabled)
        for entry in roster.entries.values()
    ]
    recallable = {
        entry.actor_id: RECALLING_DRIVERS[entry.driver]
        for entry in roster.entries.values()
        if entry.enabled and entry.driver in RECALLING_DRIVERS
    }
    step = partial(settle_at_start, roster=rows, limits=limits, now=now, recallable=recallable)
    done = await ledger.write(step)
    log.info(
        "turns.recovered",
        requeued=len(done.requeued),
        cancelled=len(done.cancelled),
        interrupted=len(done.interrupted),
        failed=len(done.failed),
        left_to_ask=len(done.left),
    )


def _all_of(*takers: Callable[[Config], None]) -> Callable[[Config], None]:
    def take(config: Config) -> None:
        for taker in takers:
            taker(config)

    return take


def _tell_config(site: _Site, runtime: RuntimeFile, state: ServerState, config: Config) -> None:
    """Clients compare the key of the config that counts with that of the file."""
    state.runtime_key = runtime_key(site.workspace, config)
    try:
        write_runtime(site.workspace, runtime._replace(runtime_key=state.runtime_key))
    except WorkspaceError as error:  # clients then think that the file differs; nothing else
        log.warning("runtime.not_rewritten", error=error.message)


def _spare_collector() -> None:
    """What the start made stays for as long as the server: the collector need not walk through it
    each time, nor come by as often as in a program that makes rings all the time."""
    gc.freeze()
    gc.set_threshold(GC_YOUNG, 20, 20)


def _forget_frames(ledger: Ledger, hub: Hub) -> None:
    """Nothing that was read before a removal is sent after it."""
    ledger.fresh.forget()
    hub.forget_frames()


def _limits(settings: LimitSettings) -> Limits:
    return Limits(
        message_characters=settings.message_characters,
        queue_per_agent=settings.queue_per_agent,
        root_turns=settings.root_turns,
        hop_count=settings.hop_count,
        actor_calls_per_root=settings.actor_calls_per_root,
        ping_pong_calls=settings.ping_pong_calls,
        steers_per_subject_turn=settings.steers_per_subject_turn,
        tokens_per_root=settings.tokens_per_root,
        context_characters=settings.context_characters,
        answer_characters=settings.answer_characters,
        reasoning_characters=settings.reasoning_characters,
        tool_characters=settings.tool_characters,
        tools_per_turn=settings.tools_per_turn,
    )


def _problem_of(ledger: Ledger) -> str | None:
    """What is wrong with the ledger, without the folder it lies in: health tells it to anybody."""
    problem = ledger.problem
    return None if problem is None else problem.replace(f"{ledger.path.parent}/", "")


def _url(sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
