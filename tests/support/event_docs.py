"""The tables of docs/EVENTS.md, rendered from the body models."""

from __future__ import annotations

from groupx_shared.meanings import meaning
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import BODY_MODELS
from groupx_shared.wire.events import TRANSIENT_TYPES, Event, EventType


def fields_of(model: type[WireModel]) -> str:
    """A body's keys, optional ones in brackets."""
    names = []
    for name, field in model.model_fields.items():
        key = f"`{field.alias or name}`"
        names.append(key if field.is_required() else f"[{key}]")
    return ", ".join(names)


def event_table() -> str:
    """One line for each event type: kept or live, meaning, body."""
    lines = ["| type | kept | meaning | body |", "|---|---|---|---|"]
    for kind in EventType:
        model = BODY_MODELS[kind]
        kept = "live" if kind in TRANSIENT_TYPES else "ledger"
        meaning = " ".join((model.__doc__ or "").split()).split(". ")[0].rstrip(".")
        lines.append(f"| `{kind.value}` | {kept} | {meaning} | {fields_of(model)} |")
    return "\n".join(lines)


def envelope_table() -> str:
    """The keys of the envelope."""
    lines = ["| key | meaning |", "|---|---|"]
    for name, field in Event.model_fields.items():
        lines.append(f"| `{field.alias or name}` | {meaning(Event, name)} |")
    return "\n".join(lines)
