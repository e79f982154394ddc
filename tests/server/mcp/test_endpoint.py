"""The tools' endpoint on a real socket, with the SDK's own client, and who is kept out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.callers import Caller
from groupx_server.mcp import gate as endpoints
from groupx_server.mcp.endpoint import ToolEndpoint
from groupx_shared.wire.requests import CreateRoom, SendMessage
from support.tool_house import OPERATOR, ToolHouse, tool_house

pytestmark = [pytest.mark.slow]

TOOLS = [
    "send",
    "publish",
    "ask",
    "collect",
    "read",
    "turn_status",
    "roster",
    "search",
    "watch",
    "steer",
    "memory_search",
    "memory_remember",
    "core_memory_remember",
    "identity_read",
    "identity_remember",
]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def code_of(response: httpx.Response) -> str:
    return str(response.json()["error"]["data"]["code"])


async def test_an_agent_connects_is_taught_and_uses_every_tool(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a", "find the bug")
        house.rooms.fleet.plan("b", [ContentDelta("in line 7"), TurnCompleted()])
        async with house.client() as client:
            hello = await client.session.initialize()
            assert hello.server_info.name == "groupx"
            assert "wakes nobody" in hello.instructions
            listed = (await client.session.list_tools()).tools
            assert [tool.name for tool in listed] == TOOLS
            asked = await client.call("ask", to=["b"], content="where?", clientCommandId="1")
            assert asked["results"][0]["content"] == "in line 7"
            event = asked["messageEventId"]
            assert (await client.call("collect", messageEventId=event)) == asked
            sent = await client.call("send", to=["@b"], content="fix it", clientCommandId="2")
            assert sent["turns"][0]["target"] == "agent:b"
            await client.call("publish", content="found it", clientCommandId="3")
            read = await client.call("read")
            assert [e["content"] for e in read["events"] if e["type"] == "message.created"][:3] == [
                "find the bug",
                "where?",
                "in line 7",
            ]
            text = await client.call("read", eventId=asked["results"][0]["responseEventId"])
            assert (text["content"], text["total"]) == ("in line 7", 9)
            assert (await client.call("turn_status"))["target"] == "agent:a"
            assert [a["actorId"] for a in (await client.call("roster"))["agents"]] == [
                "agent:a",
                "agent:b",
            ]
            hits = (await client.call("search", query='"LINE 7"'))["hits"]
            assert [hit["excerpt"] for hit in hits] == ["in line 7"]


async def test_an_agent_remembers_and_looks_up_with_its_tools(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        async with house.client() as client:
            await client.session.initialize()
            about = {"clientCommandId": "1", "kind": "fact", "subjectActorId": "b"}
            kept = await client.call("memory_remember", content="B is fast.", **about)
            assert kept["memory"]["subjectActorId"] == "agent:b"
            own = {"clientCommandId": "2", "kind": "note", "content": "Be brief."}
            await client.call("core_memory_remember", **own)
            self_note = {"clientCommandId": "3", "kind": "note", "content": "I am A."}
            await client.call("identity_remember", **self_note)
            found = await client.call("memory_search", query="fast")
            assert [item["content"] for item in found["items"]] == ["B is fast."]
            core = await client.call("memory_search", agentMemoryType="core")
            assert [item["content"] for item in core["items"]] == ["Be brief."]
            memory_id = kept["memory"]["memoryId"]
            (part,) = (await client.call("memory_search", memoryId=memory_id, offset=2))["items"]
            assert part["content"] == "is fast."
            (mine,) = (await client.call("identity_read"))["items"]
            assert (mine["content"], mine["perspective"]) == ("I am A.", "self")
            (again,) = (await client.call("identity_read", identityId=mine["identityId"]))["items"]
            assert again == mine
            forbidden = await client.refused("memory_remember", **about, content="x", scope="b")
            assert forbidden["code"] == "INVALID_ENVELOPE"


async def test_a_refusal_is_an_error_with_code_sentence_and_details(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        async with house.client() as client:
            await client.session.initialize()
            cycle = await client.refused("ask", to=["a"], content="?", clientCommandId="1")
            assert cycle["code"] == "CAUSAL_CYCLE"
            assert cycle["details"]["target"] == "agent:a"
            unknown = await client.refused("send", to=["bb"], content="x", clientCommandId="2")
            assert unknown["code"] == "UNKNOWN_TARGET"
            assert "“b”" in unknown["message"]
            tool = await client.refused("sned")
            assert "send" in tool["message"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"content": "x", "clientCommandId": "1"}, "INVALID_ENVELOPE"),
        ({"to": [], "content": "x", "clientCommandId": "1"}, "INVALID_ENVELOPE"),
        ({"to": "b", "content": "x", "clientCommandId": "1"}, "INVALID_ENVELOPE"),
        ({"to": ["b"], "content": 7, "clientCommandId": "1"}, "INVALID_ENVELOPE"),
        ({"to": ["b"], "content": "x"}, "INVALID_ENVELOPE"),
        ({"to": ["b"], "content": "x", "clientCommandId": "1", "tto": 1}, "INVALID_ENVELOPE"),
        ({"to": ["b"], "content": "", "clientCommandId": "1"}, "INVALID_ENVELOPE"),
        ({"to": ["b"], "content": "x" * 131_073, "clientCommandId": "1"}, "MESSAGE_TOO_LARGE"),
        (
            {"to": ["b"], "content": "x", "clientCommandId": "1", "from": "agent:b"},
            "SENDER_FIELD_FORBIDDEN",
        ),
        (
            {"to": ["b"], "content": "x", "clientCommandId": "1", "roomId": "room:side"},
            "INVALID_ENVELOPE",
        ),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_and_write_nothing(
    tmp_path: Path, arguments: dict[str, object], code: str
) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        before = await house.rooms.types()  # the ledger's own last_seq may be a moment behind
        async with house.client() as client:
            await client.session.initialize()
            assert (await client.refused("send", **arguments))["code"] == code
        assert await house.rooms.types() == before


# ── Who is kept out ───────────────────────────────────────────────────────────────────────────


async def test_without_a_sessions_token_nobody_gets_in(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        right = house.token("a")
        for headers in (
            {},
            bearer("wrong"),
            bearer(right + "x"),
            bearer(right[:-1]),
            bearer(OPERATOR),
            {"Authorization": f"Basic {right}"},
            {"X-GroupX-Binding": house.rooms.caller("a").binding_id},
        ):
            response = await house.post(headers)
            assert response.status_code == 401
            assert code_of(response) == "MCP_BINDING_MISMATCH"
            assert response.headers["www-authenticate"].startswith("Bearer")
        assert (await house.post(bearer(right))).status_code == 200


async def test_a_sessions_token_opens_nothing_but_the_tools(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        base = house.url.removesuffix("/mcp")
        async with httpx.AsyncClient(headers=bearer(house.token("a")), trust_env=False) as http:
            assert (await http.get(f"{base}/api/rooms")).status_code == 401
            reply = await http.post(f"{base}/api/messages", json={})
            assert reply.status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_rebound_or_foreign_page_is_refused_even_with_the_token(
    tmp_path: Path, header: dict[str, str]
) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        response = await house.post(bearer(house.token("a")) | header)
        assert response.status_code == 403
        assert response.json()["error"]["code"] == "FORBIDDEN_ORIGIN"


async def test_another_sessions_token_makes_one_that_session_and_nobody_else(
    tmp_path: Path,
) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        await house.rooms.ended(await house.rooms.send(to=["b"]))
        async with house.client(token=house.token("b")) as client:
            await client.session.initialize()
            refused = await client.refused("send", to=["b"], content="as a", clientCommandId="1")
            assert refused["code"] == "MCP_BINDING_MISMATCH"


async def test_before_and_after_its_turn_every_tool_is_refused(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.ended(await house.rooms.send())
        await everything_is_refused(house, "a")


async def everything_is_refused(house: ToolHouse, name: str) -> None:
    calls: dict[str, dict[str, object]] = {
        "send": {"to": ["b"], "content": "x", "clientCommandId": "1"},
        "publish": {"content": "x", "clientCommandId": "2"},
        "ask": {"to": ["b"], "content": "x", "clientCommandId": "3"},
        "collect": {"messageEventId": "evt_1"},
        "read": {},
        "turn_status": {},
        "roster": {},
        "search": {"query": "x"},
        "watch": {},
        "steer": {
            "action": "nudge",
            "reason": "x",
            "content": "x",
            "clientCommandId": "7",
        },
        "memory_search": {},
        "memory_remember": {"content": "x", "kind": "note", "clientCommandId": "4"},
        "core_memory_remember": {"content": "x", "kind": "note", "clientCommandId": "5"},
        "identity_read": {},
        "identity_remember": {"content": "x", "kind": "note", "clientCommandId": "6"},
    }
    assert list(calls) == TOOLS
    before = house.rooms.ledger.last_seq
    async with house.client(name) as client:
        await client.session.initialize()
        for tool, arguments in calls.items():
            refused = await client.refused(tool, **arguments)
            assert (tool, refused["code"]) == (tool, "MCP_BINDING_MISMATCH")
    assert house.rooms.ledger.last_seq == before


async def test_the_token_of_a_room_reads_and_writes_in_that_room_only(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.service.create_room(CreateRoom(client_command_id="r", title="side"))
        request = SendMessage(client_command_id="m", content="main secret")
        secret = await house.rooms.service.send(request, house.rooms.person)
        await house.rooms.at_work("a", room_id="room:side")
        async with house.client() as client:
            await client.session.initialize()
            assert (await client.call("roster"))["roomId"] == "room:side"
            assert (await client.call("search", query="secret"))["hits"] == []
            refused = await client.refused("read", eventId=secret.message_event_id)
            assert refused["code"] == "UNKNOWN_EVENT"
            refused = await client.refused("read", correlationId=secret.correlation_id)
            assert refused["code"] == "UNKNOWN_EVENT"
            posted = await client.call("publish", content="here", clientCommandId="1")
            event = await house.rooms.service.event(posted["messageEventId"])
            assert b'"roomId":"room:side"' in event


async def test_a_revoked_token_is_refused_at_once(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        token = house.token("a")
        house.rooms.grants.revoke(house.rooms.caller("a").binding_id)
        assert (await house.post(bearer(token))).status_code == 401


async def test_while_the_server_stops_tools_are_refused(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        house.state.close()
        response = await house.post(bearer(house.token("a")))
        assert response.status_code == 503
        assert response.json()["error"]["code"] == "SHUTTING_DOWN"


# ── The protocol ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_served(tmp_path: Path, method: str) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        response = await house.post(bearer(house.token("a")), method)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")
        assert (await house.post({}, method)).status_code == 401


async def test_a_body_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        headers = bearer(house.token("a")) | {"Content-Type": "application/json"}
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=10) as http:
            response = await http.post(house.url, content=b"[" + b" " * 3_000_000 + b"]")
        assert response.status_code == 413


async def test_a_client_that_goes_away_ends_its_call(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        gate = asyncio.Event()
        house.rooms.fleet.plan("b", [ContentDelta("slow"), gate, TurnCompleted()])
        waits: list[str] = []
        wait = house.rooms_calls._wait

        async def watched(*args: object) -> bool:
            waits.append("begun")
            try:
                return await wait(*args)  # type: ignore[arg-type]
            except asyncio.CancelledError:
                waits.append("ended")
                left.set()
                raise

        left = asyncio.Event()
        house.rooms_calls._wait = watched  # type: ignore[method-assign, assignment]
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "ask",
                "arguments": {"to": ["b"], "content": "?", "clientCommandId": "1"},
            },
        }
        headers = bearer(house.token("a")) | {"Accept": "application/json"}
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=0.3) as http:
            with pytest.raises(httpx.ReadTimeout):
                await http.post(house.url, json=body)
        async with asyncio.timeout(5):
            await left.wait()
        assert waits == ["begun", "ended"]
        gate.set()


async def test_twenty_agents_call_at_the_same_time(tmp_path: Path) -> None:
    names = tuple(f"n{number}" for number in range(20))
    async with tool_house(tmp_path, names) as house:
        for name in names[:10]:
            await house.rooms.at_work(name)

        async def one(number: int) -> str:
            async with house.client(f"n{number}") as client:
                await client.session.initialize()
                asked = await client.call(
                    "ask", to=[f"n{number + 10}"], content="?", clientCommandId="1"
                )
                return str(asked["results"][0]["status"])

        async with asyncio.TaskGroup() as tasks:
            asking = [tasks.create_task(one(number)) for number in range(10)]
        assert [task.result() for task in asking] == ["completed"] * 10


# ── When the tools cannot be had ──────────────────────────────────────────────────────────────


async def test_a_library_that_does_not_load_leaves_agents_without_tools_and_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ImportError("no such library")

    monkeypatch.setattr(endpoints, "_load", broken)
    async with tool_house(tmp_path) as house:
        assert (await house.rooms.ended(await house.rooms.send())).status == "completed"
        response = await house.post(bearer(house.token("a")))
        assert response.status_code == 503
        assert code_of(response) == "MCP_UNAVAILABLE"


async def test_nothing_is_loaded_before_the_first_session_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = endpoints._load

    def watched() -> object:
        loaded.append("yes")
        return load()

    monkeypatch.setattr(endpoints, "_load", watched)
    async with tool_house(tmp_path) as house:
        assert (await house.post({})).status_code == 401
        assert loaded == []
        await house.rooms.at_work("a")
        assert (await house.post(bearer(house.token("a")))).status_code == 200
        assert loaded == ["yes"]


async def test_a_call_that_comes_before_the_tools_are_loaded_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "READY_WITHIN_S", 0.05)
    async with tool_house(tmp_path) as house:
        lonely = ToolEndpoint()
        house.endpoint.connect(house.rooms.runtime, house.rooms.agents)
        lonely.connect(house.rooms.runtime, house.rooms.agents)
        grant = house.rooms.grants.issue(Caller("b", "agent:a", "room:main"))
        sent: list[dict[str, object]] = []

        async def send(message: object) -> None:
            assert isinstance(message, dict)
            sent.append(message)

        async def receive() -> dict[str, object]:
            return {"type": "http.disconnect"}

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "headers": [(b"authorization", f"Bearer {grant.token}".encode())],
        }
        await lonely(scope, receive, send)
        assert sent[0]["status"] == 503
