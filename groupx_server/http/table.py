"""All endpoints of the server, in the order in which paths are matched: the busiest first."""

from __future__ import annotations

from typing import Final

from groupx_server.http.endpoint import AnyRoute
from groupx_server.http.routes import (
    agents,
    assistant,
    contexts,
    document,
    export,
    forgetting,
    history,
    memory,
    messages,
    rooms,
    roots,
    runtime,
    search,
    stream,
    turns,
    usage,
)

ROUTES: Final[tuple[AnyRoute, ...]] = (
    *messages.ROUTES,
    *runtime.ROUTES,
    *stream.ROUTES,
    *rooms.ROUTES,
    *contexts.ROUTES,
    *history.ROUTES,
    *turns.ROUTES,
    *roots.ROUTES,
    *usage.ROUTES,
    *agents.ROUTES,
    *assistant.ROUTES,
    *memory.ROUTES,
    *search.ROUTES,
    *forgetting.ROUTES,
    *export.ROUTES,
    *document.ROUTES,
)
