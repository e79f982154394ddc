"""Host and Origin: a browser page must not reach this server, whatever name it was served under.

A page of another site is told by its Origin; a page whose name was rebound to 127.0.0.1 is told by
its Host. Both are parsed and compared as a whole; prefixes and suffixes are never enough
(`127.evil.example`, `localhost.evil.example`). Tokens are checked besides, not instead.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from typing import Final

from starlette.types import Scope

from groupx_server.http.headers import header_values
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line

DEFAULT_PORT: Final = 80
SAME_SITE: Final = frozenset({b"same-origin", b"none"})
"""`Sec-Fetch-Site` of our own pages (there are none) and of an address typed by hand."""
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(?::(?P<port>[0-9]{1,5}))?"
)


def check_origin(scope: Scope, port: int) -> None:
    """Refuse a request that a web page of another origin could have made.

    Raises: RefusedError (FORBIDDEN_ORIGIN).
    """
    hosts = header_values(scope, b"host")
    if len(hosts) != 1 or not is_ours(hosts[0], port):
        raise _foreign("Host", hosts, f"127.0.0.1:{port} or localhost:{port}")
    own = b"http://" + hosts[0].lower()
    origins = header_values(scope, b"origin")
    if origins and (len(origins) > 1 or origins[0].lower() != own):
        raise _foreign("Origin", origins, f"none, or {own.decode('latin-1')}")
    sites = header_values(scope, b"sec-fetch-site")
    if sites and (len(sites) > 1 or sites[0].lower() not in SAME_SITE):
        raise _foreign("Sec-Fetch-Site", sites, "none, or same-origin")


@functools.lru_cache(maxsize=64)
def is_ours(authority: bytes, port: int) -> bool:
    """True for a loopback name or address with our port: `127.0.0.1:4000`, `[::1]:4000`."""
    match = _AUTHORITY.fullmatch(authority.decode("latin-1"))
    if match is None or int(match["port"] or DEFAULT_PORT) != port:
        return False
    if match["name"] is not None and match["name"].lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(match["v6"] or match["name"]).is_loopback
    except ValueError:
        return False


def _foreign(header: str, values: list[bytes], expected: str) -> RefusedError:
    found = safe_line(b", ".join(values).decode("latin-1"), 120) or "nothing"
    return RefusedError(
        f"{header} “{found}” is not this server's ({expected} was expected). "
        "Requests of web pages are refused; call it by its own loopback address.",
        code=ErrorCode.FORBIDDEN_ORIGIN,
        details={"header": header},
    )
