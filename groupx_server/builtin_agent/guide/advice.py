"""The guide's standing texts: help, greeting, how to connect a model or an agent. Pure."""

from __future__ import annotations

from typing import Final

from groupx_server.builtin_agent.guide.commands import BY_NAME, COMMANDS
from groupx_shared.names import nearest
from groupx_shared.text import safe_line

MODEL_CONFIG: Final = """\
```json
{
  "agents": {
    "guide": {
      "driver": "builtin",
      "name": "Guide",
      "model": {"baseUrl": "http://127.0.0.1:11434/v1", "name": "qwen3:8b"}
    }
  }
}
```"""

AGENT_CONFIG: Final = """\
```json
{
  "agents": {
    "guide": {"driver": "builtin", "name": "Guide"},
    "gemini": {
      "driver": "acp",
      "name": "Gemini",
      "command": {"executable": "gemini", "args": ["--acp"]}
    }
  }
}
```"""

HOW_TO_ADD: Final = (
    "To add an agent, in a shell: `groupx agents list --available` shows which are installed here, "
    "`groupx agents add NAME` adds one at once. `/setup` shows how it looks in `groupx.json`."
)


def help_text() -> str:
    """What there is to ask for."""
    lines = [f"- `{command.usage}` — {command.summary}" for command in COMMANDS]
    return (
        "I am GroupX's built-in guide. I answer from the room's own data, without a model:\n\n"
        + "\n".join(lines)
        + "\n\nAnything else you write goes to a model as soon as one is connected.\n"
    )


def greeting() -> str:
    """First steps for somebody who says hello."""
    return (
        "Hello! I am GroupX's built-in guide. No model is connected yet, so I cannot hold a "
        "conversation, but I know this room:\n\n"
        "- `/setup` — connect a local model (Ollama, llama.cpp, LM Studio, vLLM) or an agent\n"
        "- `/agents` — who is here\n"
        "- `/find WORDS` — find what was said\n"
        "- `/help` — everything I can do\n"
    )


def unknown_command(name: str) -> str:
    """A slash word that is no command of ours."""
    shown = safe_line(name, 40)
    near = nearest(name, BY_NAME)
    hint = f" Did you mean `{BY_NAME[near].usage}`?" if near else ""
    return f"There is no command `/{shown}`.{hint} `/help` lists all.\n"


def no_model(words: str) -> str:
    """Free text that points to no command."""
    nearest_one = f"`/find {words}`" if words else "`/last`"
    return (
        "No model is connected, so I cannot answer this. I can read the room for you; nearest to "
        f"what you wrote is {nearest_one}.\n\n"
        "`/setup` shows how to connect a model, `/help` what works right now.\n"
    )


def setup_text(looked: list[str]) -> str:
    """How to connect a model or an agent. `looked`: one line per port that was tried."""
    seen = "\n".join(f"- {line}" for line in looked) or "- no ports were tried"
    return (
        "**A local model.** Start one of these and write a message; it is found by itself:\n\n"
        "- Ollama: `ollama serve`, then `ollama pull qwen3:8b`\n"
        "- llama.cpp: `llama-server -m MODEL.gguf --jinja --port 8080`\n"
        "- LM Studio: its local server, port 1234\n"
        "- vLLM: `vllm serve MODEL`, port 8000\n\n"
        f"Looked just now:\n\n{seen}\n\n"
        "**A certain model or address.** In the workspace's `groupx.json`, then "
        f"`groupx reload`:\n\n{MODEL_CONFIG}\n\n"
        'A hosted endpoint also needs a key: `"apiKeyEnv": "MY_KEY"` in `model` names the '
        "environment variable that holds it; the key itself is never in the file.\n\n"
        "**A small model on this machine:** `groupx agents add --local`.\n\n"
        "**Another agent.** A known one: `groupx agents list --available`, then "
        "`groupx agents add NAME`. Any other program that speaks ACP, in `groupx.json`:\n\n"
        f"{AGENT_CONFIG}\n"
    )
