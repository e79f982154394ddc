"""The MCP library costs seconds: it is loaded for the first agent, never at the server's start."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.process]


def loaded_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.split())


@pytest.mark.parametrize("module", ["groupx_server.app", "groupx_server.mcp.endpoint"])
def test_the_server_starts_without_the_library(module: str) -> None:
    assert not {"mcp", "mcp_types", "sse_starlette"} & loaded_by(module)


def test_only_the_module_that_needs_it_loads_it() -> None:
    assert "mcp" in loaded_by("groupx_server.mcp.sdk")


LOAD = "from groupx_server.mcp.gate import _load; _load()"


def modules_after(code: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(result.stdout.splitlines()[-1].split())


def test_what_a_server_of_plain_tools_does_not_need_is_not_loaded() -> None:
    loaded = modules_after(LOAD)
    assert "mcp.server.lowlevel.server" in loaded
    assert not {"cryptography", "httpx2", "mcp.server.mcpserver"} & loaded


def test_whoever_imports_the_library_later_gets_all_of_it() -> None:
    loaded = modules_after(f"{LOAD}; from mcp import ClientSession; import mcp.server.mcpserver")
    assert {"mcp", "mcp.server", "mcp.client", "mcp.server.mcpserver"} <= loaded


def test_a_version_that_needs_more_of_itself_is_loaded_whole() -> None:
    broken = "import groupx_server.mcp.gate as gate, groupx_server.mcp.lean as lean, contextlib"
    fail = "gate.without_init = lambda *names: (_ for _ in ()).throw(ImportError('needs more'))"
    assert "cryptography" in modules_after(f"{broken}; {fail}; gate._load()")
