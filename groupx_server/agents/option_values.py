"""Reading the options of an agent's settings strictly: they are ours, so a slip is an error.

Pure. Every function raises ConfigError that names the key, what was found and what was expected.
Counterparts: the options of each driver (`acp_setup.AcpOptions`, `codex_setup.CodexOptions`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from groupx_shared.errors import ConfigError


def refuse_unknown(options: Mapping[str, Any], known: Collection[str], driver: str) -> None:
    """Raises: ConfigError for the first key that the driver does not know."""
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ConfigError(
            f"The option {unknown[0]!r} is not known to the {driver} driver; it knows "
            f"{', '.join(sorted(known))}."
        )


def read_strings(key: str, value: Any) -> tuple[str, ...]:
    """A list of texts. Raises: ConfigError."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"The option {key} must be a list of texts, not {value!r}.")
    return tuple(value)


def read_seconds(options: Mapping[str, Any], key: str, default: float | None) -> float | None:
    """Seconds, 0 or more; `default` when absent. Raises: ConfigError."""
    value = options.get(key, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ConfigError(f"The option {key} must be seconds, 0 or more, not {value!r}.")
    return float(value)
