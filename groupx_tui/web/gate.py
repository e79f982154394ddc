"""Who may open the web view: a link that works once gives a key, and the key opens windows.

Pure; time is handed in. Invariants: no secret stands in a page, in a path that is asked for, or in
a cookie (cookies are sent to every port of a host, so to every other program here); names and
origins are compared as a whole; a link works once and for `LINK_S`; keys die with this process.
Counterpart: `server`, which asks before anything else; `front/page.js`, which redeems.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from hmac import compare_digest
from typing import Final

from groupx_shared.text import safe_line

LINK_S: Final = 600.0
"""Time from printing a link to opening it."""
MAX_LINKS: Final = 4
MAX_KEYS: Final = 32
"""Kept at most; the oldest goes first."""
SAME_SITE: Final = frozenset({"same-origin", "none"})
MAX_SHOWN: Final = 100
PROTOCOL: Final = "groupx"
"""The subprotocol of the WebSocket; the key follows it as a second one."""
KEY_PREFIX: Final = "key."


class Gate:
    """The links and keys of one web view."""

    def __init__(self, port: int, clock: Callable[[], float]) -> None:
        """`clock` gives seconds that only grow."""
        self.port = port
        self._clock = clock
        self._links: OrderedDict[str, float] = OrderedDict()
        self._keys: OrderedDict[str, None] = OrderedDict()

    def new_link(self) -> str:
        """Return an address that opens the view once. Its secret is in the fragment, which no
        browser sends."""
        secret = secrets.token_urlsafe(32)
        self._links[secret] = self._clock() + LINK_S
        while len(self._links) > MAX_LINKS:
            self._links.popitem(last=False)
        return f"http://127.0.0.1:{self.port}/#{secret}"

    def redeem(self, secret: str) -> str | None:
        """Return a new key for the secret of a link that was not used yet; else None."""
        found = _same(secret, self._links)
        if found is None or self._links.pop(found) < self._clock():
            return None
        key = secrets.token_hex(32)
        self._keys[key] = None
        while len(self._keys) > MAX_KEYS:
            self._keys.popitem(last=False)
        return key

    def admits(self, protocols: str) -> bool:
        """Whether the subprotocols that a WebSocket offers hold a key."""
        words = [word.strip() for word in protocols.split(",")]
        keys = [word.removeprefix(KEY_PREFIX) for word in words if word.startswith(KEY_PREFIX)]
        return PROTOCOL in words and len(keys) == 1 and _same(keys[0], self._keys) is not None

    def foreign_host(self, hosts: list[str]) -> str | None:
        """Return what is wrong with the Host header; None when it is ours."""
        if len(hosts) == 1 and hosts[0].lower() in self._own_hosts():
            return None
        return _not_ours("Host", hosts, f"127.0.0.1:{self.port}")

    def foreign_page(
        self, host: str, origins: list[str], sites: list[str], *, must_say: bool
    ) -> str | None:
        """Return what shows that another page asks; None when it is ours, or when nobody says and
        `must_say` is not set. `host` is one that `foreign_host` let pass."""
        own = f"http://{host.lower()}"
        if (origins or must_say) and [each.lower() for each in origins] != [own]:
            return _not_ours("Origin", origins, own)
        if sites and (len(sites) > 1 or sites[0].lower() not in SAME_SITE):
            return _not_ours("Sec-Fetch-Site", sites, "same-origin")
        return None

    def _own_hosts(self) -> tuple[str, str]:
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"


def _same(given: str, known: OrderedDict[str, float] | OrderedDict[str, None]) -> str | None:
    """The known secret that equals `given`, in a time that does not tell how near it was."""
    found = None
    for secret in known:
        if compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass")):
            found = secret
    return found


def _not_ours(header: str, values: list[str], expected: str) -> str:
    found = safe_line(", ".join(values), MAX_SHOWN) or "nothing"
    return f"{header} is “{found}”, and “{expected}” was expected"
