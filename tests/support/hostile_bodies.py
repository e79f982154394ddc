"""Wire models filled with hostile text by their own annotations: new fields are covered too."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202e \x00"
"""Sets a terminal's title, colours, turns the direction, ends a C string."""
_PLAIN: dict[Any, Any] = {str: HOSTILE, int: 1, float: 1.0, bool: True}


def hostile_bodies(model: type[BaseModel], **fixed: Any) -> list[dict[str, Any]]:
    """Bodies that fit `model` with hostile text in every place for text; one for each value that
    a field with a choice allows. `fixed` sets fields by their wire names."""
    base = {_wire_name(model, name): _hostile(annotation) for name, annotation in _fields(model)}
    variants = [base]
    for name, annotation in _fields(model):
        variants += [{**base, _wire_name(model, name): choice} for choice in _choices(annotation)]
    bodies = [{**variant, **fixed} for variant in variants]
    for body in bodies:
        model.model_validate(body)  # else the test would only see the salvage of a broken body
    return bodies


def _fields(model: type[BaseModel]) -> list[tuple[str, Any]]:
    return [(name, field.annotation) for name, field in model.model_fields.items()]


def _wire_name(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].alias or name


def _hostile(annotation: Any) -> Any:
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is Literal:
        return args[0]
    if origin in (Union, types.UnionType):
        return _hostile(next(arg for arg in args if arg is not type(None)))
    if origin in (tuple, list):
        return [_hostile(args[0])]
    if origin is dict:
        return {HOSTILE: _hostile(args[1])}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {
            _wire_name(annotation, name): _hostile(inner) for name, inner in _fields(annotation)
        }
    return {HOSTILE: [HOSTILE, {"content": HOSTILE}], "content": HOSTILE}


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()
