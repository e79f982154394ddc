"""The token goes only to this machine, to the server that runs now."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_shared.errors import ServerUnreachableError, WorkspaceError
from groupx_shared.runtime import write_runtime
from groupx_shared.workspace import Workspace
from groupx_tui.client.endpoint import Endpoint
from support.fake_server import runtime_at

HERE = runtime_at("http://127.0.0.1:1234")


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.1.1:80",
        "https://127.0.0.1:80",
        "http://example.org:80",
        "http://127.0.0.1.example.org",
        "http://127.0.0.1@example.org",
        "file:///etc/passwd",
        "",
    ],
)
def test_another_machine_is_refused(url: str) -> None:
    with pytest.raises(WorkspaceError, match="only http on this machine's loopback"):
        Endpoint(lambda: runtime_at(url)).current()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"])
def test_this_machine_is_used(url: str) -> None:
    assert Endpoint(lambda: runtime_at(url)).current().url == url


def test_no_server_is_said_with_what_to_do() -> None:
    endpoint = Endpoint(lambda: None)
    with pytest.raises(ServerUnreachableError, match="Start it with “groupx serve”"):
        endpoint.current()
    assert not endpoint.is_found


def test_a_server_that_moved_is_found_when_asked_again() -> None:
    places = [HERE, HERE, runtime_at(HERE.url, "new"), None]
    endpoint = Endpoint(lambda: places.pop(0))
    assert endpoint.current() == HERE
    assert not endpoint.refresh()
    assert endpoint.refresh()
    assert endpoint.current().token == "new"
    assert endpoint.refresh()
    assert not endpoint.is_found


def test_a_workspace_is_followed_by_its_runtime_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_HOME", str(tmp_path))
    workspace = Workspace(tmp_path / "groupx.json", tmp_path, is_default=False)
    endpoint = Endpoint.of_workspace(workspace)
    with pytest.raises(ServerUnreachableError):
        endpoint.current()
    write_runtime(workspace, HERE)
    assert endpoint.current() == HERE
