"""Redaction over HTTP."""

from __future__ import annotations

from support.http_app import READER_TOKEN, http_app

PATHS = ("events/evt_1", "memory/mem_1", "identity/identity_1", "assistant/messages/side_1")


async def test_events_and_records_are_removed_by_people() -> None:
    async with http_app() as served:
        for path in PATHS:
            body = {"clientCommandId": path, "purge": True}
            reply = await served.client.post(f"/api/{path}/redact", json=body)
            assert (reply.status_code, reply.json()["purged"]) == (200, True)
        body = {"clientCommandId": "x"}
        assert (await served.client.post("/api/events/evt_2/redact", json=body)).status_code == 404


async def test_how_purges_stand_can_be_asked() -> None:
    async with http_app() as served:
        (purge,) = (await served.client.get("/api/purges")).json()["purges"]
        assert (purge["refId"], purge["stage"], purge["steps"]) == ("evt_1", "index", 7)


async def test_who_is_no_person_removes_nothing() -> None:
    async with http_app() as served:
        for token, status in ((READER_TOKEN, 403), ("a-sessions-token", 401)):
            headers = {"authorization": f"Bearer {token}"}
            for path in PATHS:
                reply = await served.client.post(
                    f"/api/{path}/redact", json={"clientCommandId": path}, headers=headers
                )
                assert (reply.status_code, path) == (status, path)
        assert served.rooms.forgetting.removed == []
