"""The built-in agent's settings: environment variables, read once at start.

The server sets them from the workspace's config (docs/BUILTIN_AGENT.md lists them). A value that
cannot be used never stops the agent: the default holds and `problems` says so to people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groupx_server.builtin_agent.endpoint import normalise_base_url
from groupx_shared.text import safe_line

DEFAULT_MODEL_TIMEOUT_S: Final = 240.0
"""Silence of a model before we give up: under the server's own limit of 300 s, so that our
sentence comes first; a large local model may load for minutes."""
DEFAULT_HISTORY_CHARS: Final = 120_000
"""About 30,000 tokens of past exchanges."""
USUAL_PORTS: Final = ((11434, "Ollama"), (8080, "llama.cpp"), (1234, "LM Studio"), (8000, "vLLM"))
"""Where local model servers listen by default, in the order we prefer them."""
OPENAI_BASE_URL: Final = "https://api.openai.com/v1"
_OFF: Final = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the agent was told. Secrets are kept out of `repr`."""

    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    model_problem: str | None = None
    """Why the configured model cannot be used; free text then ends with this sentence."""
    timeout_s: float = DEFAULT_MODEL_TIMEOUT_S
    discovery: bool = True
    ports: tuple[tuple[int, str], ...] = USUAL_PORTS
    history_chars: int = DEFAULT_HISTORY_CHARS
    plain: bool = False
    """For small models: only what was said to this agent, no room context, no tools."""
    agent_url: str | None = None
    agent_token: str | None = field(default=None, repr=False)
    actor_id: str | None = None
    problems: tuple[str, ...] = ()


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the `GROUPX_*` variables (and `OPENAI_*` when told to)."""
    source = _Source(environ)
    base_url, model, api_key, model_problem = source.model()
    return Settings(
        base_url=base_url,
        model=model,
        api_key=api_key,
        model_problem=model_problem,
        timeout_s=source.number("GROUPX_MODEL_TIMEOUT_S", DEFAULT_MODEL_TIMEOUT_S, 0.1, 3600),
        discovery=source.text("GROUPX_MODEL_DISCOVERY", "1").lower() not in _OFF,
        ports=source.ports(),
        history_chars=int(
            source.number("GROUPX_MODEL_HISTORY_CHARS", DEFAULT_HISTORY_CHARS, 0, 10_000_000)
        ),
        plain=source.text("GROUPX_MODEL_PLAIN", "0").lower() not in _OFF,
        agent_url=source.text("GROUPX_AGENT_URL").rstrip("/") or None,
        agent_token=source.text("GROUPX_AGENT_TOKEN") or None,
        actor_id=source.text("GROUPX_AGENT_ACTOR") or None,
        problems=tuple(source.problems),
    )


class _Source:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.problems: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def number(self, name: str, default: float, low: float, high: float) -> float:
        raw = self.text(name)
        if not raw:
            return default
        try:
            value = float(raw)
        except ValueError:
            value = float("nan")
        if low <= value <= high:
            return value
        self.problems.append(
            f"{name} is “{safe_line(raw, 40)}”; expected a number from {low:g} to {high:g}. "
            f"{default:g} is used."
        )
        return default

    def ports(self) -> tuple[tuple[int, str], ...]:
        raw = self.text("GROUPX_MODEL_PORTS")
        if not raw:
            return USUAL_PORTS
        words = [word.strip() for word in raw.split(",")]
        ports = [int(word) for word in words if word.isdecimal() and 0 < int(word) < 65_536]
        if len(ports) != len(words):
            self.problems.append(
                f"GROUPX_MODEL_PORTS is “{safe_line(raw, 60)}”; expected port numbers "
                "with commas between. The others are used."
            )
        names = dict(USUAL_PORTS)
        return tuple((port, names.get(port, "a model server")) for port in ports[:16])

    def model(self) -> tuple[str | None, str | None, str | None, str | None]:
        """Base URL, model, key, problem."""
        base_url = self.text("GROUPX_MODEL_BASE_URL")
        model = self.text("GROUPX_MODEL_NAME")
        key = self.text("GROUPX_MODEL_API_KEY")
        variable = "GROUPX_MODEL_BASE_URL"
        if not base_url and self.text("GROUPX_MODEL_FROM_OPENAI_ENV") == "1":
            key = key or self.text("OPENAI_API_KEY")
            model = model or self.text("OPENAI_MODEL")
            default = OPENAI_BASE_URL if key else ""
            base_url, variable = self.text("OPENAI_BASE_URL", default), "OPENAI_BASE_URL"
        if not base_url:
            return None, model or None, key or None, None
        problem = None if key.isascii() and key.isprintable() else _BAD_KEY
        try:
            base_url = normalise_base_url(base_url)
        except ValueError as error:
            problem = f"{variable} is {error}."
        return base_url, model or None, key or None, problem


_BAD_KEY: Final = (
    "The model's API key holds characters that no key has (a line break, or not ASCII). "
    "Set GROUPX_MODEL_API_KEY again."
)
