"""The tools' endpoint on a real socket, with the SDK's own client, and who is kept out."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tool_house import OPERATOR, tool_house

pytestmark = [pytest.mark.slow]


async def test_an_agent_connects_lists_the_tools_and_is_taught(tmp_path: Path) -> None:
    async with tool_house(tmp_path) as house:
        await house.rooms.at_work("a")
        async with house.client() as client:
            hello = await client.session.initialize()
            assert hello.server_info.name == "groupx"
            assert "wake" in hello.instructions
            tools = (await client.session.list_tools()).tools
            print([t.name for t in tools])
            print(await client.call("roster"))
            print(await client.call("ask", to=["b"], content="well?", clientCommandId="1"))
            print(await client.refused("ask", to=["a"], content="well?", clientCommandId="2"))
