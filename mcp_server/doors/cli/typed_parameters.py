"""What was typed and cannot be meant: a name that is empty, or an option that has no effect."""

from typing import Any

import click
from click.core import ParameterSource

from mcp_server.core.errors import Rejected

IN_WORDS = ("words", "question")  # arguments of many words; what is none of them is said by the command


def refuse_blanks(command: click.Command) -> None:
    """
    Let *command* refuse a name, an id or a date that is given as nothing.

    A script whose variable is empty would otherwise get what the command does without one: `undo "$ID"`.
    An option that names something has a metavar; one without it, as `--tags`, may be empty.
    """
    for command_of_group in command.commands.values() if isinstance(command, click.Group) else ():
        refuse_blanks(command_of_group)
    for parameter in command.params:
        if parameter.metavar if isinstance(parameter, click.Option) else parameter.name not in IN_WORDS:
            parameter.callback = _filled


def heed_only(*heeded: str, where: str) -> None:
    """
    Raise Rejected for an option or argument of the running command that was typed and is none of *heeded*.

    They are named as in its help: `--json`, `ID`. *where* says when the others have no effect: "with --log".
    """
    for parameter in click.get_current_context().command.params:
        if is_typed(parameter.name) and not {*_names(parameter)} & {*heeded}:
            raise Rejected(f"{'/'.join(_names(parameter))} has no effect {where}.", "Leave it out.")


def is_typed(name: str | None) -> bool:
    """Tell whether the parameter *name* of the running command was typed, be it as its default."""
    return click.get_current_context().get_parameter_source(name or "") is ParameterSource.COMMANDLINE


def _filled(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return *value*; raise Rejected when a part of it was typed as nothing."""
    values = value if isinstance(value, tuple) else (value,)
    if is_typed(parameter.name) and any(isinstance(part, str) and not part.strip() for part in values):
        raise Rejected(
            f"{_names(parameter)[0]} is empty.", f"'{context.command_path} --help' shows an example."
        )
    return value


def _names(parameter: click.Parameter) -> list[str]:
    if isinstance(parameter, click.Option):
        return [*parameter.opts, *parameter.secondary_opts]
    return [parameter.human_readable_name.strip("[].")]
