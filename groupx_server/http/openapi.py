"""The OpenAPI 3.1 document, made from the route table and the wire models.

Nothing is written by hand here that the application also knows, so document and behaviour cannot
disagree. Every text in it comes from the docstrings of the models and from the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, TypeGuard

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from groupx_server.http.endpoint import MAX_ID_CHARS, AnyRoute
from groupx_server.http.errors import STATUS
from groupx_shared.errors import ErrorCode
from groupx_shared.meanings import tell_definitions, with_meanings
from groupx_shared.version import VERSION
from groupx_shared.wire.replies import ErrorReply
from groupx_shared.wire.requests import MAX_BODY_BYTES

PARAMETER: Final = re.compile(r"\{(\w+)\}")
_REF: Final = "#/components/schemas/{model}"
_ALWAYS: Final = (
    ErrorCode.INVALID_ENVELOPE,
    ErrorCode.FORBIDDEN_ORIGIN,
    ErrorCode.INTERNAL_ERROR,
)
_WITH_TOKEN: Final = (
    ErrorCode.UNAUTHORIZED,
    ErrorCode.SHUTTING_DOWN,
    ErrorCode.STORE_UNAVAILABLE,
)
_WITH_BODY: Final = (
    ErrorCode.SENDER_FIELD_FORBIDDEN,
    ErrorCode.FORBIDDEN_SCOPE,
    ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
)


def build_document(routes: Sequence[AnyRoute]) -> dict[str, Any]:
    """Return the document as plain data."""
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for route in routes:
        paths[route.path][route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "GroupX",
            "version": VERSION,
            "description": "The room server on this machine: loopback only, JSON and "
            "server-sent events. docs/PROTOCOL.md tells the rules that a schema cannot.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": dict(paths),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(routes),
        },
    }


def error_codes(route: AnyRoute) -> tuple[ErrorCode, ...]:
    """All codes that a call of the route can be refused with."""
    codes = [*_ALWAYS, *([] if route.is_public else _WITH_TOKEN)]
    codes += _WITH_BODY if issubclass(route.body, BaseModel) else ()
    return tuple(dict.fromkeys([*codes, *route.errors]))


def _operation(route: AnyRoute) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {str(route.status): _reply(route), **_refusals(route)},
    }
    if "after_seq" in route.query.model_fields and route.reply is None:
        operation["parameters"].append(_LAST_EVENT_ID)
    if issubclass(route.body, BaseModel):
        operation["requestBody"] = {
            "required": True,
            "description": f"At most {MAX_BODY_BYTES} bytes of JSON.",
            "content": {"application/json": {"schema": _reference(route.body)}},
        }
    if route.is_public:
        operation["security"] = []
    return operation


_LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "As afterSeq; when both are given they must be equal.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,19}$"},
}


def _path_parameters(route: AnyRoute) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS},
        }
        for name in PARAMETER.findall(route.path)
    ]


def _query_parameters(route: AnyRoute) -> list[dict[str, Any]]:
    schema = with_meanings(route.query.model_json_schema(), route.query)
    parameters = []
    for name, field in schema.get("properties", {}).items():
        told = {key: value for key, value in field.items() if key == "description"}
        kept = {key: field[key] for key in field.keys() - {"title", "description"}}
        if name in schema.get("required", ()):
            told["required"] = True
        parameters.append({"name": name, "in": "query", "schema": _without_null(kept), **told})
    return parameters


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or not; its text cannot be null."""
    choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) != 1:
        return field
    kept = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
    return {**choices[0], **kept}


def _reply(route: AnyRoute) -> dict[str, Any]:
    content = {kind: {"schema": _reply_schema(route, kind)} for kind in route.content_types}
    return {"description": route.summary, "content": content}


def _reply_schema(route: AnyRoute, content_type: str) -> dict[str, Any]:
    if route.reply is not None:
        return _reference(route.reply)
    return {"type": "object" if content_type == "application/json" else "string"}


def _refusals(route: AnyRoute) -> dict[str, Any]:
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in error_codes(route):
        by_status[STATUS[code]].append(code)
    return {
        str(status): {
            "description": ", ".join(codes),
            "content": {"application/json": {"schema": _reference(ErrorReply)}},
        }
        for status, codes in sorted(by_status.items())
    }


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def _schemas(routes: Sequence[AnyRoute]) -> dict[str, Any]:
    used = [model for route in routes for model in (route.reply, route.body)]
    models = dict.fromkeys([ErrorReply, *(model for model in used if _is_model(model))])
    # As read, not as written: fields with defaults may be absent, and None is left out.
    pairs = [(model, "validation") for model in models]
    _, schema = models_json_schema(pairs, ref_template=_REF)  # type: ignore[arg-type]
    definitions: dict[str, Any] = schema["$defs"]
    tell_definitions(definitions)
    return definitions


def _is_model(model: type[Any] | None) -> TypeGuard[type[BaseModel]]:
    return model is not None and issubclass(model, BaseModel)
