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
