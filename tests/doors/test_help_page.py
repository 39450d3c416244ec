"""`daybook --help`: all commands on one screen, the everyday ones first."""

import re

import pytest
from click.testing import CliRunner

from mcp_server.doors.cli import daybook
from mcp_server.doors.cli.help_page import BY_PURPOSE, EVERYDAY
from tests.live import commands_of_modules

SCREEN = 40  # lines


def page(columns: int) -> str:
    return CliRunner().invoke(daybook, ["--help"], prog_name="daybook", terminal_width=columns).output


def test_every_command_is_at_one_place() -> None:
    names = [*EVERYDAY, *(name for group in BY_PURPOSE.values() for name in group)]

    assert sorted(names) == sorted(commands_of_modules())


def test_it_fits_one_screen_and_begins_with_the_everyday_commands() -> None:
    lines = page(80).splitlines()

    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80
    begins = lines.index("Every day:") + 1
    assert [line.split()[0] for line in lines[begins : begins + len(EVERYDAY)]] == [*EVERYDAY]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_no_name_is_split(columns: int) -> None:
    words = re.findall(r"[\w-]+", page(columns))

    assert set(commands_of_modules()) <= set(words)
