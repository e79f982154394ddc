"""A changed config is taken over while the server runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from groupx_server.app import _limits
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.rooms.reload import ConfigSource, Reloader
from groupx_server.rooms.roster import build_roster
from groupx_shared.config import load_config
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.settings import Config
from groupx_shared.workspace import find_workspace
from support.http_app import settle
from support.rooms import House, house

START: dict[str, Any] = {
    "agents": {"a": {"driver": "fake"}, "b": {"driver": "fake"}, "off": {"enabled": False}},
    "limits": {"hopCount": 5},
}


class Desk:
    """A house whose roster comes from a file."""

    def __init__(self, rooms: House, folder: Path) -> None:
        self.rooms = rooms
        self.path = folder / "groupx.json"
        self.taken: list[Config] = []
        self.count = 0
        self.write(START)
        workspace = find_workspace(folder)
        source = ConfigSource(
            load=partial(load_config, workspace),
            roster_of=partial(build_roster, root=folder),
            limits_of=_limits,
            on_taken=self.taken.append,
        )
        self.reloader = Reloader(
            rooms.agents._runtime, rooms.agents, source, load_config(workspace)
        )

    def write(self, config: dict[str, Any]) -> None:
        self.path.write_text(json.dumps(config))

    async def reload(self, config: dict[str, Any] | None = None) -> dict[str, Any]:
        if config is not None:
            self.write(config)
        self.count += 1
        reply = await self.reloader.reload(f"reload-{self.count}")
        return reply.model_dump(exclude_defaults=True)


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    async with house(folder) as rooms:
        made = Desk(rooms, folder)
        await settle(lambda: rooms.agents._tasks is not None)  # the agents have their seats
        await made.reload()  # the house began with another roster
        yield made


def changed(**agents: Any) -> dict[str, Any]:
    return {**START, "agents": {**START["agents"], **agents}}


async def test_agents_come_go_and_are_switched(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        config = changed(new={"driver": "fake"}, off={"enabled": True}, b={"enabled": False})
        del config["agents"]["a"]
        assert await it.reload(config) == {
            "added": ("agent:new",),
            "removed": ("agent:a",),
            "enabled": ("agent:off",),
            "disabled": ("agent:b",),
        }
        assert (await it.rooms.ended(await it.rooms.send(to=["new"]))).status == "completed"
        assert it.rooms.agents.roster.default_actor_id == "agent:off"


async def test_a_running_turn_of_a_changed_agent_is_named_and_ends_first(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        gate = asyncio.Event()
        it.rooms.fleet.scripts.append([ContentDelta("x"), gate, TurnCompleted()])
        running = await it.rooms.send(to=["a"])
        await it.rooms.turn_in(running.turns[0].turn_id, "running")
        reply = await it.reload(changed(a={"driver": "fake", "env": {"K": "1"}}))
        assert reply == {"changed": ("agent:a",), "finishing": ("agent:a",)}
        renamed = changed(
            a={"driver": "fake", "env": {"K": "1"}}, b={"driver": "fake", "name": "B"}
        )
        assert await it.reload(renamed) == {"changed": ("agent:b",)}
        gate.set()
        assert (await it.rooms.ended(running)).status == "completed"


async def test_limits_count_at_once_and_what_needs_a_restart_is_named(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        config = {
            **START,
            "limits": {"hopCount": 7, "sseEvents": 9},
            "server": {"port": 4711},
            "storage": {"path": "other.db"},
            "assistant": {"enabled": True},
        }
        assert await it.reload(config) == {
            "settings": ("assistant.enabled", "limits.hopCount"),
            "restart_required": ("limits.sseEvents", "server.port", "storage.path"),
        }
        assert it.rooms.agents._runtime.limits.hop_count == 7
        assert it.taken[-1].server.port == 0
        assert it.taken[-1].limits.sse_events == 512
        assert (await it.reload())["restart_required"][1] == "server.port"


async def test_other_time_limits_change_every_agent(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        reply = await it.reload({**START, "timeouts": {"idleMs": 1000}})
        assert reply["settings"] == ("timeouts.idleMs",)
        assert set(reply["changed"]) == {"agent:a", "agent:b", "agent:off"}


async def test_how_long_agents_wait_for_each_other_counts_at_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        assert (await it.reload({**START, "timeouts": {"askMs": 2000}}))["settings"]
        assert it.rooms.runtime.ask_s == 2.0


@pytest.mark.parametrize("text", ["{", '{"agnets": {}}', '{"agents": {"a": {"enabled": 1}}}'])
async def test_a_file_with_an_error_is_refused_and_the_old_one_goes_on(
    tmp_path: Path, text: str
) -> None:
    async with desk(tmp_path) as it:
        it.path.write_text(text)
        with pytest.raises(RefusedError, match="goes on with what it read before") as refused:
            await it.reload()
        assert refused.value.code is ErrorCode.CONFIG_INVALID
        assert (await it.rooms.ended(await it.rooms.send(to=["a"]))).status == "completed"


async def test_the_same_command_again_gives_the_first_result_and_does_nothing(
    tmp_path: Path,
) -> None:
    async with desk(tmp_path) as it:
        first = await it.reload(changed(new={"driver": "fake"}))
        it.write(START)
        it.count -= 1
        assert await it.reload() == first
        assert "agent:new" in it.rooms.agents.roster.entries


async def test_an_id_of_another_command_is_refused(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        await it.rooms.service.restart_agent("a", "reload-2")
        with pytest.raises(RefusedError) as refused:
            await it.reload(changed(new={"driver": "fake"}))
        assert refused.value.code is ErrorCode.CLIENT_COMMAND_CONFLICT
        assert "agent:new" not in it.rooms.agents.roster.entries


async def test_the_rows_of_the_actors_follow(tmp_path: Path) -> None:
    async with desk(tmp_path) as it:
        await it.reload(changed(a={"driver": "fake", "name": "Ada"}, b={"enabled": False}))
        rows = await it.rooms.ledger.read(
            lambda book: book.execute(
                "SELECT actor_id, display_name, enabled FROM actors WHERE kind = 'agent'"
            ).fetchall()
        )
        assert {tuple(row) for row in rows} >= {("agent:a", "Ada", 1), ("agent:b", "b", 0)}
