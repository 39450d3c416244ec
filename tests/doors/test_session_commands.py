"""Sessions and conversations from the shell."""

import json
from pathlib import Path

import pytest

from mcp_server.core.errors import Rejected
from tests.doors.shell import Run, output_of


def test_a_session_of_which_nothing_is_said_is_not_saved(run: Run) -> None:
    process = run("save-session", "Retries", stdin=" ")

    assert process.returncode == Rejected.exit_code
    assert "There is nothing to save." in process.stderr


def test_a_long_conversation_is_shown_in_parts(run: Run, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": f"word{number}"} for number in range(30)]))
    memory_id = output_of(run("save-conversation", "Talk", str(talk))).partition(":")[0]

    part = output_of(run("load-conversation", memory_id, "--offset", "10", "--limit", "5"))

    assert [f"word{number}" in part.split() for number in (9, 10, 14, 15)] == [False, True, True, False]
    assert part.endswith("15 more: --offset 15\n")
    program = json.loads(output_of(run("load-conversation", memory_id, "--offset", "28", "--json")))
    assert program["turns"] == 30
    assert [message["content"] for message in program["messages"]] == ["word28", "word29"]
    assert "word0" in output_of(run("load-conversation", memory_id))


def test_what_claude_saves_in_a_shell_is_not_the_persons(run: Run) -> None:
    talk = json.dumps([{"role": "user", "content": "Never test."}])
    claudes = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "0a1b2c3d-1111-4222-8333-444455556666"}

    for by_whom, source in (({}, "manual"), (claudes, "assistant")):
        saved = output_of(run("save-conversation", f"Talk {source}", stdin=talk, **by_whom))
        text = output_of(run("read", saved.partition(":")[0]))
        assert f"source: {source}" in text
        assert (claudes["CLAUDE_CODE_SESSION_ID"] in text) == bool(by_whom)


def test_tags_and_names_with_values_are_kept_with_what_is_saved(run: Run) -> None:
    talk = json.dumps([{"role": "user", "content": "why?"}])
    saved = output_of(run("save-conversation", "Talk", "--tags", "a, b", "--meta", "ticket=7", stdin=talk))
    text = output_of(run("read", saved.partition(":")[0]))
    assert "tags: [a, b]" in text and "ticket: 7" in text

    saved = output_of(run("save-session", "Retries", "--context", "Half done.", "--meta", "ticket=8"))
    assert "ticket: 8" in output_of(run("read", saved.partition(":")[0]))


@pytest.mark.parametrize("option", ["--var", "--meta"])
@pytest.mark.parametrize(("entry", "lacks"), [("PORT", "'='"), ("=8080", "name before the '='")])
def test_a_value_without_a_name_is_refused(run: Run, option: str, entry: str, lacks: str) -> None:
    process = run("save-session", "Retries", "--context", "Half done.", option, entry)

    assert process.returncode == Rejected.exit_code
    assert f"'{entry}' has no {lacks}." in process.stderr
    assert f"Write it as {option} NAME=VALUE." in process.stderr


def test_a_program_gets_the_variables_and_tasks_of_a_session(run: Run) -> None:
    output_of(
        run("save-session", "Retries", "--context", "Half done.", "--var", "PORT=8080", "--task", "one")
    )

    session = json.loads(output_of(run("restore-session", "--json")))

    assert (session["variables"], session["tasks"]) == ({"PORT": "8080"}, ["one"])


TALK = '[{"role": "user", "content": "why?"}]'


@pytest.mark.parametrize(
    ("load", "save", "stdin"),
    [("restore-session", "save-session", "Half done."), ("load-conversation", "save-conversation", TALK)],
)
def test_what_is_not_here_is_said_to_be_where_it_is(
    run: Run, tmp_path: Path, load: str, save: str, stdin: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    of_another = output_of(run(save, "Theirs", stdin=stdin, folder=elsewhere)).partition(":")[0]
    forgotten = output_of(run(save, "Ours", stdin=stdin)).partition(":")[0]
    output_of(run("forget", forgotten))

    assert "It is of another project, elsewhere-" in run(load, of_another).stderr
    assert f"It was forgotten; 'daybook restore {forgotten}'" in run(load, forgotten).stderr
