"""The tables of docs/CONFIG.md, rendered from the settings models."""

from __future__ import annotations

import json
from typing import Any

from groupx_shared.meanings import meaning
from groupx_shared.settings import (
    AgentSettings,
    AssistantSettings,
    BackupSettings,
    BrainSettings,
    CommandSettings,
    Config,
    EmbeddingSettings,
    LimitSettings,
    ModelSettings,
    SearchSettings,
    ServerSettings,
    Setting,
    StorageSettings,
    TimeoutSettings,
)

SECTIONS: dict[str, type[Setting]] = {
    "(top level)": Config,
    "server": ServerSettings,
    "storage": StorageSettings,
    "storage.backups": BackupSettings,
    "agents.ID": AgentSettings,
    "agents.ID.command": CommandSettings,
    "agents.ID.model": ModelSettings,
    "assistant": AssistantSettings,
    "assistant.brain": BrainSettings,
    "search": SearchSettings,
    "search.embeddings": EmbeddingSettings,
    "limits": LimitSettings,
    "timeouts": TimeoutSettings,
}


def table(model: type[Setting]) -> str:
    """A markdown table of a model's settings: key, default, meaning."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        told = meaning(model, name)
        lines.append(f"| `{field.alias or name}` | {_default(field)} | {told} |")
    return "\n".join(lines)


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "–"
    if isinstance(value, Setting):
        return "see below"
    if isinstance(value, dict) and any(isinstance(item, Setting) for item in value.values()):
        return ", ".join(f"`{key}`" for key in value)
    return f"`{json.dumps(value)}`"
