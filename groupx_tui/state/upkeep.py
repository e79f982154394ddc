"""The summing up of a room, as its progress line shows it; from live events or asked for."""

from __future__ import annotations

from groupx_shared.wire.context import CompactionInfo
from groupx_tui.state.clean import clean_id, clean_sentence, optional_line
from groupx_tui.state.messages import display_name
from groupx_tui.state.model import AgentView, UpkeepView


def upkeep_view(info: CompactionInfo, agents: tuple[AgentView, ...]) -> UpkeepView:
    """Return how a compaction stands, cleaned, with the name of who writes."""
    names = {agent.actor_id: agent.name for agent in agents}
    writer = clean_id(info.generator_actor_id or "")
    return UpkeepView(
        operation_id=clean_id(info.operation_id),
        phase=info.phase,
        step=info.step,
        part=info.part,
        parts=info.parts,
        messages=info.message_count,
        characters=info.source_characters,
        summary_characters=info.summary_characters or 0,
        writer=display_name(writer, names) if writer else "",
        attempt=info.attempt,
        started_at=optional_line(info.started_at),
        ended_at=optional_line(info.ended_at),
        has_no_writer=info.has_no_writer,
        problem=clean_sentence(info.error_message) or "",
    )
