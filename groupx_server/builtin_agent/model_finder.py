"""Which model answers: the configured one, or the one discovery finds. Looked up again for each
new session, after a failure, and for each message while there is none."""

from __future__ import annotations

import asyncio
from typing import Final

from groupx_server.builtin_agent.discovery import Looked, PortScout, choose_model, list_models
from groupx_server.builtin_agent.endpoint import Endpoint, is_loopback, shown_url
from groupx_server.builtin_agent.failures import ModelError
from groupx_server.builtin_agent.http_pool import HttpPool
from groupx_server.builtin_agent.settings import Settings

LIST_TIMEOUT_S: Final = 10.0


class ModelFinder:
    """Answers “which model now?”; one look at a time."""

    def __init__(self, settings: Settings, http: HttpPool, scout: PortScout) -> None:
        self._settings = settings
        self._http = http
        self._scout = scout
        self._one_look = asyncio.Lock()
        self._found: Endpoint | None = None
        self.looked: list[Looked] = []
        """What the last look at the ports saw."""

    @property
    def is_configured(self) -> bool:
        """True when somebody said which endpoint to use; then no port is looked at."""
        settings = self._settings
        return settings.base_url is not None or settings.model_problem is not None

    @property
    def known(self) -> Endpoint | None:
        """The model found last, without looking."""
        return self._found

    def forget(self) -> None:
        """Look again next time."""
        self._found = None

    async def current(self) -> Endpoint | None:
        """Return the model to ask, None when there is none.

        Raises: ModelError when a configured endpoint cannot be used.
        """
        async with self._one_look:
            if self._found is None:
                self._found = await (
                    self._configured() if self.is_configured else self._discovered()
                )
            return self._found

    async def _discovered(self) -> Endpoint | None:
        if not self._settings.discovery:
            return None
        self.looked = await self._scout.look()
        return next((look.endpoint for look in self.looked if look.endpoint), None)

    async def _configured(self) -> Endpoint:
        settings = self._settings
        if settings.model_problem is not None or settings.base_url is None:
            raise ModelError("setup", settings.model_problem or "No model is configured.")
        if settings.model is not None:
            return self._endpoint(settings.base_url, settings.model)
        return await self._first_listed(settings.base_url)

    async def _first_listed(self, base_url: str) -> Endpoint:
        """No name is configured: take the first listed, but only from a server of this machine;
        on a hosted one the first of hundreds would be anybody's choice."""
        where = shown_url(base_url)
        if not is_loopback(base_url):
            raise ModelError(
                "setup", f"No model is named for {where}. Set GROUPX_MODEL_NAME (model.name)."
            )
        models = await list_models(self._http, base_url, self._settings.api_key, LIST_TIMEOUT_S)
        model = None if isinstance(models, str) else choose_model(models, None)
        if model is None:
            reason = models if isinstance(models, str) else "the list holds none that runs there"
            raise ModelError(
                "unreachable",
                f"{where} lists no chat model ({reason}). Start the model server there, or set "
                "GROUPX_MODEL_NAME (model.name).",
            )
        return self._endpoint(base_url, model.name, model.context_tokens)

    def _endpoint(self, base_url: str, model: str, context: int | None = None) -> Endpoint:
        return Endpoint(
            base_url,
            model,
            "configured",
            api_key=self._settings.api_key,
            context_tokens=context,
        )
