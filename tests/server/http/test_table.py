"""The table and the protocol document tell of the same endpoints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groupx_server.http.endpoint import AnyRoute
from groupx_server.http.table import ROUTES

PROTOCOL = (Path(__file__).parents[3] / "docs" / "PROTOCOL.md").read_text("utf-8")
HEADING = re.compile(r"^### `(GET|POST|PATCH) (/api/\S+)`$", re.MULTILINE)


def section(route: AnyRoute) -> str:
    _, _, rest = PROTOCOL.partition(f"### `{route.method} {route.path}`\n")
    return re.split(r"^##", rest, maxsplit=1, flags=re.MULTILINE)[0]


def test_the_protocol_document_has_a_section_for_each_route_and_no_other() -> None:
    assert sorted(HEADING.findall(PROTOCOL)) == sorted((r.method, r.path) for r in ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_section_names_status_parameters_and_refusals(route: AnyRoute) -> None:
    text = section(route)
    assert f"{route.status}" in text
    for field in route.query.model_fields.values():
        assert f"`{field.alias}`" in text
    for code in route.errors:
        assert f"`{code}`" in text


def test_no_method_of_a_path_is_there_twice() -> None:
    keys = [(route.method, route.path) for route in ROUTES]
    assert len(keys) == len(set(keys))
