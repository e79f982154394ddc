"""Arguments of tools: strict, named when wrong, and told in schemas that every model can take."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.mcp.arguments import (
    AskArguments,
    CollectArguments,
    CoreMemoryArguments,
    IdentityArguments,
    IdentityReadArguments,
    MemoryArguments,
    MemorySearchArguments,
    PublishArguments,
    ReadArguments,
    RosterArguments,
    SearchArguments,
    SendArguments,
    TurnStatusArguments,
    read_arguments,
    schema_of,
)
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.base import RequestModel

MODELS = [
    AskArguments,
    CollectArguments,
    CoreMemoryArguments,
    IdentityArguments,
    IdentityReadArguments,
    MemoryArguments,
    MemorySearchArguments,
    PublishArguments,
    ReadArguments,
    RosterArguments,
    SearchArguments,
    SendArguments,
    TurnStatusArguments,
]
KEPT = {"clientCommandId": "1", "kind": "note", "content": "x"}
SAID = {"to": ["b"], "content": "x", "clientCommandId": "1"}


@pytest.mark.parametrize("model", MODELS)
def test_a_schema_is_closed_flat_and_explains_every_argument(model: type[RequestModel]) -> None:
    schema = schema_of(model)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    text = json.dumps(schema)
    for word in ("anyOf", "$ref", "$defs", '"title"', "null"):
        assert word not in text
    for name, field in schema["properties"].items():
        assert "_" not in name
        assert field["description"]
        assert "type" in field


def test_what_is_needed_and_the_bounds_are_in_the_schema() -> None:
    schema = schema_of(AskArguments)
    assert schema["required"] == ["content", "clientCommandId", "to"]
    assert schema["properties"]["to"]["maxItems"] == 32
    assert schema["properties"]["timeoutMs"]["maximum"] == 60_000
    assert schema["properties"]["cancelOnTimeout"]["default"] is False


@pytest.mark.parametrize(
    ("model", "given_", "path", "told"),
    [
        (SendArguments, {**SAID, "conten": "y"}, "conten", "did you mean content"),
        (SendArguments, {**SAID, "to": "b"}, "to", "list"),
        (SendArguments, {**SAID, "to": ["b", 3]}, "to.1", "string"),
        (SendArguments, {"to": ["b"], "content": "x"}, "clientCommandId", "required"),
        (AskArguments, {**SAID, "timeoutMs": 60_001}, "timeoutMs", "60000"),
        (AskArguments, {**SAID, "timeoutMs": "5"}, "timeoutMs", "integer"),
        (ReadArguments, {"limit": 501}, "limit", "500"),
        (ReadArguments, {"afterSeq": -1}, "afterSeq", "0"),
        (SearchArguments, {"query": "  "}, "query", "pattern"),
        (
            CoreMemoryArguments,
            {"clientCommandId": "1", "kind": "summary", "content": "x"},
            "kind",
            "note",
        ),
        (CoreMemoryArguments, {**KEPT, "subjectActorId": "b"}, "subjectActorId", "no such"),
        (IdentityArguments, {**KEPT, "subjectActorId": "b"}, "subjectActorId", "no such"),
        (IdentityArguments, {**KEPT, "kind": "fact"}, "kind", "preference"),
        (MemoryArguments, {**KEPT, "scope": "room"}, "scope", "no such"),
        (MemorySearchArguments, {"query": "x", "includeHistory": True}, "", "not both"),
        (RosterArguments, {"room": "x"}, "room", "no such argument"),
    ],
)
def test_a_wrong_argument_is_named(
    model: type[RequestModel], given_: dict[str, Any], path: str, told: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        read_arguments(model, given_)
    (issue,) = refused.value.details["issues"]
    assert issue["path"] == path
    assert told in issue["message"]
    assert path in refused.value.message


@pytest.mark.parametrize("key", ["from", "actor", "provenance", "eventId"])
def test_who_one_is_cannot_be_said(key: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read_arguments(SendArguments, {**SAID, key: "agent:b"})
    assert refused.value.code is ErrorCode.SENDER_FIELD_FORBIDDEN
    assert refused.value.details == {"forbiddenFields": [key]}


def test_a_page_and_a_text_are_not_asked_for_at_once() -> None:
    with pytest.raises(RefusedError, match="not both"):
        read_arguments(ReadArguments, {"eventId": "evt_1", "correlationId": "corr_1"})


def test_an_event_may_be_named_where_it_is_asked_for() -> None:
    assert read_arguments(ReadArguments, {"eventId": "evt_1"}).event_id == "evt_1"


@pytest.mark.parametrize("name", ["timeoutMs", "replyToEventId"])
def test_null_is_the_same_as_nothing_where_nothing_is_possible(name: str) -> None:
    given_ = {**SAID, name: None}
    assert read_arguments(AskArguments, given_) == read_arguments(AskArguments, SAID)


@pytest.mark.slow
@given(
    st.sampled_from(MODELS),
    st.dictionaries(
        st.sampled_from(["to", "content", "clientCommandId", "limit", "query", "offset", "x\x1b"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.text(max_size=3))),
    ),
)
def test_any_arguments_are_read_or_refused(
    model: type[RequestModel], given_: dict[str, Any]
) -> None:
    said = ""
    try:
        read_arguments(model, given_)
    except RefusedError as error:
        said = error.message + json.dumps(error.details, ensure_ascii=False)
    assert "\x1b" not in said
