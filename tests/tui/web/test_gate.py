"""Who may open the web view."""

from __future__ import annotations

import pytest

from groupx_tui.web.gate import LINK_S, MAX_KEYS, MAX_LINKS, Gate

PORT = 4321


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gate(clock: Clock) -> Gate:
    return Gate(PORT, clock)


def secret_of(link: str) -> str:
    return link.partition("#")[2]


def test_a_link_opens_once(gate: Gate) -> None:
    link = gate.new_link()
    assert link.startswith(f"http://127.0.0.1:{PORT}/#")
    key = gate.redeem(secret_of(link))
    assert key is not None
    assert gate.admits(f"groupx, key.{key}")
    assert gate.redeem(secret_of(link)) is None


def test_a_link_gets_too_old(gate: Gate, clock: Clock) -> None:
    link = gate.new_link()
    clock.now += LINK_S + 1
    assert gate.redeem(secret_of(link)) is None


def test_links_that_nobody_uses_and_keys_are_not_kept_without_end(gate: Gate) -> None:
    links = [gate.new_link() for _ in range(MAX_LINKS + 1)]
    assert gate.redeem(secret_of(links[0])) is None
    keys = [gate.redeem(secret_of(gate.new_link())) for _ in range(MAX_KEYS + 1)]
    assert not gate.admits(f"groupx, key.{keys[0]}")
    assert gate.admits(f"groupx, key.{keys[-1]}")


@pytest.mark.parametrize("offered", ["", "groupx", "key.", "groupx, key.", "groupx, key.\ud800"])
def test_without_a_key_there_is_no_window(gate: Gate, offered: str) -> None:
    gate.redeem(secret_of(gate.new_link()))
    assert not gate.admits(offered)


def test_a_key_needs_the_protocol_and_stands_alone(gate: Gate) -> None:
    key = gate.redeem(secret_of(gate.new_link()))
    assert not gate.admits(f"key.{key}")
    assert not gate.admits(f"groupx, key.{key}, key.{key}")
    assert not gate.admits(f"groupx, key.{key}0")


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        ["evil.example"],
        [f"evil.example:{PORT}"],
        ["127.0.0.1"],
        ["127.0.0.1:80"],
        [f"127.0.0.1.evil.example:{PORT}"],
        [f"127.evil.example:{PORT}"],
        [f"localhost.evil.example:{PORT}"],
        [f"user@127.0.0.1:{PORT}"],
        [f"127.0.0.1:{PORT}", f"127.0.0.1:{PORT}"],
    ],
)
def test_another_host_is_foreign(gate: Gate, hosts: list[str]) -> None:
    assert gate.foreign_host(hosts) is not None


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LOCALHOST:{PORT}"])
def test_our_host_is_ours(gate: Gate, host: str) -> None:
    assert gate.foreign_host([host]) is None


@pytest.mark.parametrize(
    ("origins", "sites"),
    [
        ([], []),
        (["null"], []),
        (["http://127.0.0.1:80"], []),
        ([f"https://127.0.0.1:{PORT}"], []),
        ([f"http://localhost:{PORT}"], []),
        ([f"http://127.0.0.1:{PORT}.evil.example"], []),
        ([f"http://127.0.0.1:{PORT}", "http://evil.example"], []),
        ([f"http://127.0.0.1:{PORT}"], ["cross-site"]),
        ([f"http://127.0.0.1:{PORT}"], ["same-site"]),
    ],
)
def test_another_page_is_foreign(gate: Gate, origins: list[str], sites: list[str]) -> None:
    host = f"127.0.0.1:{PORT}"
    assert gate.foreign_page(host, origins, sites, must_say=True) is not None


def test_our_page_is_ours_and_a_file_may_be_asked_for_without_saying_who(gate: Gate) -> None:
    host = f"127.0.0.1:{PORT}"
    own = [f"http://{host}"]
    assert gate.foreign_page(host, own, ["same-origin"], must_say=True) is None
    assert gate.foreign_page(host, [], [], must_say=False) is None
    assert gate.foreign_page(host, ["http://evil.example"], [], must_say=False) is not None
