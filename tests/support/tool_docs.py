"""The tables of docs/MCP.md, rendered from the tools themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from groupx_server.mcp.arguments import schema_of
from groupx_server.mcp.desk import Tool
from groupx_server.mcp.operatortools import Cases, OperatorDesk
from groupx_server.mcp.toolbox import Toolbox
from groupx_shared.meanings import meaning
from groupx_shared.wire.base import WireModel


def all_tools() -> list[Tool[Any]]:
    """The tools, without anything behind them."""
    return list(Toolbox(None, None, None, None).tools.values())  # type: ignore[arg-type]


def operator_tools() -> list[Tool[Any]]:
    """The room assistant's, without anything behind them."""
    nothing: Any = None
    return list(OperatorDesk(Cases(*[nothing] * 5)).tools.values())


def arguments_table(tool: Tool[Any]) -> str:
    """Name, type, what is needed, and meaning of each argument."""
    schema = schema_of(tool.arguments)
    if not schema["properties"]:
        return "No arguments."
    lines = ["| argument | type | default | meaning |", "|---|---|---|---|"]
    for name, field in schema["properties"].items():
        needed = "required" if name in schema.get("required", ()) else _default(field)
        lines.append(f"| `{name}` | {_type(field)} | {needed} | {field['description']} |")
    return "\n".join(lines)


def result_table(model: type[WireModel]) -> str:
    """Each key of a result; those in brackets may be absent."""
    lines = ["| key | meaning |", "|---|---|"]
    for name, field in model.model_fields.items():
        key = f"`{field.alias or name}`"
        shown = key if field.is_required() else f"[{key}]"
        inner = "".join(f" Each: *{found.__name__}*." for found in _models(field.annotation))
        lines.append(f"| {shown} | {meaning(model, name)}{inner} |")
    return "\n".join(lines)


def shapes(tools: Sequence[Tool[Any]]) -> list[type[WireModel]]:
    """All result models, outer ones first, each once."""
    found: list[type[WireModel]] = []
    waiting = [model for tool in tools for model in tool.results]
    while waiting:
        model = waiting.pop(0)
        if model not in found:
            found.append(model)
            for field in model.model_fields.values():
                waiting += _models(field.annotation)
    return found


def _models(annotation: Any) -> list[type[WireModel]]:
    if isinstance(annotation, type) and issubclass(annotation, WireModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _type(field: dict[str, Any]) -> str:
    kind = str(field["type"])
    if "enum" in field:
        return " or ".join(f"`{choice}`" for choice in field["enum"])
    if kind == "array":
        return f"list of {field.get('minItems', 0)} to {field['maxItems']} texts"
    return {"string": "text", "integer": "number", "boolean": "true or false", "object": "object"}[
        kind
    ]


def _default(field: dict[str, Any]) -> str:
    return f"`{json.dumps(field['default'])}`" if "default" in field else "–"
