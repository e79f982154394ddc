"""An agent gets what it needs to run, not what the server knows."""

from __future__ import annotations

from groupx_server.agents.environment import agent_environment


def test_a_small_set_passes_and_secrets_do_not() -> None:
    inherited = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LC_ALL": "C.UTF-8",
        "XDG_CONFIG_HOME": "/x",
        "https_proxy": "http://proxy",
        "GROUPX_TOKEN": "secret",
        "OPENAI_API_KEY": "secret",
        "PYTHONPATH": "/elsewhere",
        "TERM": "xterm-256color",
    }
    assert agent_environment(inherited, {}) == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LC_ALL": "C.UTF-8",
        "XDG_CONFIG_HOME": "/x",
        "https_proxy": "http://proxy",
        "TERM": "dumb",
    }


def test_the_agents_own_settings_win() -> None:
    environment = agent_environment({"PATH": "/bin"}, {"PATH": "/opt", "KEY": "1", "TERM": "ansi"})
    assert environment == {"PATH": "/opt", "KEY": "1", "TERM": "ansi"}
