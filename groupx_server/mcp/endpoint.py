"""`/mcp`: the room's tools for agents, one token for each binding."""

from __future__ import annotations

from groupx_server.mcp.gate import Gate
from groupx_server.mcp.toolbox import Toolbox
from groupx_server.rooms.agentmemories import AgentMemories
from groupx_server.rooms.agentreads import AgentReads
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.calls import AgentCalls
from groupx_server.rooms.searching import Searching
from groupx_server.rooms.turnrunner import Runtime
from groupx_server.rooms.watching import AgentWatches


class ToolEndpoint(Gate):
    """The gate of the room's agents."""

    toolbox: Toolbox | None = None

    def connect(self, runtime: Runtime, agents: Agents) -> None:
        """Give it what the tools work with, before anybody can call."""
        assert runtime.grants is not None
        searching = Searching(runtime)
        self.toolbox = Toolbox(
            AgentCalls(runtime, agents),
            AgentReads(runtime, agents, searching),
            AgentMemories(runtime, searching),
            AgentWatches(runtime, agents),
        )
        self.open(self.toolbox, runtime.grants.find)
