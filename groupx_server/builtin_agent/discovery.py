"""Finds a model: the configured endpoint, else a model server on the usual loopback ports.

Only 127.0.0.1 is ever asked, only the listed ports, and only programs of this user or of the
system; the first port (in order) that lists a chat model wins. No API key is sent to a program
that was only found: who needs one configures the address.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from groupx_server.builtin_agent.endpoint import Endpoint
from groupx_server.builtin_agent.http_pool import HttpPool, ReplyTooLargeError, read_bounded
from groupx_server.builtin_agent.listeners import belongs_to_another_person
from groupx_shared.text import safe_line

PROBE_TIMEOUT_S: Final = 0.5
"""A server on this machine lists its models at once."""
MAX_LIST_BYTES: Final = 4 * 1024 * 1024
_NO_CHAT: Final = re.compile(
    r"embed|rerank|whisper|\btts\b|bge-|\bclip\b|stable-diffusion", re.IGNORECASE
)
_HOSTED: Final = re.compile(r"[:-]cloud$", re.IGNORECASE)
"""Models that Ollama lists but runs on its makers' machines: only taken when named."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model of a `/v1/models` list."""

    name: str
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at one port found; `sentence` for people."""

    port: int
    label: str
    sentence: str
    endpoint: Endpoint | None = None


class PortScout:
    """Looks at loopback ports. `is_foreign` tells whose program listens (see `listeners`)."""

    def __init__(
        self,
        http: HttpPool,
        ports: tuple[tuple[int, str], ...],
        *,
        model: str | None = None,
        is_foreign: Callable[[int], bool] = belongs_to_another_person,
    ) -> None:
        self._http = http
        self._ports = ports
        self._model = model
        self._is_foreign = is_foreign

    async def look(self) -> list[Looked]:
        """Look at all ports side by side, at most `PROBE_TIMEOUT_S` each; in port order."""
        async with asyncio.TaskGroup() as looks:
            tasks = [looks.create_task(self._look_at(port, label)) for port, label in self._ports]
        return [task.result() for task in tasks]

    async def _look_at(self, port: int, label: str) -> Looked:
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
        except (OSError, TimeoutError):
            return Looked(port, label, "nothing listens there")
        if self._is_foreign(port):
            return Looked(port, label, "another user's program listens there; not asked")
        base_url = f"http://127.0.0.1:{port}/v1"
        models = await list_models(self._http, base_url, None, PROBE_TIMEOUT_S)
        if isinstance(models, str):
            return Looked(port, label, f"something answers, but lists no models ({models})")
        model = choose_model(models, self._model)
        if model is None:
            wanted = f"model {safe_line(self._model, 80)}" if self._model else "chat model"
            return Looked(port, label, f"it answers, but has no {wanted}")
        return Looked(
            port,
            label,
            f"model {safe_line(model.name, 80)}",
            Endpoint(
                base_url,
                model.name,
                f"found on port {port} ({label})",
                context_tokens=model.context_tokens,
                discovered=True,
            ),
        )


def choose_model(models: list[ListedModel], wanted: str | None) -> ListedModel | None:
    """Return the model named `wanted`, else the first that by its name can chat and runs here."""
    if wanted is not None:
        return next((model for model in models if model.name == wanted), None)
    return next(
        (m for m in models if not _NO_CHAT.search(m.name) and not _HOSTED.search(m.name)), None
    )


async def list_models(
    http: HttpPool, base_url: str, api_key: str | None, timeout_s: float
) -> list[ListedModel] | str:
    """Return the endpoint's models, or in a few words why there is no list."""
    import httpx

    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    url = f"{base_url}/models"
    try:
        async with (
            asyncio.timeout(timeout_s),
            http.client_for(url).stream("GET", url, headers=headers) as response,
        ):
            if not response.is_success:
                return f"HTTP {response.status_code}"
            return parse_models(await read_bounded(response, MAX_LIST_BYTES))
    except TimeoutError:
        return "no answer in time"
    except (httpx.HTTPError, httpx.InvalidURL, ReplyTooLargeError) as error:
        return safe_line(str(error) or type(error).__name__, 120)


def parse_models(body: bytes) -> list[ListedModel] | str:
    """Read a `/v1/models` reply; in a few words what is wrong when it is none."""
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:
        return "the reply is not JSON"
    items = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(items, list):
        return "the reply holds no list"
    return [
        ListedModel(item["id"], _context_tokens(item))
        for item in items
        if isinstance(item, dict) and isinstance(item.get("id"), str) and item["id"]
    ]


def _context_tokens(item: dict[str, Any]) -> int | None:
    """The window's size where the server tells it: vLLM, LM Studio, OpenRouter, llama.cpp."""
    meta = item.get("meta")
    values = [
        item.get("max_model_len"),
        item.get("max_context_length"),
        item.get("context_length"),
        meta.get("n_ctx") if isinstance(meta, dict) else None,
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,
    ]
    return next((value for value in values if isinstance(value, int) and value > 0), None)
