"""The settings of a workspace, as models; `config` reads them from `groupx.json`.

Every setting has a default: a workspace without a file works, with the built-in agent. Each field
has its meaning below it; docs/CONFIG.md is checked against them.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic import model_validator as validates_model
from pydantic.alias_generators import to_camel

from groupx_shared.ids import AGENT_KEY_PATTERN, RESERVED_AGENT_KEYS
from groupx_shared.names import nearest

BUILTIN_DRIVER: Final = "builtin"

RESTART_SECTIONS: Final = ("server", "storage")
"""Read once by the server: the socket is open, the database is held."""
RESTART_LIMITS: Final = ("sse_events", "sse_bytes")
"""The fan-out's memory is made at the start."""

HttpUrl = Annotated[str, StringConstraints(pattern=r"^https?://\S+$", max_length=2048)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Setting(BaseModel):
    """Base of all settings: camelCase keys, unknown keys refused."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        strict=True,
    )


class ServerSettings(Setting):
    """Where the server listens."""

    host: Literal["127.0.0.1", "localhost", "::1"] = "127.0.0.1"
    """Loopback only; anything else is refused."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 0
    """0 lets the system choose a free port (clients find it by themselves)."""


class BackupSettings(Setting):
    """Automatic backups, in `backups/` beside the database."""

    enabled: bool = True
    """Make one a day while something is written."""
    keep: Annotated[int, Field(ge=1, le=1000)] = 7
    """How many are kept."""
    max_age_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Older ones are removed; the newest one always stays."""


class StorageSettings(Setting):
    """Where the ledger is."""

    path: str | None = None
    """Database file; default `groupx.db` in the data folder."""
    backups: BackupSettings = BackupSettings()
    """Automatic backups."""


class CommandSettings(Setting):
    """How an agent program is started, without a shell."""

    executable: Annotated[str, StringConstraints(min_length=1, max_length=4096)]
    """A name on PATH, or a path (`~` allowed)."""
    args: list[str] = Field(default_factory=list, max_length=64)
    """Arguments, each one word."""
    prefix_args: list[str] = Field(default_factory=list, max_length=1)
    """Written by the earlier program: goes before `args`."""


class ModelSettings(Setting):
    """The model of the built-in agent: any OpenAI-compatible chat endpoint."""

    base_url: (
        Annotated[str, StringConstraints(pattern=r"^https?://\S+$", max_length=2048)] | None
    ) = None
    """Like `http://127.0.0.1:11434/v1`; unset: the usual loopback ports are tried."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None
    """Model name; unset: the first the endpoint lists."""
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = (
        None
    )
    """Name of the environment variable that holds the key; the key itself is never in the file."""
    discovery: bool = True
    """Look for Ollama, llama.cpp, LM Studio and vLLM on their usual loopback ports."""
    local: bool = False
    """Run a small model beside the agent, on this machine; needs the extra `local`."""

    @validates_model(mode="after")
    def _one_model(self) -> Self:
        if self.local and (self.base_url or self.name or self.api_key_env):
            raise ValueError("model.local goes without baseUrl, name and apiKeyEnv")
        return self


class AgentSettings(Setting):
    """One agent of the roster; its key in `agents` is its id."""

    driver: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """`acp` (any command that speaks ACP) or `builtin`; default: the agent's id."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Display name; default: the id."""
    identity: Annotated[str, StringConstraints(max_length=32_768)] | None = None
    """Who the agent is in this workspace; goes with every turn."""
    dated_memory: bool = True
    """Have it write down what its days held, for itself; costs a model call for some turns."""
    command: str | CommandSettings | None = None
    """Program to start; default: the driver's own."""
    cwd: str = "."
    """Working folder of the agent."""
    env: dict[str, str] = Field(default_factory=dict, max_length=128)
    """Environment variables on top of a small inherited set."""
    enabled: bool = True
    """A disabled agent is listed but never started."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Driver options (docs/ADAPTERS.md)."""
    model: ModelSettings | None = None
    """Only for the built-in agent."""


class BrainSettings(Setting):
    """The program of the room assistant, as an agent's."""

    driver: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """As an agent's; default: the built-in agent, which answers and does nothing in the rooms."""
    command: str | CommandSettings | None = None
    """Program to start; default: the driver's own."""
    cwd: str = "."
    """Working folder."""
    env: dict[str, str] = Field(default_factory=dict, max_length=128)
    """Environment variables on top of a small inherited set."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Driver options (docs/ADAPTERS.md)."""
    model: ModelSettings | None = None
    """Only for the built-in agent."""


class AssistantSettings(Setting):
    """The room assistant."""

    enabled: bool = False
    """Whether there is one; its program starts with the first request."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Display name; default: Room assistant."""
    brain: BrainSettings | None = None
    """Its program."""
    extra_instructions: Annotated[str, StringConstraints(max_length=32_768)] | None = None
    """Added to its instructions."""


class EmbeddingSettings(Setting):
    """An OpenAI-compatible embeddings endpoint, beside full text."""

    enabled: bool = False
    """Whether texts are sent to the endpoint: each message and record once, and each query."""
    base_url: HttpUrl = "http://127.0.0.1:11434/v1"
    """Where `/embeddings` is. Texts leave this machine when it is elsewhere."""
    model: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None
    """Model name; needed."""
    api_key_env: VariableName | None = None
    """Name of the environment variable that holds the key; the key itself is never in the file."""
    dimensions: Annotated[int, Field(ge=1, le=8_192)] | None = None
    """Asked of the endpoint and checked; one byte each is stored. Unset: what it gives."""
    characters: Annotated[int, Field(ge=64, le=100_000)] = 2_000
    """Of each text, from its beginning."""
    batch_size: Annotated[int, Field(ge=1, le=256)] = 32
    """Texts in one call."""
    calls_per_day: Annotated[int, Field(ge=0)] = 5_000
    """Calls in a day (UTC), queries too; 0: no bound."""
    timeout_ms: Annotated[int, Field(ge=100, le=600_000)] = 30_000
    """One call with a batch, in the background."""
    query_timeout_ms: Annotated[int, Field(ge=50, le=30_000)] = 1_500
    """One query; then the answer is by words alone."""
    weight: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """What meaning counts beside words, which count 1."""
    least_nearness: Annotated[float, Field(ge=0.0, le=1.0)] = 0.35
    """Cosine from which a text is found that has none of the words; 1: such ones are not."""
    english_only: bool = False
    """The model knows English alone: queries in Chinese and the like are by words alone."""

    @validates_model(mode="after")
    def _has_a_model(self) -> Self:
        if self.enabled and self.model is None:
            raise ValueError("search.embeddings.model: an enabled endpoint needs a model name")
        return self


class SearchSettings(Setting):
    """Search; full text needs no setting."""

    embeddings: EmbeddingSettings = EmbeddingSettings()
    """What texts mean, from an endpoint (docs/SEARCH.md)."""


class LimitSettings(Setting):
    """Bounds on messages, queues and loops."""

    message_characters: Annotated[int, Field(ge=1024, le=131_072)] = 131_072
    """Longest message a person or an agent may send."""
    queue_per_agent: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Turns waiting or running for one agent."""
    root_turns: Annotated[int, Field(ge=1, le=10_000)] = 48
    """Turns that one message may lead to, in all."""
    hop_count: Annotated[int, Field(ge=1, le=1000)] = 24
    """Length of a chain of agents calling agents."""
    actor_calls_per_root: Annotated[int, Field(ge=1, le=1000)] = 16
    """Turns of one agent that one message may lead to."""
    ping_pong_calls: Annotated[int, Field(ge=1, le=1000)] = 6
    """Calls in a row that two agents may make to each other only; then a person is asked."""
    tokens_per_root: Annotated[int, Field(ge=0)] = 0
    """Tokens that one message may cost in all, as far as agents tell; 0: no budget."""
    steers_per_subject_turn: Annotated[int, Field(ge=1, le=16)] = 3
    """Steers an observer may give in one turn."""
    context_characters: Annotated[int, Field(ge=1024, le=10_000_000)] = 256_000
    """Hard limit of a context packet, in characters."""
    answer_characters: Annotated[int, Field(ge=1024, le=16_777_216)] = 131_072
    """Longest answer kept in an event; the whole text is kept beside it."""
    reasoning_characters: Annotated[int, Field(ge=1024, le=4_194_304)] = 65_536
    """Longest reasoning kept in its record."""
    tool_characters: Annotated[int, Field(ge=1024, le=4_194_304)] = 32_768
    """Longest content kept of one tool call."""
    tools_per_turn: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Tool records kept for one turn; what is beyond is counted."""
    sse_events: Annotated[int, Field(ge=8, le=100_000)] = 512
    """Live frames waiting for one slow reader before it falls back to the ledger."""
    sse_bytes: Annotated[int, Field(ge=16_384, le=100_000_000)] = 2_097_152
    """The same in bytes."""


class TimeoutSettings(Setting):
    """Bounds on waiting, in milliseconds."""

    handshake_ms: Annotated[int, Field(ge=100, le=300_000)] = 30_000
    """From an agent's start to its session."""
    request_ms: Annotated[int, Field(ge=100, le=300_000)] = 10_000
    """One request to an agent."""
    first_event_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 180_000
    """From the prompt to the first sign of the agent."""
    idle_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 300_000
    """Silence in a running turn; also how long its agent may only try to reach its model again."""
    cancel_ms: Annotated[int, Field(ge=100, le=300_000)] = 10_000
    """From a cancel to its confirmation; then the agent is ended."""
    close_ms: Annotated[int, Field(ge=100, le=300_000)] = 5_000
    """For an agent to end by itself at stop."""
    ask_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 120_000
    """Waiting for an agent asked by another one."""
    watch_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 120_000
    """Waiting of an observer."""


class Config(Setting):
    """The whole file."""

    transport: Literal["structured"] = "structured"
    """Only value; `direct` of the earlier program is refused."""
    server: ServerSettings = ServerSettings()
    """Where the server listens."""
    storage: StorageSettings = StorageSettings()
    """Where the ledger is."""
    agents: dict[str, AgentSettings] = Field(
        default_factory=lambda: {"guide": AgentSettings(driver=BUILTIN_DRIVER, name="Guide")}
    )
    """The roster; default: the built-in agent alone, called `guide`."""
    default_agent: str | None = None
    """Agent that gets a message without a target; default: the only or first enabled one."""
    assistant: AssistantSettings = AssistantSettings()
    """The room assistant."""
    search: SearchSettings = SearchSettings()
    """Search."""
    limits: LimitSettings = LimitSettings()
    """Bounds on messages, queues and loops."""
    timeouts: TimeoutSettings = TimeoutSettings()
    """Bounds on waiting."""

    @validates_model(mode="after")
    def _roster_is_sound(self) -> Self:
        for key in self.agents:
            if AGENT_KEY_PATTERN.match(key) is None or key in RESERVED_AGENT_KEYS:
                raise ValueError(
                    f"agents.{key}: an agent id is letters, digits, dots, dashes (at most 64), "
                    "and not “assistant”"
                )
        if self.default_agent is not None and self.default_agent not in self.agents:
            near = nearest(self.default_agent, self.agents)
            hint = f"; did you mean “{near}”?" if near else ""
            raise ValueError(f"defaultAgent: there is no agent “{self.default_agent}”{hint}")
        return self
