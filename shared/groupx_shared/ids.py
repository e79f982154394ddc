"""Identifiers: prefixed, time-ordered, made here and nowhere else.

An id is `<prefix>_<32 hex digits>`. The digits are a UUID version 7 (RFC 9562 §5.7), so ids made
later sort later, which keeps index pages hot. Ids of the earlier program (UUID 4) stay valid.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from typing import Final, NewType

RoomId = NewType("RoomId", str)
ActorId = NewType("ActorId", str)
EventId = NewType("EventId", str)
TurnId = NewType("TurnId", str)
AttemptId = NewType("AttemptId", str)
BindingId = NewType("BindingId", str)
InstanceId = NewType("InstanceId", str)
Seq = NewType("Seq", int)
"""Position of a durable event in the ledger: positive, strictly rising over all rooms."""

MAIN_ROOM: Final = RoomId("room:main")
USER_WEB: Final = ActorId("user:web")
"""The person at this machine. The name is the earlier program's and stays, so its rows keep
their author."""
USER_ASSISTANT: Final = ActorId("user:assistant")
SYSTEM: Final = ActorId("system:groupx")
BINDING_LOCAL: Final = BindingId("binding:web")
INSTANCE_LOCAL: Final = InstanceId("instance:web")
BINDING_OPERATOR: Final = BindingId("binding:operator")
INSTANCE_OPERATOR: Final = InstanceId("instance:operator")
"""The room assistant's."""

ACTOR_PATTERN: Final = re.compile(
    r"^(agent|user|system):[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$"
)
AGENT_KEY_PATTERN: Final = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$")
ROOM_PATTERN: Final = re.compile(r"^room:[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$")
RESERVED_AGENT_KEYS: Final = frozenset({"assistant", "__assistant__"})

_IDS_AT_ONCE: Final = 64
_random: deque[bytes] = deque()


def new_id(prefix: str) -> str:
    """Return a fresh id `<prefix>_<32 hex>`; ids of one process made in order sort in order
    to the millisecond."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(_ten_random_bytes(), "big")
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80
    value |= 0x7 << 76 | (random >> 68 & 0xFFF) << 64
    value |= 0b10 << 62 | (random & 0x3FFF_FFFF_FFFF_FFFF)
    return f"{prefix}_{value:032x}"


def _ten_random_bytes() -> bytes:
    """Asks the system once for many ids: each question lets go of the interpreter's lock, and the
    ledger's writer makes ids while the loop works. Taking from a deque is atomic."""
    while True:
        try:
            return _random.popleft()
        except IndexError:
            many = os.urandom(10 * _IDS_AT_ONCE)
            _random.extend(many[n : n + 10] for n in range(0, len(many), 10))


def agent_actor(key: str) -> ActorId:
    """`codex` -> `agent:codex`; an actor id is returned unchanged."""
    return ActorId(key if key.startswith("agent:") else f"agent:{key}")
