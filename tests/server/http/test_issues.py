"""The sentences for inputs that do not fit."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from groupx_server.http.issues import Issue, issues_of, nul_issues, refuse, unknown_keys, wire_names
from groupx_shared.wire.requests import SendMessage


def test_the_sentence_says_where_what_and_how_many_more() -> None:
    error = refuse("The query", [Issue("limit", "x", "Too small."), Issue("a", "y", "No.")])
    assert error.message == "The query is not valid: limit: Too small. (1 more in details.issues)"


def test_wire_names_are_the_only_known_keys() -> None:
    assert "clientCommandId" in wire_names(SendMessage)
    assert unknown_keys("key", ["clientCommandId"], SendMessage) == []
    assert unknown_keys("key", ["client_command_id"], SendMessage)[0].code == "unknown_key"


def test_nul_is_found_however_deep() -> None:
    found = nul_issues({"a": ["x", {"b": "y\0"}], "c": 1, "d": None})
    assert [issue.path for issue in found] == ["a.1.b"]


def test_findings_keep_path_and_code_and_lose_the_value() -> None:
    with pytest.raises(ValidationError) as caught:
        SendMessage.model_validate({"clientCommandId": "1", "content": "a", "to": ["b", 3]})
    (issue,) = issues_of(caught.value)
    assert (issue.path, issue.code) == ("to.1", "string_type")
