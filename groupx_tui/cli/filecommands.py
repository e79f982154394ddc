"""Declarations of the commands on database files (`files.py`)."""

from __future__ import annotations

from typing import Final

from groupx_tui.cli.options import CONFIG, JSON, Argument, Command, Option

FILE_COMMANDS: Final = (
    Command(
        ("verify",),
        "files:run_verify",
        "Prove a database: is it whole, and is everything in it true?",
        arguments=(
            Argument(
                "file",
                "Database file, of any version. Default: the workspace's.",
                required=False,
                metavar="FILE",
            ),
        ),
        options=(
            Option(("--deep",), "Look at every row of the search index.", kind="flag"),
            JSON,
            CONFIG,
        ),
    ),
    Command(
        ("backup",),
        "files:run_backup",
        "Copy the workspace's database to a new file, also while it is in use.",
        arguments=(Argument("file", "File to make; it must not exist.", metavar="FILE"),),
        options=(JSON, CONFIG),
    ),
    Command(
        ("restore",),
        "files:run_restore",
        "Make a new database from a backup; without one, list the backups there are.",
        arguments=(Argument("backup", "Backup file.", required=False, metavar="BACKUP"),),
        options=(
            Option(("--to",), "File to make; it must not exist.", metavar="FILE"),
            JSON,
            CONFIG,
        ),
    ),
)
