"""Sentences for inputs that do not fit: pydantic's findings, told in our words."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.names import unknown_name
from groupx_shared.text import safe_line

MAX_ISSUES: Final = 20
PREFIX: Final = "Value error, "


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong: where (`to.0`, `limit`), a stable code, a sentence."""

    path: str
    code: str
    message: str


def refuse(where: str, issues: Sequence[Issue]) -> RefusedError:
    """The refusal for `issues` of `where` ("The request body"); the first one is in the
    sentence, the first twenty are in the details."""
    first, more = issues[0], len(issues) - 1
    at = f"{first.path}: " if first.path else ""
    tail = f" ({more} more in details.issues)" if more else ""
    listed = [
        {"path": issue.path, "code": issue.code, "message": issue.message}
        for issue in issues[:MAX_ISSUES]
    ]
    return RefusedError(
        f"{where} is not valid: {at}{first.message}{tail}",
        code=ErrorCode.INVALID_ENVELOPE,
        details={"issues": listed},
    )


def unknown_keys(kind: str, given: Iterable[str], model: type[BaseModel]) -> list[Issue]:
    """An issue for each key that `model` does not name; snake_case names are not wire names."""
    known = wire_names(model)
    if known.issuperset(given := list(given)):
        return []
    return [
        Issue(safe_line(key, 80), "unknown_key", unknown_name(kind, key, known))
        for key in given
        if key not in known
    ]


def nul_issues(value: Any, path: str = "") -> list[Issue]:
    """An issue for each text that holds U+0000: databases and terminals disagree about it."""
    if isinstance(value, str):
        message = "U+0000 is not allowed in a text; leave it out."
        return [Issue(path, "nul_character", message)] if "\0" in value else []
    if isinstance(value, list | tuple):
        parts = [(str(index), item) for index, item in enumerate(value)]
    elif isinstance(value, dict):
        parts = [(safe_line(str(key), 80), item) for key, item in value.items()]
    else:
        return []
    prefix = f"{path}." if path else ""
    return [issue for key, item in parts for issue in nul_issues(item, prefix + key)]


@functools.cache
def wire_names(model: type[BaseModel]) -> frozenset[str]:
    """The keys of `model` as they stand on the wire."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def issues_of(error: ValidationError) -> list[Issue]:
    """Pydantic's findings; none of the given values is repeated."""
    return [
        Issue(
            path=safe_line(".".join(str(part) for part in found["loc"]), 200),
            code=found["type"],
            message=safe_line(found["msg"].removeprefix(PREFIX), 300),
        )
        for found in error.errors(include_url=False, include_context=False, include_input=False)
    ]
