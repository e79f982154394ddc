"""What the assistant does: what a person can by command, once, each act an event of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.native import ContentDelta, TurnCompleted
from support.side_house import ANSWER, SideHouse, side_house

BY = "user:assistant"


async def acts(house: SideHouse) -> list[tuple[str, str | None]]:
    """What the newest request says was done, and the event of each."""
    messages = (await house.talk.messages(None, 200)).messages
    newest = [message for message in messages if message.role == "user"][-1]
    return [(act.summary, act.event_id) for act in newest.acts]


async def event(house: SideHouse, event_id: str | None) -> dict[str, Any]:
    assert event_id is not None
    found: dict[str, Any] = json.loads(await house.rooms.service.event(event_id))
    return found


async def the_act(house: SideHouse) -> tuple[str, dict[str, Any]]:
    """The one act of the newest request, with its event."""
    ((summary, event_id),) = await acts(house)
    return summary, await event(house, event_id)


async def test_a_message_of_the_assistant_is_its_own_and_wakes_whom_it_names(
    tmp_path: Path,
) -> None:
    async with side_house(tmp_path) as house:
        sent = await house.doing("send", content="look here", to=["a"], clientCommandId="1")
        turn = await house.rooms.turn_in(sent["turns"][0]["turnId"])
        assert turn.status == "completed"
        summary, message = await the_act(house)
        assert summary == "to a: look here"
        assert message["type"] == "message.created"
        assert message["actor"]["actorId"] == BY
        assert message["provenance"] == {"sourceKind": "operator", "authorActorId": BY}


async def test_a_task_is_a_dispatch_and_its_answer_is_waited_for(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        house.rooms.fleet.plan("b", [ContentDelta("in line 7"), TurnCompleted()])
        asked = await house.doing("worker_ask", content="where?", to=["@b"], clientCommandId="1")
        assert asked["state"] == "terminal"
        assert asked["results"][0]["content"] == "in line 7"
        assert "an agent, not a person" in asked["results"][0]["provenance"]
        _, dispatch = await the_act(house)
        assert dispatch["type"] == "operator.dispatch"
        assert dispatch["body"] == {
            "content": "where?",
            "operation": "worker_ask",
            "promptLength": 6,
            "targets": ["agent:b"],
        }
        assert "where?" in house.rooms.fleet.prompts[-1]


async def test_an_answer_that_takes_longer_is_collected_and_nobody_is_asked_again(
    tmp_path: Path,
) -> None:
    async with side_house(tmp_path) as house:
        gate = asyncio.Event()
        house.rooms.fleet.plan("a", [ContentDelta("…"), gate, TurnCompleted("late")])
        asked = await house.doing(
            "worker_ask", content="slow", to=["a"], clientCommandId="1", timeoutMs=0
        )
        assert asked["state"] == "pending"
        assert "worker_collect" in asked["note"]
        gate.set()
        await house.rooms.all_ended()
        event_id = asked["messageEventId"]
        collected = await house.doing("worker_collect", messageEventId=event_id)
        assert collected["results"][0]["content"] == "late"
        assert len((await house.rooms.service.turns(None, "all", None, None, 10)).turns) == 1


async def test_the_same_act_again_gives_the_first_result_and_does_nothing(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        results: list[dict[str, Any]] = []

        async def twice() -> None:
            for content in ("one", "one", "other"):
                given = {"content": content, "to": ["a"], "clientCommandId": "same"}
                results.append(await house.call("worker_dispatch", **given))

        house.plan([twice, *ANSWER])
        await house.asked()
        assert results[0] == results[1]
        assert results[2]["code"] == "CLIENT_COMMAND_CONFLICT"
        assert len(await house.rooms.events("operator.dispatch")) == 1
        assert len(await acts(house)) == 1


async def test_a_message_that_is_there_is_given_to_others_and_keeps_its_author(
    tmp_path: Path,
) -> None:
    async with side_house(tmp_path) as house:
        accepted = await house.rooms.send("please review", ["a"])
        await house.rooms.ended(accepted)
        message_id = accepted.message_event_id
        given = {"eventId": message_id, "to": ["b"], "clientCommandId": "1"}
        done = await house.doing("dispatch_event", **given)
        assert done["messageEventId"] == message_id
        assert done["correlationId"] != accepted.correlation_id
        await house.rooms.turn_in(done["turns"][0]["turnId"])
        assert (await event(house, message_id))["actor"]["actorId"] == "user:web"
        _, acted = await the_act(house)
        assert acted["type"] == "operator.acted"
        again = await house.doing("dispatch_event", **given)
        assert again["code"] == "DUPLICATE_DISPATCH"


async def test_turns_are_cancelled_one_or_all(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        await house.rooms.at_work("a")
        await house.rooms.at_work("b")
        turns = (await house.rooms.service.turns(None, "open", "agent:a", None, 5)).turns
        one = await house.doing("turn_cancel", turnId=turns[0].turn_id, clientCommandId="1")
        assert one["turns"] == [
            {"turnId": turns[0].turn_id, "accepted": True, "status": "cancelling"}
        ]
        assert (await house.rooms.turn_in(turns[0].turn_id)).status == "cancelled"
        _, acted = await the_act(house)
        assert acted["body"]["subject"] == turns[0].turn_id
        rest = await house.doing("turns_cancel", clientCommandId="1")
        assert len(rest["turns"]) == 1
        await house.rooms.all_ended()


async def test_a_root_is_cancelled_as_a_whole(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        await house.rooms.at_work("a")
        (root,) = (await house.rooms.service.roots.list(None, "open", None, 5)).roots
        given = {"correlationId": root.correlation_id, "clientCommandId": "1"}
        assert len((await house.doing("root_cancel", **given))["turns"]) == 1
        await house.rooms.all_ended()
        shown = await house.doing("roots", correlationId=root.correlation_id)
        assert shown["root"]["status"] == "ended"


async def test_an_ended_turn_is_taken_up_again(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        turn = await house.rooms.ended(await house.rooms.send("again please"))
        done = await house.doing("turn_again", turnId=turn.turn_id, clientCommandId="1")
        await house.rooms.turn_in(done["turns"][0]["turnId"])
        _, message = await the_act(house)
        assert (message["body"]["content"], message["actor"]["actorId"]) == ("again please", BY)
        assert message["causationId"] == turn.turn_id


async def test_an_agent_is_restarted(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        await house.rooms.ended(await house.rooms.send())
        before = house.rooms.fleet.starts
        done = await house.doing("agent_restart", agent="a", clientCommandId="1")
        assert done == {"actorId": "agent:a", "accepted": True}
        await house.rooms.ended(await house.rooms.send())
        assert house.rooms.fleet.starts == before + 1
        assert (await the_act(house))[1]["type"] == "operator.acted"


async def test_rooms_are_made_and_changed_by_the_assistant(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        made = await house.doing("room_create", title="Design talk", clientCommandId="1")
        assert made["room"]["roomId"] == "room:design-talk"
        _, created = await the_act(house)
        assert (created["type"], created["actor"]["actorId"]) == ("room.created", BY)
        given = {"roomId": "room:design-talk", "archived": True, "clientCommandId": "1"}
        assert (await house.doing("room_change", **given))["room"]["archivedAt"]
        given = {"content": "x", "roomId": "room:design-talk", "clientCommandId": "1"}
        assert (await house.doing("send", **given))["code"] == "ROOM_ARCHIVED"


async def test_memory_is_kept_corrected_pinned_and_taken_back(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        kept = await house.doing("memory_remember", content="tabs, not spaces", clientCommandId="1")
        memory_id = kept["memory"]["memoryId"]
        assert kept["memory"]["authorActorId"] == BY
        assert (await the_act(house))[1]["type"] == "memory.remembered"
        pinned = await house.doing("memory_pin", memoryId=memory_id, clientCommandId="1")
        assert pinned["memory"]["pinnedAt"]
        given = {"memoryId": memory_id, "content": "spaces", "clientCommandId": "1"}
        corrected = await house.doing("memory_supersede", **given)
        new_id = corrected["memory"]["memoryId"]
        await house.doing("memory_retract", memoryId=new_id, clientCommandId="1")
        listed = await house.doing("memory_search", roomId="room:main")
        assert listed["items"] == []
        listed = await house.doing("memory_search", roomId="room:main", includeHistory=True)
        assert {item["status"] for item in listed["items"]} == {"superseded", "retracted"}


async def test_an_agents_core_memory_and_identity_are_written_for_it(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        given = {"agent": "a", "content": "You keep the parser.", "clientCommandId": "1"}
        core = await house.doing("agent_core_remember", **given)
        assert core["memory"]["scope"] == {"type": "agent", "id": "agent:a"}
        said = await house.doing("identity_remember_for", **given)
        identity_id = said["identity"]["identityId"]
        given = {"identityId": identity_id, "content": "careful", "clientCommandId": "1"}
        anew = (await house.doing("identity_supersede", **given))["identity"]["identityId"]
        assert (await house.doing("identity_search", agent="a"))["items"][0]["identityId"] == anew
        await house.doing("identity_retract", identityId=anew, clientCommandId="1")
        assert (await house.doing("identity_search"))["items"] == []


async def test_an_agent_of_the_config_is_added_changed_and_removed_once(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        settings = {"driver": "acp", "command": "my-agent", "env": {"KEY": "secret"}}
        given = {"agent": "mine", "settings": settings, "clientCommandId": "1"}
        results: list[dict[str, Any]] = []

        async def twice() -> None:
            results.extend([await house.call("agent_save", **given) for _ in range(2)])

        house.plan([twice, *ANSWER])
        await house.asked()
        assert results[0] == results[1]
        assert len(house.reloads) == 1
        read = await house.doing("setup_read")
        assert read["agents"]["mine"]["env"] == {"KEY": "(not told)"}
        changed = {"agent": "mine", "settings": {"name": "Ada"}, "clientCommandId": "1"}
        await house.doing("agent_save", **changed)
        file = json.loads((tmp_path / "groupx.json").read_text("utf-8"))
        assert file["agents"]["mine"] == settings | {"name": "Ada"}
        await house.doing("agent_remove", agent="mine", clientCommandId="1")
        assert "mine" not in (await house.doing("setup_read"))["agents"]


async def test_a_setting_that_is_wrong_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        before = (tmp_path / "groupx.json").read_text("utf-8")
        given = {"agent": "mine", "settings": {"drivr": "acp"}, "clientCommandId": "1"}
        refused = await house.doing("agent_save", **given)
        assert "drivr" in refused["message"]
        assert (tmp_path / "groupx.json").read_text("utf-8") == before
        assert await acts(house) == []


async def test_a_room_is_read_from_its_newest_event_on(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        for number in range(4):
            await house.rooms.ended(await house.rooms.send(f"number {number}"))
        read = await house.doing("read", limit=3)
        seqs = [found["seq"] for found in read["events"]]
        assert seqs == sorted(seqs, reverse=True)
        assert seqs[0] == max(e["seq"] for e in await house.rooms.events("turn.completed"))
        older = await house.doing("read", limit=100, beforeSeq=read["nextBeforeSeq"])
        assert "nextBeforeSeq" not in older
        said = [e["content"] for e in older["events"] if e["type"] == "message.created"]
        assert said[-1] == "number 0"


async def test_every_agent_is_told_with_its_state_of_this_moment(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        await house.rooms.at_work("a")
        told = await house.doing("roster")
        states = {agent["actorId"]: agent["status"] for agent in told["agents"]}
        assert states == {"agent:a": "working", "agent:b": "stopped"}
        (turn,) = told["openTurns"]
        assert (turn["agent"], turn["status"]) == ("agent:a", "running")


async def test_lookups_leave_no_act(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        for tool, given in (
            ("roster", {}),
            ("read", {}),
            ("roots", {}),
            ("search", {"query": "anything"}),
            ("usage", {}),
            ("context_usage", {}),
        ):
            assert "code" not in await house.doing(tool, **given), tool
            assert await acts(house) == []
        assert await house.rooms.types() == []


async def test_a_limit_of_the_room_holds_for_the_assistant_too(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        given = {"content": "x" * 200_000, "to": ["a"], "clientCommandId": "1"}
        assert (await house.doing("worker_dispatch", **given))["code"] == "MESSAGE_TOO_LARGE"
        given = {"content": "hi", "to": ["nobody"], "clientCommandId": "1"}
        assert (await house.doing("worker_dispatch", **given))["code"] == "UNKNOWN_TARGET"
        assert await house.rooms.types() == []


@pytest.mark.parametrize("field", ["from", "actor", "provenance"])
async def test_who_acts_cannot_be_claimed(tmp_path: Path, field: str) -> None:
    async with side_house(tmp_path) as house:
        given = {"content": "hi", "clientCommandId": "1", field: "user:web"}
        assert (await house.doing("send", **given))["code"] == "SENDER_FIELD_FORBIDDEN"


async def test_without_a_request_nothing_is_done_and_nothing_told(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        for tool, given in (
            ("send", {"content": "hi", "clientCommandId": "1"}),
            ("roster", {}),
            ("turns_cancel", {"clientCommandId": "1"}),
        ):
            assert (await house.call(tool, **given))["code"] == "MCP_BINDING_MISMATCH", tool
        assert await house.rooms.types() == []


async def test_a_task_may_be_watched_by_others(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        given = {"content": "build it", "to": ["a"], "observers": ["b"], "brief": "no shortcuts"}
        done = await house.doing("worker_dispatch", **given, clientCommandId="1")
        assert [turn["target"] for turn in done["supervision"]["observers"]] == ["agent:b"]
        await house.rooms.all_ended()
        _, dispatch = await the_act(house)
        assert dispatch["type"] == "operator.dispatch"
        (pair,) = (await house.doing("supervision_status"))["pairs"]
        assert [turn["agent"] for turn in pair["workers"]] == ["agent:a"]
        assert [turn["agent"] for turn in pair["observers"]] == ["agent:b"]
        assert (pair["workers"][0]["status"], pair["workers"][0]["steerCount"]) == ("completed", 0)
        this = {"pairId": pair["pairId"], "correlationId": pair["correlationId"]}
        assert (await house.doing("supervision_status", **this))["pairs"] == [pair]
        other = {"correlationId": "corr_other"}
        assert (await house.doing("supervision_status", **other))["pairs"] == []


async def test_a_room_is_summed_up_and_its_agents_begin_anew(tmp_path: Path) -> None:
    async with side_house(tmp_path) as house:
        await house.rooms.ended(await house.rooms.send("old words"))
        compacted = await house.doing("context_compact", clientCommandId="1")
        assert compacted["accepted"] is False
        reset = await house.doing("context_reset", clientCommandId="1")
        assert reset["reset"] is True
        summary, acted = await the_act(house)
        assert summary == "had the agents of room:main begin anew"
        assert acted["type"] == "operator.acted"
