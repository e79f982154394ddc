"""`/mcp/operator`: the room assistant's tools, one token for its one session."""

from __future__ import annotations

from groupx_server.assistant.acts import Acts
from groupx_server.assistant.configuring import Configuring, Settings
from groupx_server.assistant.conversation import Conversation
from groupx_server.assistant.looking import Looking
from groupx_server.assistant.messages import OperatorMessages
from groupx_server.assistant.remembering import Remembering
from groupx_server.assistant.ruling import Ruling
from groupx_server.mcp.gate import Gate
from groupx_server.mcp.operatortools import Cases, OperatorDesk
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.grants import Grants
from groupx_server.rooms.service import RoomService
from groupx_server.rooms.turnrunner import Runtime


class OperatorEndpoint(Gate):
    """The gate of the room assistant."""

    def connect(
        self,
        runtime: Runtime,
        agents: Agents,
        rooms: RoomService,
        conversation: Conversation,
        grants: Grants,
        settings: Settings,
    ) -> None:
        """Give it what the tools work with, before anybody can call."""
        rooms.forgetting.on_side_removed = conversation.renew
        acts = Acts(runtime, conversation)
        cases = Cases(
            OperatorMessages(acts, agents),
            Ruling(acts, agents, rooms),
            Remembering(acts, agents),
            Configuring(acts, settings),
            Looking(acts, agents, rooms),
        )
        self.open(OperatorDesk(cases), grants.find)
