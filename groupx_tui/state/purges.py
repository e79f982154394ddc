"""How getting the bytes of a removed text out of the files stands, as the window shows it."""

from __future__ import annotations

from dataclasses import replace

from groupx_shared.text import safe_line
from groupx_shared.wire.forgetting import PurgeInfo, PurgeList
from groupx_tui.state.clean import clean_id, clean_sentence, optional_line
from groupx_tui.state.model import ClientView, PurgeView

MAX_FILES = 8
"""Named of the files in which a text still stands."""


def purge_view(info: PurgeInfo) -> PurgeView:
    """Return how a purge stands, cleaned."""
    return PurgeView(
        ref_id=clean_id(info.ref_id),
        stage=info.stage,
        steps=info.steps,
        is_removed=info.removed,
        started_at=optional_line(info.started_at),
        ended_at=optional_line(info.ended_at),
        left_in=tuple(safe_line(name) for name in info.left_in[:MAX_FILES]),
        is_checked=info.checked,
        problem=clean_sentence(info.error_message) or "",
    )


def with_purges(view: ClientView, purges: PurgeList) -> ClientView:
    """Return the view with how the purge that it shows stands, as the server told when it was
    asked. Of one that the server does not know any more (it was started anew) nothing is shown."""
    if view.purge is None:
        return view
    told = {info.ref_id: purge_view(info) for info in purges.purges}
    return replace(view, purge=told.get(view.purge.ref_id))
