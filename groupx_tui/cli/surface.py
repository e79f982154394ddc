"""The typer surface: help, shell completion, and the wording of every usage error.

Built from the same table as `fastparse`, whose counterpart it is. A typer callback only notes what
was asked; the handler runs afterwards, in `main`, so that both ways end alike. typer itself prints
help to stdout and usage errors to stderr (exit code 2).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import Enum
from inspect import Parameter, Signature
from typing import Any

import typer

from groupx_tui.cli import completion
from groupx_tui.cli.commands import COMMANDS, GROUPS, ROOT
from groupx_tui.cli.options import Argument, Command, Invocation, Option

PROGRAM = "groupx"
COMPLETE_VARIABLE = "_GROUPX_COMPLETE"
"""Set by the shell's completion script; the name follows from the program's."""

Note = Callable[[Invocation], None]
_TYPES: dict[str, type] = {"text": str, "integer": int, "number": float, "flag": bool}


def read(argv: Sequence[str]) -> Invocation | int:
    """Read a command line with typer: what was asked, or an exit code when help or an error was
    printed."""
    noted: list[Invocation] = []
    application = build(noted.append, on_terminal=sys.stdout.isatty())
    try:
        application(list(argv), prog_name=PROGRAM)
    except SystemExit as end:
        if end.code:
            return end.code if isinstance(end.code, int) else 2
    return noted[-1] if noted else 0


def build(note: Note, *, on_terminal: bool) -> typer.Typer:
    """Return the application; each command calls `note` with what was asked. Help is drawn with
    rich only on a terminal."""
    markup = "rich" if on_terminal else None
    application = _group(ROOT.help, markup)
    application.callback(invoke_without_command=True)(_root(note))
    groups = {name: _group(text, markup, no_args_is_help=True) for name, text in GROUPS.items()}
    for command in COMMANDS:
        parent = groups.get(command.words[0], application)
        parent.command(command.words[-1], help=command.help)(_callback(command, note))
    for name, group in groups.items():
        application.add_typer(group, name=name)
    return application


def _group(text: str, markup: Any, *, no_args_is_help: bool = False) -> typer.Typer:
    return typer.Typer(
        help=text,
        rich_markup_mode=markup,
        pretty_exceptions_enable=False,
        no_args_is_help=no_args_is_help,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _root(note: Note) -> Callable[..., None]:
    def root(context: typer.Context, **values: Any) -> None:
        invocation = Invocation(ROOT, _plain(values))
        if values["version"]:
            note(invocation)
            raise typer.Exit
        if context.invoked_subcommand is None:
            note(invocation)
        elif values["room"] is not None:
            raise typer.BadParameter("Put --room after the command.")
        context.obj = values["config"]

    return _signed(root, ROOT, Parameter("context", _KEYWORD, annotation=typer.Context))


def _callback(command: Command, note: Note) -> Callable[..., None]:
    def callback(context: typer.Context, **values: Any) -> None:
        plain = _plain(values)
        if "config" in plain and plain["config"] is None:
            plain["config"] = context.find_root().obj
        note(Invocation(command, plain))

    return _signed(callback, command, Parameter("context", _KEYWORD, annotation=typer.Context))


_KEYWORD = Parameter.KEYWORD_ONLY


def _signed(
    function: Callable[..., None], command: Command, context: Parameter
) -> Callable[..., None]:
    """Give `function` the signature that typer reads: one parameter for each declaration."""
    parameters = [context]
    parameters += [_argument(argument) for argument in command.arguments]
    parameters += [_option(option) for option in command.options]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {each.name: each.annotation for each in parameters}
    return function


def _argument(argument: Argument) -> Parameter:
    info = typer.Argument(
        ... if argument.required else None,
        help=argument.help,
        metavar=argument.metavar,
        autocompletion=completion.of(argument.complete),
    )
    annotation = str if argument.required else str | None
    return Parameter(argument.name, _KEYWORD, default=info, annotation=annotation)


def _option(option: Option) -> Parameter:
    kind: Any = _choices(option) if option.kind == "choice" else _TYPES[option.kind]
    start: Any = option.start_value
    if option.kind == "choice":
        start = None if start is None else kind(start)
    info = typer.Option(
        start,
        *option.flags,
        help=option.help,
        metavar=option.metavar,
        min=option.minimum,
        max=option.maximum,
        autocompletion=completion.of(option.complete),
        show_default=option.default is not None,
    )
    return Parameter(option.name, _KEYWORD, default=info, annotation=_annotation(option, kind))


def _annotation(option: Option, kind: Any) -> Any:
    if option.many:
        return list[kind]
    return kind if option.start_value is not None else kind | None


def _choices(option: Option) -> Any:
    return Enum(option.name, {choice: choice for choice in option.choices}, type=str)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.value if isinstance(value, Enum) else value for name, value in values.items()
    }
