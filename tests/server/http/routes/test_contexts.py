"""The context's endpoints, over HTTP."""

from __future__ import annotations

from support.http_app import http_app


async def test_preview_compact_and_reset() -> None:
    async with http_app() as served:
        path = "/api/rooms/room:main/context"
        shown = await served.client.get(path, params={"agent": "guide", "text": "hi"})
        assert shown.status_code == 200
        assert shown.json()["sections"][0]["leftOut"] == [{"id": "evt_1", "characters": 9}]
        assert (await served.client.get(path)).status_code == 400
        assert (await served.client.get(path, params={"agent": "x"})).status_code == 404
        summary = await served.client.get(f"{path}/summary")
        assert (summary.status_code, summary.json()["exists"]) == (200, False)
        body = {"clientCommandId": "c1", "keep": 3}
        asked = await served.client.post(f"{path}/compact", json=body)
        assert (asked.status_code, asked.json()["accepted"]) == (202, True)
        bad = await served.client.post(f"{path}/compact", json={**body, "keep": -1})
        assert bad.status_code == 400
        reset = await served.client.post(f"{path}/reset", json={"clientCommandId": "c2"})
        assert reset.json() == {"reset": True, "throughSeq": 1}


async def test_days_are_listed_by_agent_and_room() -> None:
    async with http_app() as served:
        found = await served.client.get("/api/days", params={"actorId": "agent:x", "limit": 3})
        [day] = found.json()["days"]
        assert (day["actorId"], day["roomId"], day["day"]) == ("agent:x", "room:main", "2026-11-30")
        assert (await served.client.get("/api/days", params={"limit": 0})).status_code == 400
