"""`groupx memory`."""

from __future__ import annotations

from support.cli_run import Groupx
from support.cli_server import CliServer

RECORD = {
    "memoryId": "mem_1",
    "scope": {"type": "room", "id": "room:main"},
    "kind": "fact",
    "authorActorId": "user:web",
    "content": "the port\x1b[2J is 4310",
    "sourceKind": "web",
    "status": "active",
    "createdAt": "2026-11-03T14:03:21.000Z",
    "pinnedAt": "2026-11-03T14:03:21.000Z",
}


def test_list_prints_records_cleaned(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/memory"] = (200, {"items": [RECORD]})
    result = groupx("memory", "list", "--agent", "kimi", "--history")
    assert "the port␛[2J is 4310" in result.out
    assert "pinned" in result.out
    [(_, path, _)] = server.requests
    assert path == "/api/memory?scopeType=agent&scopeId=agent:kimi&includeHistory=true&limit=100"


def test_list_narrows_by_all_that_is_given(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/memory"] = (200, {"items": [], "nextCursor": "more"})
    words = "--all --kind fact --author user:web --about kimi --status retracted --pinned --dated"
    result = groupx("memory", "list", *words.split(), "-n", "5", "--cursor", "c")
    [(_, path, _)] = server.requests
    assert path == (
        "/api/memory?kind=fact&authorActorId=user:web&subjectActorId=agent:kimi&status=retracted"
        "&pinned=true&agentMemoryType=dated&limit=5&cursor=c"
    )
    assert "--cursor more" in result.err


def test_a_record_is_shown_with_its_source_and_its_versions(
    groupx: Groupx, server: CliServer
) -> None:
    record = {**RECORD, "sourceEventId": "evt_1"}
    server.replies["GET", "/api/memory/mem_1"] = (200, {"memory": record})
    assert "source event: evt_1" in groupx("memory", "show", "mem_1").out
    server.replies["GET", "/api/memory/mem_1/history"] = (200, {"items": [record, record]})
    assert groupx("memory", "history", "mem_1").out.count("4310") == 2


def test_memory_is_searched(groupx: Groupx, server: CliServer) -> None:
    server.replies["GET", "/api/search"] = (200, {"hits": []})
    assert "Nothing found" in groupx("memory", "search", "port").err
    [(_, path, _)] = server.requests
    assert path == "/api/search?q=port&kind=memory&limit=20"


def test_memory_of_one_root_is_kept_and_listed(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/memory"] = (201, {"memory": RECORD})
    server.replies["GET", "/api/memory"] = (200, {"items": [RECORD]})
    groupx("memory", "add", "the gate is blue", "--root", "corr_1")
    groupx("memory", "list", "--root", "corr_1")
    (_, _, body), (_, path, _) = server.requests
    assert isinstance(body, dict)
    assert body["scope"] == {"type": "correlation", "id": "corr_1"}
    assert path == "/api/memory?scopeType=correlation&scopeId=corr_1&limit=100"


def test_add_sends_scope_and_kind(groupx: Groupx, server: CliServer) -> None:
    server.replies["POST", "/api/memory"] = (201, {"memory": RECORD})
    result = groupx("memory", "add", "the port is 4310", "--pin", "--kind", "decision")
    assert (result.code, result.out) == (0, "mem_1\n")


def test_a_record_is_corrected_retracted_and_pinned(groupx: Groupx, server: CliServer) -> None:
    for how in ("supersede", "retract", "pin"):
        server.replies["POST", f"/api/memory/mem_1/{how}"] = (200, {"memory": RECORD})
    assert groupx("memory", "correct", "mem_1", "4311").code == 0
    assert groupx("memory", "retract", "mem_1").code == 0
    assert groupx("memory", "pin", "mem_1").code == 0
    assert groupx("memory", "unpin", "mem_1").code == 0


def test_an_unknown_record_is_said(groupx: Groupx, server: CliServer) -> None:
    error = {"error": {"code": "UNKNOWN_MEMORY", "message": "There is no memory record."}}
    server.replies["POST", "/api/memory/mem_9/retract"] = (404, error)
    result = groupx("memory", "retract", "mem_9")
    assert result.code == 6
    assert "no memory record" in result.err
