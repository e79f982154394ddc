"""One OpenAI-compatible endpoint: where it is, which model, and how its address is written."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from groupx_shared.text import safe_line

_CHAT_PATH: Final = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model that can be asked. `origin` says how we came by it, for people."""

    base_url: str
    model: str
    origin: str
    api_key: str | None = None
    context_tokens: int | None = None
    """Size of the model's window, when the endpoint tells it."""
    discovered: bool = False

    @property
    def chat_url(self) -> str:
        """Address of the chat endpoint."""
        return self.base_url + _CHAT_PATH

    @property
    def shown(self) -> str:
        """`model at address`, safe to print, without credentials."""
        return f"{safe_line(self.model, 80)} at {shown_url(self.base_url)}"


def normalise_base_url(url: str) -> str:
    """Return the address that `/chat/completions` is put behind: `http://host` becomes
    `http://host/v1`, a pasted whole chat address loses its end.

    Raises: ValueError with what was found and expected.
    """
    found = f"“{shown_url(url)}”"
    try:
        parts = urlsplit(url.strip())
        port_is_sound = parts.port is None or parts.port > 0
    except ValueError as error:
        raise ValueError(f"{found} is not an address ({error})") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_sound:
        raise ValueError(f"{found}; expected an address like http://127.0.0.1:11434/v1")
    path = parts.path.rstrip("/").removesuffix(_CHAT_PATH).rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def is_loopback(url: str) -> bool:
    """True when `url` names this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def shown_url(url: str) -> str:
    """Return `url` for people: cleaned, without user name, password and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return safe_line(url, 120)
    netloc = parts.netloc.rpartition("@")[2]
    return safe_line(urlunsplit((parts.scheme, netloc, parts.path, "", "")), 120)
