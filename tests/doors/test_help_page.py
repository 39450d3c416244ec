"""All commands: on one screen of help, the everyday ones first, and with JSON where they only read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mcp_server.actions.context.claude_md import CLAUDE_LOCAL_MD, choose
from mcp_server.actions.files.sync import sync
from mcp_server.doors.cli import ELSEWHERE, daybook
from mcp_server.doors.cli.help_page import EVERYDAY, PURPOSES
from mcp_server.store import Store
from tests.doors.shell import Run, output_of
from tests.live import commands, commands_of_modules
from tests.opened import run_daybook

SCREEN = 40  # lines


def page(columns: int) -> str:
    return CliRunner().invoke(daybook, ["--help"], prog_name="daybook", terminal_width=columns).output


def test_every_command_is_at_one_place() -> None:
    places = [*EVERYDAY, *PURPOSES]
    lines = [line.split("  ")[1] for line in page(200).splitlines() if line.startswith("  ")]

    assert [place for place in lines if place in places] == places
    assert {placed.purpose for placed in commands_of_modules().values()} == {*PURPOSES}


def test_what_others_call_a_command_is_none_here_and_leads_to_one() -> None:
    assert not ELSEWHERE.keys() & commands().keys()
    assert {*ELSEWHERE.values()} <= commands().keys()


def test_it_fits_one_screen_and_begins_with_the_everyday_commands() -> None:
    lines = page(80).splitlines()

    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80
    begins = lines.index("Every day:") + 1
    assert [line.split()[0] for line in lines[begins : begins + len(EVERYDAY)]] == [*EVERYDAY]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_no_name_is_split(columns: int) -> None:
    words = re.findall(r"[\w-]+", page(columns))

    assert set(commands()) <= set(words)


WITHOUT_JSON = {
    "adopt", "archive", "demo", "demote", "disconnect", "forget", "init", "invalidate", "link", "mark-used",
    "model use", "pin", "promote", "remote add", "remote remove", "remote rewrite", "restore",
    "review accept", "review holds", "review keep-both", "review merge", "review reject",
    "review replaces", "save-conversation", "save-session", "setup", "share", "team confirm", "team drop",
    "team join", "team leave", "team serve", "team token issue", "team token withdraw", "unlink",
    "unpin", "validate", "view",
}  # fmt: skip
"""Commands that change something, or show it in a browser."""


def with_subcommands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Yield *command* and those below it by their names; a group that does nothing itself is left out."""
    below = command.commands if isinstance(command, click.Group) else {}
    for other, subcommand in below.items():
        yield from with_subcommands(f"{name} {other}", subcommand)
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield name, command


def test_every_command_that_only_reads_prints_json() -> None:
    every = dict(named for name, command in commands().items() for named in with_subcommands(name, command))

    without = {
        name
        for name, command in every.items()
        if "as_json" not in {parameter.name for parameter in command.params}
    }
    assert without == WITHOUT_JSON


def test_the_start_of_a_session_is_there_for_programs(run: Run, store: Store) -> None:
    output_of(run("remember", "Heron rule | Herons are grey.", "--type", "decision"))
    sync(store)
    choose(store, CLAUDE_LOCAL_MD)

    begins = json.loads(output_of(run("brief", "--json")))
    block = json.loads(output_of(run("brief", "--block", "--json")))

    (heron,) = block["memories"]
    assert "Herons are grey." in block["text"]
    assert begins["block"]["memories"] == [heron]
    assert begins["block"]["file"] == CLAUDE_LOCAL_MD
    assert begins["memories"] == []  # the block says it already
    assert output_of(run("brief")).startswith(f"Nothing beside what {CLAUDE_LOCAL_MD} says.\n")


def test_a_shell_completes_the_names_of_commands(memory_dir: Path) -> None:
    asked = {"_DAYBOOK_COMPLETE": "bash_complete", "COMP_WORDS": "daybook rec", "COMP_CWORD": "1"}

    assert run_daybook(memory_dir, **asked).stdout.split() == ["plain,recall"]
