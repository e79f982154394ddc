"""Who answers a prompt: a command goes to the guide, anything else to the model, and to the guide
again when there is no model."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final

from groupx_server.builtin_agent.completion import ChatClient
from groupx_server.builtin_agent.endpoint import Endpoint
from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.guide.desk import Desk
from groupx_server.builtin_agent.guide.guide import Guide
from groupx_server.builtin_agent.guide.intents import understand
from groupx_server.builtin_agent.http_pool import HttpPool
from groupx_server.builtin_agent.model_finder import ModelFinder
from groupx_server.builtin_agent.model_turn import (
    INSTRUCTIONS,
    PLAIN_INSTRUCTIONS,
    ModelTurn,
    Outcome,
    Sleep,
    Traits,
)
from groupx_server.builtin_agent.packet import Prompt
from groupx_server.builtin_agent.room_api import RoomApi
from groupx_server.builtin_agent.room_tools import RoomTools
from groupx_server.builtin_agent.session import Session
from groupx_server.builtin_agent.settings import Settings
from groupx_server.builtin_agent.updates import TurnSink

NO_ANSWER: Final = "(This message got no answer.)"


class Answering:
    """Answers prompts of all sessions; holds what they share."""

    def __init__(
        self,
        settings: Settings,
        http: HttpPool,
        finder: ModelFinder,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._finder = finder
        self._client = ChatClient(http, settings.timeout_s)
        self._api = (
            RoomApi(http, settings.agent_url, settings.agent_token) if settings.agent_url else None
        )
        self._sleep = sleep
        self._traits: defaultdict[tuple[str, str], Traits] = defaultdict(Traits)

    async def answer(self, session: Session, prompt: Prompt, sink: TurnSink) -> Outcome:
        """Answer one prompt and remember it. Raises: GroupXError with a sentence for people."""
        try:
            return await self._answer(session, prompt, sink)
        finally:
            said = prompt.current if self._settings.plain else prompt.text
            session.history.add(said, sink.said.strip() or NO_ANSWER)

    async def _answer(self, session: Session, prompt: Prompt, sink: TurnSink) -> Outcome:
        if session.purpose is not None:
            return await self._write(session, prompt, sink)
        desk = self._desk(session, prompt, sink)
        if understand(prompt.current).is_known_command:
            return await Guide(desk).answer(prompt.current)
        while (endpoint := await self._finder.current()) is not None:
            await sink.thought(f"Asking {endpoint.shown} ({endpoint.origin}).\n")
            try:
                return await self._turn(endpoint, session, prompt, desk).run()
            except ModelError as failure:
                self._finder.forget()
                if not (endpoint.discovered and failure.kind == "unreachable"):
                    raise
                await sink.thought(f"{failure.message} Looking for another model.\n")
        return await Guide(desk).answer(prompt.current)

    async def _write(self, session: Session, prompt: Prompt, sink: TurnSink) -> Outcome:
        """Write the text that is asked for, with a model or not at all."""
        endpoint = await self._finder.current()
        if endpoint is None:
            await sink.say("There is no model here that could write it.")
            return Outcome("refusal")
        turn = ModelTurn(
            endpoint,
            self._client,
            sink,
            session.history,
            prompt.text,
            tools=None,
            instructions=PLAIN_INSTRUCTIONS,
            traits=self._traits[endpoint.base_url, endpoint.model],
            sleep=self._sleep,
        )
        return await turn.run()

    def _turn(self, endpoint: Endpoint, session: Session, prompt: Prompt, desk: Desk) -> ModelTurn:
        plain = self._settings.plain
        room = None if plain else desk.room_id
        tools = RoomTools(self._api, room) if self._api and room else None
        return ModelTurn(
            endpoint,
            self._client,
            desk.sink,
            session.history,
            prompt.current if plain else prompt.text,
            tools=tools,
            instructions=PLAIN_INSTRUCTIONS if plain else INSTRUCTIONS,
            traits=self._traits[endpoint.base_url, endpoint.model],
            sleep=self._sleep,
        )

    def _desk(self, session: Session, prompt: Prompt, sink: TurnSink) -> Desk:
        return Desk(
            sink=sink,
            api=self._api,
            room_id=prompt.room_id or session.room_id,
            actor_id=prompt.actor_id or session.actor_id or self._settings.actor_id,
            current=prompt.current,
            finder=self._finder,
            settings=self._settings,
            history=session.history,
        )
