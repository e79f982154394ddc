"""One OpenAI-compatible embeddings endpoint: texts go there, vectors come back.

Nothing is sent anywhere but to the address in the settings; redirects are not followed. The key is
read from the environment for each request and is nowhere else. The counterpart is `meaning`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any, Final

import orjson

from groupx_server.builtin_agent.endpoint import normalise_base_url, shown_url
from groupx_server.builtin_agent.http_pool import HttpPool, ReplyTooLargeError, read_bounded
from groupx_server.domain.vectors import dimensions, pack
from groupx_shared.settings import EmbeddingSettings
from groupx_shared.text import safe_line

MAX_REPLY_BYTES: Final = 32 * 1024 * 1024
"""A batch of 256 vectors of 8,192 numbers as text takes less."""
TOO_MUCH: Final = frozenset({400, 413, 422})
"""What endpoints answer to a text that is too long, or to too many."""
TOLD: Final = 120


class EmbeddingError(Exception):
    """The endpoint gave no vectors. `is_too_much`: fewer or shorter texts may go."""

    def __init__(self, message: str, *, is_too_much: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_too_much = is_too_much


class EmbeddingEndpoint:
    """The endpoint that the settings name."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._pool = HttpPool()
        self._url = f"{normalise_base_url(settings.base_url)}/embeddings"
        self.shown = shown_url(settings.base_url)
        asked = settings.dimensions or ""
        self.model = f"{safe_line(settings.model or '', 200)} at {self.shown} {asked}".strip()
        """Vectors of another one of these cannot be compared with its own."""

    async def embed(self, texts: Sequence[str], timeout_s: float) -> list[bytes]:
        """A packed vector for each text. Raises: EmbeddingError."""
        import httpx

        try:
            async with asyncio.timeout(timeout_s):
                status, content = await self._post(texts)
        except TimeoutError as error:
            raise EmbeddingError(f"{self.shown} gave no vectors within {timeout_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, ReplyTooLargeError) as error:
            reason = safe_line(str(error), TOLD) or type(error).__name__
            raise EmbeddingError(f"{self.shown} cannot be asked: {reason}") from error
        if status != httpx.codes.OK:
            told = safe_line(content[:1_000].decode(errors="replace"), TOLD)
            raise EmbeddingError(
                f"{self.shown} answers {status}: {told}", is_too_much=status in TOO_MUCH
            )
        return self._read(content, len(texts))

    async def _post(self, texts: Sequence[str]) -> tuple[int, bytes]:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts)}
        if self._settings.dimensions is not None:
            body["dimensions"] = self._settings.dimensions
        client = self._pool.client_for(self._url)
        headers = {"Content-Type": "application/json", **self._key()}
        async with client.stream(
            "POST", self._url, content=orjson.dumps(body), headers=headers
        ) as response:
            return response.status_code, await read_bounded(response, MAX_REPLY_BYTES)

    def _key(self) -> dict[str, str]:
        name = self._settings.api_key_env
        if name is None:
            return {}
        key = os.environ.get(name, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise EmbeddingError(f"the environment variable {name} holds no key")
        return {"Authorization": f"Bearer {key}"}

    def _read(self, content: bytes, count: int) -> list[bytes]:
        try:
            data = sorted(orjson.loads(content)["data"], key=lambda each: int(each["index"]))
            vectors = [pack(each["embedding"]) for each in data]
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise EmbeddingError(f"{self.shown} answers something other than vectors") from error
        sizes = {dimensions(vector) for vector in vectors}
        if len(vectors) != count or len(sizes) != 1:
            raise EmbeddingError(f"{self.shown} gave {len(vectors)} vectors for {count} texts")
        (size,), wanted = sizes, self._settings.dimensions
        if wanted is not None and size != wanted:
            raise EmbeddingError(
                f"{self.shown} gives vectors of {size} numbers, not of {wanted} as is set"
            )
        return vectors

    async def aclose(self) -> None:
        """Close its connections."""
        await self._pool.aclose()
