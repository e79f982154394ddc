"""Tools as data, and calling one: check the arguments, run the use case, say what came of it.

The one border between what a model asks for and the use cases: whatever goes wrong becomes an
answer that the model can act on, with the same codes as everywhere else. A desk is what one
endpoint (`gate`) offers; `C` is what its tokens stand for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from groupx_server.logs import get_logger
from groupx_server.mcp.arguments import read_arguments
from groupx_shared.errors import ErrorCode, GroupXError, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.names import unknown_name
from groupx_shared.wire.base import RequestModel, WireModel

C = TypeVar("C")

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Tool(Generic[C]):
    """One tool."""

    name: str
    description: str
    arguments: type[RequestModel]
    run: Callable[[C, Any], Awaitable[WireModel]]
    results: Sequence[type[WireModel]]
    """Shapes of its result; more than one when the arguments choose."""
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gives back: the result, or `{code, message, details?}`."""

    payload: Mapping[str, Any]
    is_error: bool = False


class Desk(Generic[C]):
    """The tools of one endpoint."""

    def __init__(self, server_name: str, instructions: str, tools: Iterable[Tool[C]]) -> None:
        self.server_name = server_name
        self.instructions = instructions
        self.tools = {tool.name: tool for tool in tools}

    async def call(self, caller: C, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Run a tool; whatever it refuses is the answer."""
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise RefusedError(unknown_name("tool", name, self.tools))
            result = await tool.run(caller, read_arguments(tool.arguments, arguments))
        except GroupXError as error:
            if error.code is ErrorCode.INTERNAL_ERROR:
                return _fault(caller, name)
            return _refusal(error)
        except Exception:  # noqa: BLE001 - the border: logged, answered, not raised
            return _fault(caller, name)
        return Answer(result.model_dump(mode="json", by_alias=True, exclude_none=True))


def _refusal(error: GroupXError) -> Answer:
    details = {"details": error.details} if error.details else {}
    return Answer({"code": error.code.value, "message": error.message, **details}, is_error=True)


def _fault(caller: object, name: str) -> Answer:
    error_id = new_id("err")
    log.exception("tool.fault", tool=name, caller=repr(caller), error_id=error_id)
    message = f"GroupX had an internal fault; its log has the cause under {error_id}."
    return Answer({"code": ErrorCode.INTERNAL_ERROR.value, "message": message}, is_error=True)
