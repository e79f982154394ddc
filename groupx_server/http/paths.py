"""Which application answers a path: plain names are found in one look, the others in turn.

The invariant: a path finds the same application however many there are before it. Names without
`{parameters}` win over those with; among these the order of the table counts. What is matched is
the decoded path; a parameter ends at a slash. The counterpart is `endpoint`, which finds the
method.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.names import unknown_name

PARAMETER: Final = re.compile(r"\{(\w+)\}")


class Paths:
    """An ASGI application made of others, by path; `{name}` in a path becomes a path parameter."""

    def __init__(self, applications: Mapping[str, ASGIApp]) -> None:
        self._known = list(applications)
        self._plain: dict[str, ASGIApp] = {}
        self._patterns: list[tuple[re.Pattern[str], ASGIApp]] = []
        for path, application in applications.items():
            if PARAMETER.search(path):
                self._patterns.append((_pattern(path), application))
            else:
                self._plain[path] = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises: RefusedError (UNKNOWN_PATH) naming the nearest one."""
        application = self._plain.get(scope["path"])
        if application is not None:
            scope["path_params"] = {}
            await application(scope, receive, send)
            return
        application, scope["path_params"] = self._find(scope["path"])
        await application(scope, receive, send)

    def _find(self, path: str) -> tuple[ASGIApp, dict[str, str]]:
        for pattern, application in self._patterns:
            if match := pattern.fullmatch(path):
                return application, match.groupdict()
        raise RefusedError(unknown_name("path", path, self._known), code=ErrorCode.UNKNOWN_PATH)


def _pattern(path: str) -> re.Pattern[str]:
    """`/api/rooms/{roomId}` as an expression; what is no parameter stands for itself."""
    parts = PARAMETER.split(path)
    named = (f"(?P<{part}>[^/]+)" if n % 2 else re.escape(part) for n, part in enumerate(parts))
    return re.compile("".join(named))
