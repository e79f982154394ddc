"""A small agent made with the official SDK, run as a real child process.

It shares no code with our client: what we send is parsed by the SDK's typed models, and what it
sends is written by them.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import acp
from acp import schema


class SdkAgent:
    """Answers "you said: …"; `ask` asks for a permission, `wait` waits for a cancel."""

    conn: acp.Client

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.mode = "ask"

    def on_connect(self, conn: acp.Client) -> None:
        self.conn = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                mcp_capabilities=schema.McpCapabilities(http=True),
                session_capabilities=schema.SessionCapabilities(
                    resume=schema.SessionResumeCapabilities()
                ),
            ),
            agent_info=schema.Implementation(name="sdk-agent", version="9"),
        )

    def _modes(self) -> schema.SessionModeState:
        modes = [schema.SessionMode(id=name, name=name) for name in ("ask", "yolo")]
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=modes)

    async def new_session(self, cwd: str, **kwargs: Any) -> schema.NewSessionResponse:
        self.mcp = kwargs.get("mcp_servers") or []
        return schema.NewSessionResponse(session_id="sdk-1", modes=self._modes())

    async def resume_session(
        self, session_id: str, cwd: str, **_: Any
    ) -> schema.ResumeSessionResponse:
        return schema.ResumeSessionResponse(modes=self._modes())

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        self.mode = mode_id
        return schema.SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        text = prompt[0].text
        self.cancelled.clear()
        await self.conn.session_update(session_id, acp.update_agent_thought_text("thinking"))
        if text == "ask":
            return await self._ask(session_id)
        if text == "wait":
            await self._say(session_id, "waiting")
            await self.cancelled.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        call = acp.start_tool_call("t1", "run", kind="execute", status="pending")
        await self.conn.session_update(session_id, call)
        done = acp.update_tool_call("t1", status="completed", raw_output="done")
        await self.conn.session_update(session_id, done)
        await self._say(session_id, f"you said: {text} ({self.mode}, {len(self.mcp)} servers)")
        return schema.PromptResponse(stop_reason="end_turn")

    async def _say(self, session_id: str, text: str) -> None:
        await self.conn.session_update(session_id, acp.update_agent_message_text(text))

    async def _ask(self, session_id: str) -> schema.PromptResponse:
        options = [schema.PermissionOption(option_id="y", name="Yes", kind="allow_once")]
        call = schema.ToolCallUpdate(tool_call_id="t9", title="delete everything", kind="delete")
        answer = await self.conn.request_permission(
            options=options, session_id=session_id, tool_call=call
        )
        await self._say(session_id, f"answer: {answer.outcome.outcome}")
        return schema.PromptResponse(stop_reason="cancelled")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.cancelled.set()


if __name__ == "__main__":
    asyncio.run(acp.run_agent(cast("acp.Agent", SdkAgent()), use_unstable_protocol=True))
