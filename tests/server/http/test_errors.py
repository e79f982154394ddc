"""Codes and statuses: every code has one, and the document tells of it."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from groupx_server.http.errors import STATUS, error_reply, internal_reply
from groupx_shared.errors import ErrorCode, RefusedError

DOCUMENT = Path(__file__).parents[3] / "docs" / "ERRORS.md"
ROW = re.compile(r"^\| `([A-Z_]+)` \| (\d{3}) \|", re.MULTILINE)


def test_every_code_has_a_status_and_only_faults_of_ours_are_500() -> None:
    assert set(STATUS) == set(ErrorCode)
    assert [code for code, status in STATUS.items() if status == 500] == [ErrorCode.INTERNAL_ERROR]


def test_the_document_lists_every_code_with_its_status() -> None:
    rows = {code: int(status) for code, status in ROW.findall(DOCUMENT.read_text("utf-8"))}
    assert rows == {code.value: status for code, status in STATUS.items()}


@pytest.mark.parametrize("code", [code for code in ErrorCode if STATUS[code] != 405])
def test_a_refusal_keeps_its_code_sentence_and_details(code: ErrorCode) -> None:
    reply = error_reply(RefusedError("What and why.", code=code, details={"limit": 3}))
    assert reply.status == STATUS[code]
    expected = {"code": code.value, "message": "What and why.", "details": {"limit": 3}}
    assert orjson.loads(reply.body) == {"error": expected}


def test_refusals_that_have_a_header_of_their_own_send_it() -> None:
    def headers(code: ErrorCode, **details: object) -> dict[bytes, bytes]:
        return dict(error_reply(RefusedError("No.", code=code, details=details)).headers)

    assert headers(ErrorCode.UNAUTHORIZED)[b"www-authenticate"].startswith(b"Bearer")
    allow = headers(ErrorCode.METHOD_NOT_ALLOWED, allow=["GET", "POST"])[b"allow"]
    assert allow == b"GET, POST"
    assert headers(ErrorCode.STORE_UNAVAILABLE)[b"retry-after"] == b"1"
    assert headers(ErrorCode.INVALID_ENVELOPE) == {}


def test_details_of_any_kind_can_be_told() -> None:
    reply = error_reply(RefusedError("No.", details={"path": Path("/data"), "seqs": (1, 2)}))
    assert orjson.loads(reply.body)["error"]["details"] == {"path": "/data", "seqs": [1, 2]}


def test_a_fault_of_ours_tells_only_an_id() -> None:
    reply = internal_reply("err_1")
    assert reply.status == 500
    assert orjson.loads(reply.body)["error"]["details"] == {"errorId": "err_1"}
