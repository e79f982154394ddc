"""What a message to the guide asks for: a slash command, or the nearest one to free text. Pure.

No intelligence is pretended: free text is matched by a few telling words, English and Chinese, and
the reply says as what it was understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from groupx_server.builtin_agent.guide.commands import BY_NAME
from groupx_shared.text import safe_line

MAX_READ_CHARS: Final = 2_000
"""Of a free text only the beginning is matched against words."""


@dataclass(frozen=True, slots=True)
class Understood:
    """`command` is a command's name, `greeting`, `unknown` (a slash word that is no command) or
    `none`; `argument` what goes with it. `by_slash` tells a command from a guess."""

    command: str
    argument: str = ""
    by_slash: bool = False

    @property
    def is_known_command(self) -> bool:
        """True when the person typed one of our commands."""
        return self.by_slash and self.command != "unknown"

    @property
    def line(self) -> str:
        """The command as it would be typed."""
        return safe_line(f"/{self.command} {self.argument}".strip(), 120)


_SLASH: Final = re.compile(r"/([A-Za-z?][\w-]*|\?)(?:\s+(.*))?", re.DOTALL)
_GREETING: Final = re.compile(
    r"(hi|hello|hey|hallo|good (morning|afternoon|evening)|bonjour|hola|你好|您好|嗨|早上好)"
    r"(\s+\S+)?[\s!.,?。！]*",
    re.IGNORECASE,
)
_FIND: Final = re.compile(
    r"\b(?:find|search(?:\s+for)?|look(?:\s+up|\s+for)|grep|who\s+said|where\s+(?:is|was|did)"
    r"|when\s+did)\b(.*)|(?:搜索|查找|寻找|搜|找)(?:一下|到)?(.*)",
    re.IGNORECASE | re.DOTALL,
)
_RULES: Final = tuple(
    (command, re.compile(pattern, re.IGNORECASE))
    for command, pattern in (
        ("summary", r"\b(summar(y|i[sz]e)|recap|tl;?dr|catch me up|what happened|overview)\b"),
        ("summary", r"总结|摘要|概括"),
        (
            "setup",
            r"\b(set ?up|connect|install|configure|add|use)\b.{0,40}\b(model|agent|llm|key)s?\b",
        ),
        ("setup", r"\b(ollama|llama\.cpp|lm studio|vllm|openai)\b|配置|设置|连接|模型"),
        ("rooms", r"\b(list|which|what|other|show|all|my)\b.{0,20}\brooms\b|哪些房间|房间列表"),
        ("memory", r"\b(memory|memories|remember(ed)?)\b|记忆|记得"),
        ("last", r"\b(last|latest|recent|newest)\b.{0,20}\b(messages?|lines?|words?)\b"),
        ("last", r"\bhistory\b|最近|最新"),
        ("agents", r"\b(agents?|members?|participants?|who('s| is| are| else)?)\b|谁|成员|代理"),
        ("status", r"\b(status|version|are you (there|ok|online|working))\b|状态|版本"),
        ("help", r"\b(help|commands?|what can you do|how do (i|you))\b|帮助|怎么用"),
    )
)
_WORD: Final = re.compile(r"[^\W_][\w.:/-]*")
_STOP_WORDS: Final = """
a about all am an and any anyone are at be been but by can could did do does for from get give had
has have he her here him his how i if in is it its just let like long me mentioned message messages
my of on one or our out please said say she should show so some someone tell than that the their
them then there they this those to up us was we went were what when where which who why will with
would written wrote you your
"""
_STOP: Final = frozenset(_STOP_WORDS.split())


def understand(text: str) -> Understood:
    """Return what `text` asks for."""
    text = text.strip()
    if (slash := _SLASH.fullmatch(text)) is not None:
        return _by_slash(slash.group(1).lower(), (slash.group(2) or "").strip())
    text = text[:MAX_READ_CHARS]
    if not text:
        return Understood("help")
    if _GREETING.fullmatch(text):
        return Understood("greeting")
    if (found := _FIND.search(text)) is not None:
        words = telling_words(found.group(1) or found.group(2) or "")
        return Understood("find", " ".join(words))
    for command, pattern in _RULES:
        if pattern.search(text):
            return Understood(command, _number(text) if command == "last" else "")
    return Understood("none", " ".join(telling_words(text)))


def telling_words(text: str, most: int = 5) -> list[str]:
    """The words of `text` that are worth searching for: no stop words, no doubles, `most` at
    most; a `"phrase"` is kept whole."""
    phrases = [f'"{phrase}"' for phrase in re.findall(r'["“]([^"“”]{1,100})["”]', text)]
    if phrases:
        return phrases[:most]
    words = [word.rstrip(".:/-") for word in _WORD.findall(text)]
    return list(dict.fromkeys(w for w in words if w.lower() not in _STOP and len(w) > 1))[:most]


def _by_slash(name: str, argument: str) -> Understood:
    command = BY_NAME.get(name)
    if command is None:
        return Understood("unknown", name, by_slash=True)
    return Understood(command.name, argument, by_slash=True)


def _number(text: str) -> str:
    found = re.search(r"\b\d{1,4}\b", text)
    return found.group() if found else ""
