"""The environment an agent program starts with.

Invariant: it is built, never inherited whole. A small set of variables that programs need to find
themselves, their user and the network passes; everything else (keys of other programs, tokens of
this server) stays out unless the agent's own settings name it. Counterpart: `process.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NAMES: Final = frozenset(
    {
        "PATH",
        "HOME",
        "LANG",
        "LANGUAGE",
        "USER",
        "LOGNAME",
        "SHELL",
        "TMPDIR",
        "TZ",
        # keys and passwords of the person, which agents use for git and their own sign-in
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        # certificates and proxies of the machine, as the usual runtimes read them
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    }
)
_PREFIXES: Final = ("LC_", "XDG_")
_FIXED: Final = {"TERM": "dumb"}
"""No agent draws on a terminal here; some colour their logs when they think they do."""


def agent_environment(
    inherited: Mapping[str, str], configured: Mapping[str, str]
) -> dict[str, str]:
    """The variables for an agent: the small inherited set, then what its settings say."""
    passed = {
        name: value
        for name, value in inherited.items()
        if name in _NAMES or name.startswith(_PREFIXES)
    }
    return {**passed, **_FIXED, **configured}
