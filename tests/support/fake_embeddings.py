"""A fake embeddings endpoint on loopback: a vector says which of a few notions a text names.

`async with FakeEmbeddings() as model:`; `model.answer_with(...)` has the next requests fail.
`model.batches` holds the texts of each request, `model.keys` what was sent as a key.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import Final

from groupx_shared.settings import EmbeddingSettings
from support.loopback_http import HttpRequest, LoopbackServer, Responder

NOTIONS: Final = {
    "car": 0,
    "automobile": 0,
    "vehicle": 0,
    "rain": 1,
    "storm": 1,
    "weather": 1,
    "lunch": 2,
    "meal": 2,
    "soup": 2,
}
OTHERS: Final = 5
"""Numbers behind the notions, for words that name none."""


def fake_vector(text: str) -> list[float]:
    """Texts that name the same notion are near each other."""
    vector = [0.01] * (3 + OTHERS)
    for word in text.lower().split():
        plain = word.strip(".,?!:")
        known = NOTIONS.get(plain)
        if known is not None:
            vector[known] += 5.0
        else:
            vector[3 + zlib.crc32(plain.encode()) % OTHERS] += 0.1
    return vector


class FakeEmbeddings(LoopbackServer):
    """The server."""

    def __init__(self, most: int = 1_000) -> None:
        super().__init__(self._handle)
        self.batches: list[list[str]] = []
        self.keys: list[str] = []
        self.most = most
        """Texts that it takes at once."""
        self._plan: list[tuple[int, bytes]] = []
        self._asked = asyncio.Condition()

    def settings(self, **more: object) -> EmbeddingSettings:
        """Settings that name this server."""
        given = {"enabled": True, "base_url": f"{self.url}/v1", "model": "fake", **more}
        return EmbeddingSettings.model_validate(given)

    def answer_with(self, status: int, body: bytes = b"{}", times: int = 1) -> None:
        """Answer the next requests so."""
        self._plan += [(status, body)] * times

    async def has_asked(self, count: int) -> None:
        """Wait for so many requests."""
        async with self._asked:
            await self._asked.wait_for(lambda: len(self.batches) >= count)

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        texts = request.json["input"]
        self.keys.append(request.headers.get("authorization", ""))
        async with self._asked:
            self.batches.append(texts)
            self._asked.notify_all()
        if self._plan:
            status, body = self._plan.pop(0)
            await respond.whole(status, body)
        elif len(texts) > self.most or request.path != "/v1/embeddings":
            await respond.whole(400, b'{"error":"too many texts"}')
        else:
            data = [{"index": at, "embedding": fake_vector(t)} for at, t in enumerate(texts)]
            await respond.whole(200, json.dumps({"data": data[::-1]}).encode())
