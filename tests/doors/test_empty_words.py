"""What is given as nothing, or as signs alone, is refused in a sentence by every command and tool."""

from collections.abc import Iterator

import click
import pytest

from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Filter
from mcp_server.doors.cli import daybook
from mcp_server.doors.cli.typed_parameters import IN_WORDS
from mcp_server.store import Store
from tests.doors.called import Caller
from tests.doors.shell import Run


def lines(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield a command line for each argument and option that names something, with a blank in its place."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from lines(command, (*before, name))
            continue
        arguments = [argument for argument in command.params if isinstance(argument, click.Argument)]
        for at, argument in enumerate(arguments):
            if argument.name not in IN_WORDS and argument.type is click.STRING:
                yield (
                    *before,
                    name,
                    *("x" for _ in arguments[:at]),
                    " ",
                    *("x" for _ in arguments[at + 1 :]),
                )
        for option in command.params:
            if isinstance(option, click.Option) and option.metavar and option.type is click.STRING:
                yield (
                    *before,
                    name,
                    option.opts[0],
                    *(" " for _ in range(option.nargs)),
                    *("x" for _ in arguments),
                )


@pytest.mark.parametrize("line", [*lines(daybook)], ids=" ".join)
def test_a_name_or_an_id_given_as_nothing_is_refused(run: Run, line: tuple[str, ...]) -> None:
    process = run(*line)

    assert process.returncode == Rejected.exit_code, process.stdout
    assert " is empty." in process.stderr
    assert "--help' shows an example." in process.stderr


def test_an_undo_of_nothing_takes_nothing_back(run: Run, store: Store) -> None:
    remember(store, Draft("Lamps", "Lit at dusk."))

    assert run("undo", "").returncode == Rejected.exit_code

    assert list_memories(store, Filter()).total == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("recall", ""), "No question was given."),
        (("recall", " ", ""), "No question was given."),
        (("ask", ""), "No question was given."),
        (("recall", "?!"), "'?!' has no word to look for."),
        (("ask", "…"), "'…' has no word to look for."),
    ],
)
def test_a_question_without_a_word_is_refused(run: Run, words: tuple[str, ...], sentence: str) -> None:
    process = run(*words)

    assert process.returncode == Rejected.exit_code
    assert sentence in process.stderr
    assert process.stdout == ""


@pytest.mark.parametrize(
    ("tool", "named", "sentence"),
    [
        ("recall", {"query": " "}, "No question was given."),
        ("ask", {"question": ""}, "No question was given."),
        ("search_knowledge", {"query": "?!"}, "'?!' has no word to look for."),
        ("read_memory", {"id": " "}, "No id was given. Find it with recall or list."),
        ("archive", {"ids": " , "}, "No id was given."),
        ("approve_candidate", {"ids": []}, "No id was given."),
        ("reject_candidate", {"ids": ""}, "No id was given."),
        ("mark_memory_used", {"ids": [" "]}, "No id was given."),
    ],
)
def test_the_tools_refuse_the_same(
    call: Caller, store: Store, tool: str, named: dict[str, str | list[str]], sentence: str
) -> None:
    remember(store, Draft("Lamps", "Lit at dusk."))

    answer = call(tool, **named)

    assert call.failed
    assert sentence in " ".join(answer.split())


def test_more_memories_are_asked_for_than_there_can_be(run: Run, call: Caller, store: Store) -> None:
    remember(store, Draft("Lamps", "Lit at dusk."))

    assert "Lamps" in run("list", "--limit", "9" * 30).stdout
    assert "Lamps" not in call("list_memories", offset=10**30)
    assert not call.failed
