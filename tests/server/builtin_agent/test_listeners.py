"""Whose program listens on a port."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupx_server.builtin_agent.listeners import (
    belongs_to_another_person,
    is_trusted_owner,
    listener_uids,
)
from support.loopback_http import LoopbackServer

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 1 1
   1: 0100007F:2CAA 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1002        0 2 1
   2: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3 1
"""


def test_only_listening_sockets_of_the_port_count(tmp_path: Path) -> None:
    (tmp_path / "tcp").write_text(TABLE)
    assert listener_uids(0x2CAA, tmp_path) == {1001}
    assert listener_uids(0x1F90, tmp_path) == {0}
    assert listener_uids(1, tmp_path) == set()


def test_a_system_that_does_not_tell_names_nobody(tmp_path: Path) -> None:
    assert listener_uids(0x2CAA, tmp_path / "none") == set()


@pytest.mark.parametrize(
    ("uid", "trusted"), [(1000, True), (0, True), (997, True), (1001, False), (65534, True)]
)
def test_ourselves_and_the_system_are_trusted(uid: int, trusted: bool) -> None:
    assert is_trusted_owner(uid, own_uid=1000) is trusted


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system does not tell owners")
async def test_a_server_of_our_own_is_ours() -> None:
    async def never(*_: object) -> None: ...

    async with LoopbackServer(never) as server:
        assert listener_uids(server.port) == {os.getuid()}
        assert not belongs_to_another_person(server.port)
