"""The OpenAPI document: valid, complete, and in agreement with the application."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from groupx_server.http.endpoint import AnyRoute
from groupx_server.http.errors import STATUS
from groupx_server.http.openapi import build_document, error_codes
from groupx_server.http.table import ROUTES
from groupx_shared.errors import ErrorCode

DOCUMENT = build_document(ROUTES)


def operation(route: AnyRoute) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][route.path][route.method.lower()]
    return found


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield item
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_the_document_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()


def test_every_reference_leads_somewhere() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert {name.rsplit("/", 1)[1] for name in references(DOCUMENT)} <= schemas.keys()


def test_operations_are_named_once() -> None:
    names = [operation(route)["operationId"] for route in ROUTES]
    assert len(names) == len(set(names)) == len(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_refusal_of_a_route_is_in_the_document(route: AnyRoute) -> None:
    responses = operation(route)["responses"]
    for code in error_codes(route):
        assert code in responses[str(STATUS[code])]["description"]
    assert str(route.status) in responses
    assert ErrorCode.INTERNAL_ERROR in error_codes(route)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_only_health_is_open(route: AnyRoute) -> None:
    is_open = operation(route).get("security") == []
    assert is_open == route.is_public == (route.path == "/api/health")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_a_handler_takes_what_its_route_parses(route: AnyRoute) -> None:
    hint = inspect.signature(route.handler).parameters["call"].annotation
    body = route.body.__name__ if issubclass(route.body, BaseModel) else "None"
    assert hint == f"Call[{route.query.__name__}, {body}]"


def test_parameters_carry_their_bounds() -> None:
    page = DOCUMENT["paths"]["/api/rooms/{roomId}/events"]["get"]["parameters"]
    by_name = {parameter["name"]: parameter for parameter in page}
    assert by_name["limit"]["schema"] == {
        "default": 100,
        "maximum": 500,
        "minimum": 1,
        "type": "integer",
    }
    assert by_name["before"]["schema"] == {
        "maximum": 2**63 - 1,
        "minimum": 0,
        "type": "integer",
    }
    assert by_name["before"]["description"].startswith("Events with a smaller seq")
    assert by_name["roomId"]["required"] is True
