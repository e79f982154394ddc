"""What the fields of models mean, read from the docstrings below them, when somebody asks.

Pydantic can do that itself, but does it for each class as it is made: reading the sources took a
fifth of the server's start, for texts that only the OpenAPI document, the tools' schemas and the
docs show. Invariant: the same texts as pydantic's, at the same places of a schema.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel


@functools.cache
def meanings(model: type[BaseModel]) -> dict[str, str]:
    """The meaning of each field that has one, by its name in Python; inherited ones too."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            found |= _told(base.__module__).get(base.__qualname__, {})
    own = {name: field.description for name, field in model.model_fields.items()}
    found |= {name: text for name, text in own.items() if text is not None}
    return {name: text for name, text in found.items() if name in model.model_fields}


def meaning(model: type[BaseModel], name: str) -> str:
    """The meaning of one field on one line; empty when it has none."""
    return " ".join(meanings(model).get(name, "").split())


@functools.cache
def _told(module: str) -> dict[str, dict[str, str]]:
    """Docstrings below annotated names, by class and name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_below(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _below(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for line, after in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(line, ast.AnnAssign)
            and isinstance(line.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            yield line.target.id, inspect.cleandoc(after.value.value)


def with_meanings(schema: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Put the meanings into a model's JSON schema, and into those of the models in it."""
    _tell(schema, model)
    tell_definitions(schema.get("$defs", {}))
    return schema


def tell_definitions(definitions: dict[str, Any]) -> None:
    """Put the meanings into the schemas of models, by their names."""
    known: dict[str, list[type[BaseModel]]] = {}
    for model in _all_below(BaseModel):
        known.setdefault(model.__name__, []).append(model)
    for name, schema in definitions.items():
        for model in known.get(name, []):
            if set(schema.get("properties", ())) == _wire_names(model):
                _tell(schema, model)


def _tell(schema: dict[str, Any], model: type[BaseModel]) -> None:
    told = meanings(model)
    for name, field in model.model_fields.items():
        part = schema.get("properties", {}).get(field.alias or name)
        if part is not None and name in told:
            part.setdefault("description", told[name])


def _wire_names(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def _all_below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _all_below(each)
