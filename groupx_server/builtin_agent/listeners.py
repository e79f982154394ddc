"""Who listens on a loopback port (Linux). Anybody on a shared machine can open a free port; a
conversation is not handed to another person's program just because it sits where Ollama usually
does. Only discovery asks this: an address somebody configured is theirs to answer for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_TABLES: Final = ("tcp", "tcp6")
_LISTEN: Final = "0A"
FIRST_PERSON_UID: Final = 1000
"""Below are system accounts (an Ollama service runs as one)."""
SERVICE_UIDS: Final = range(61184, 65535)
"""systemd's dynamic services, and `nobody`."""


def listener_uids(port: int, proc_net: Path = Path("/proc/net")) -> set[int]:
    """Return the owners of the sockets that listen on `port`; empty when the system does not
    tell (not Linux, or nothing listens)."""
    uids: set[int] = set()
    wanted = f":{port:04X}"
    for table in _TABLES:
        try:
            rows = (proc_net / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if len(fields) > 7 and fields[3] == _LISTEN and fields[1].endswith(wanted):
                uids.add(int(fields[7]))
    return uids


def is_trusted_owner(uid: int, own_uid: int) -> bool:
    """True for ourselves and for the system's accounts; false for another person."""
    return uid == own_uid or uid < FIRST_PERSON_UID or uid in SERVICE_UIDS


def belongs_to_another_person(port: int) -> bool:
    """True when somebody else's program listens on `port`."""
    uids = listener_uids(port)
    return any(not is_trusted_owner(uid, os.getuid()) for uid in uids)
