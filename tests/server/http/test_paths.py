"""Which application answers a path."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from groupx_server.http.paths import Paths
from groupx_shared.errors import RefusedError


async def _found(path: str, *known: str) -> tuple[str, dict[str, str]]:
    """The name of the application that was called, and its parameters."""
    called: list[tuple[str, dict[str, str]]] = []

    def named(name: str) -> Any:
        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            called.append((name, scope["path_params"]))

        return application

    async def unused(*_: object) -> Any:
        raise AssertionError("nothing is read or sent")

    await Paths({name: named(name) for name in known})({"path": path}, unused, unused)
    (found,) = called
    return found


async def test_a_path_without_parameters_wins_over_one_with_them_whatever_their_order() -> None:
    assert await _found("/api/turns/all", "/api/turns/{turnId}", "/api/turns/all") == (
        "/api/turns/all",
        {},
    )


async def test_parameters_are_what_stands_between_slashes() -> None:
    path = "/api/rooms/{roomId}/events/{eventId}"
    assert await _found("/api/rooms/room:main/events/evt_1", "/api/rooms/{roomId}", path) == (
        path,
        {"roomId": "room:main", "eventId": "evt_1"},
    )


@pytest.mark.parametrize("path", ["/api/rooms/", "/api/rooms/a/b", "/apixrooms/a", "/api/rooms/a/"])
async def test_what_fits_no_path_is_refused_by_the_nearest_name(path: str) -> None:
    with pytest.raises(RefusedError, match=r"/api/rooms"):
        await _found(path, "/api/rooms/{roomId}", "/api/rooms")
