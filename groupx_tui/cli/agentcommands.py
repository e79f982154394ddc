"""The commands about agents, as part of the table in `commands`."""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.options import CONFIG, JSON, Argument, Command, Option

AGENT: Final = Argument("agent", "Agent.", metavar="AGENT", complete="agents")
CONFIGURED: Final = Argument("agent", "Agent of the config.", metavar="AGENT", complete="config")
ANY_AGENT: Final = Argument(
    "agent", "Agent of the config, or a known one.", metavar="AGENT", complete="any_agent"
)

AGENT_COMMANDS: Final = (
    Command(
        ("agents", "list"),
        "agents:run_list",
        "List the agents and how they are.",
        options=(
            Option(
                ("--available",),
                "List the known agent programs of this machine instead, and how to add each.",
                kind="flag",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("agents", "add"),
        "roster:run_add",
        "Add an agent to the workspace.",
        arguments=(
            Argument(
                "agent",
                "Its id, what one types after @. A known name needs nothing else.",
                required=False,
                metavar="NAME",
                complete="drivers",
            ),
        ),
        options=(
            Option(
                ("--driver",),
                "How it is spoken with. Default: the one called like it, else acp.",
                metavar="DRIVER",
                complete="drivers",
            ),
            Option(
                ("--command",),
                "What to start, as one text. Default: the driver's own program.",
                metavar="TEXT",
            ),
            Option(("--cwd",), "Its working folder. Default: the workspace's.", metavar="FOLDER"),
            Option(("--name",), "Its display name.", metavar="TEXT"),
            Option(("--identity",), "Who it is here; goes with every turn.", metavar="TEXT"),
            Option(
                ("--local",),
                "The built-in agent with a small model that runs on this machine.",
                kind="flag",
            ),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("agents", "remove"),
        "roster:run_remove",
        "Take an agent out of the workspace; what it said stays.",
        arguments=(CONFIGURED,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("agents", "enable"),
        "roster:run_enable",
        "Switch an agent on.",
        arguments=(CONFIGURED,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("agents", "disable"),
        "roster:run_disable",
        "Switch an agent off; it stays listed.",
        arguments=(CONFIGURED,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("agents", "set"),
        "roster:run_set",
        "Change one setting of an agent.",
        arguments=(
            CONFIGURED,
            Argument(
                "setting",
                "Like name=Ada, env.KEY=text, options.mode_id=yolo; KEY= takes the default.",
                metavar="KEY=VALUE",
            ),
        ),
        options=(JSON, CONFIG),
    ),
    Command(
        ("agents", "test"),
        "agents:run_test",
        "Start an agent here and see whether it answers; nothing is sent to its model.",
        arguments=(ANY_AGENT,),
        options=(JSON, CONFIG),
    ),
    Command(
        ("agents", "restart"),
        "agents:run_restart",
        "Restart an agent's program.",
        arguments=(AGENT,),
        options=(JSON, CONFIG),
    ),
)
