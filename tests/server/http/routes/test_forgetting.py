"""Redaction over HTTP."""

from __future__ import annotations

from support.http_app import http_app


async def test_events_and_records_are_removed_by_people() -> None:
    async with http_app() as served:
        for path in (
            "events/evt_1",
            "memory/mem_1",
            "identity/identity_1",
            "assistant/messages/side_1",
        ):
            body = {"clientCommandId": path, "purge": True}
            reply = await served.client.post(f"/api/{path}/redact", json=body)
            assert (reply.status_code, reply.json()["purged"]) == (200, True)
        body = {"clientCommandId": "x"}
        assert (await served.client.post("/api/events/evt_2/redact", json=body)).status_code == 404
