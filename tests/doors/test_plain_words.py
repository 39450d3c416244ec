"""What commands print is plain: a folder's control characters, unwanted colour and machine dates stay out."""

import json
import re
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import Caller
from tests.doors.shell import Run, output_of

ODD = "shop\x1b[31m\nSettled: all"
ISO = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}")


def test_the_name_of_a_folder_is_printed_on_one_line_without_control_characters(
    typed: Run, tmp_path: Path
) -> None:
    folder = tmp_path / ODD
    folder.mkdir()

    for words in (
        ("init", "--file", "CLAUDE.md", "--repository"),
        ("share",),
        ("init", "--file", "none", "--no-repository"),
    ):
        printed = typed(*words, folder=folder).stdout
        assert "shop [31m" in printed
        assert "\x1b" not in printed and not re.search("^Settled", printed, re.MULTILINE)


@pytest.mark.parametrize(
    ("variables", "has_colour"), [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)]
)
def test_no_colour_is_printed_where_none_is_wanted(
    typed: Run, store: Store, variables: dict[str, str], has_colour: bool
) -> None:
    memory_id = remember(store, Draft("Uploads", "Uploads end after 60 seconds.")).memory.id

    assert ("\x1b[" in typed("read", memory_id, **variables).stdout) == has_colour


def test_the_state_has_dates_as_people_write_them_and_nothing_that_needs_nobody(
    run: Run, store: Store
) -> None:
    for event in ("transcript_seen", "transcript_kept"):
        store.record(event, path="t.jsonl", session="s", end=1, whole=1, folder="/", ended=True)

    printed, values = output_of(run("status")), json.loads(output_of(run("status", "--json")))

    assert re.search(r"last session kept \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", printed), printed
    assert not ISO.search(printed)
    assert "passages wait" not in printed and "to keep" not in printed
    assert ISO.search(values["capture"]["last"])


def test_the_state_never_says_of_a_running_session_that_it_was_kept_or_that_none_was(
    run: Run, store: Store
) -> None:
    def line(command: str) -> str:
        (about,) = re.findall(r"(?m)^.*capture\b.*$", output_of(run(command)))
        return re.split(r"capture:?\s+", about)[1]

    def happens(event: str, *, session: str, **values: object) -> None:
        store.in_session(session).record(event, path=f"{session}.jsonl", end=1, folder="/", **values)

    assert line("status") == line("doctor") == "auto, no session kept yet"
    happens("session_started", session="first")
    assert line("status") == line("doctor") == "auto, a session is kept when it ends"
    happens("transcript_seen", session="first")
    happens("transcript_kept", session="first", whole=1)
    assert line("status") == line("doctor") == "auto, a session is kept when it ends"
    happens("transcript_seen", session="first", ended=True)
    happens("transcript_kept", session="first", whole=1)
    happens("session_ended", session="first")
    kept = line("status")
    assert line("doctor") == kept and kept.startswith("auto, last session kept 2026-")
    happens("session_started", session="second")
    happens("transcript_seen", session="second")
    assert line("status") == kept


def test_an_import_shows_how_far_it_is(typed: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(30):
        (notes / f"{number}.md").write_text(
            f"Fact number {number} about {number * 7919}.\n", encoding="utf-8"
        )

    printed = typed("import", "notes", str(notes)).stdout

    assert "Importing" in printed and "100%" in printed and "30 taken" in printed


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("kg_delete_node", {}),
        ("kg_recall", {}),
        ("kg_put_edge", {"to": "src/a.py", "rel": "uses"}),
    ],
)
def test_a_node_of_another_level_is_named_with_its_level(
    claude: Caller, open_here: Open, tool: str, more: dict[str, str]
) -> None:
    draft = Draft("Tabs", "Tabs are eight wide.", level=Level.USER, source="assistant")
    node = remember(open_here().store(), draft).memory.id

    answer = claude(tool, level="project", **{"from" if more else "id": node}, **more)

    assert f"'{node}' is of the user level, not of the project level. Give the level user." in answer


@pytest.mark.parametrize(
    "words",
    [
        ("graph", "--svg"),
        ("graph", "--mermaid"),
        ("export",),
        ("export", "--format", "json"),
        ("view", "--export"),
    ],
)
def test_a_file_that_cannot_be_written_is_no_fault_of_the_store(
    run: Run, store: Store, tmp_path: Path, words: tuple[str, ...]
) -> None:
    remember(store, Draft("Uploads", "Uploads end after 60 seconds."))
    (tmp_path / "a-file").touch()
    target = tmp_path / "a-file" / "out"

    process = run(*words, str(target))

    assert f"{target} cannot be written: Not a directory." in process.stderr
    assert process.returncode == 4 and "No memory is lost" not in process.stderr


@pytest.mark.parametrize(
    ("option", "refusal"),
    [
        (("--type", ""), "A memory needs a type."),
        (("--supersedes", "{id}"), "A memory can neither replace itself nor hold beside itself."),
        (("--distinct", "{id}.md"), "A memory can neither replace itself nor hold beside itself."),
    ],
)
def test_a_revision_that_says_nothing_is_refused(
    run: Run, store: Store, option: tuple[str, str], refusal: str
) -> None:
    """With an empty variable a script made a note of a decision."""
    memory_id = remember(store, Draft("Uploads", "Uploads end after 60 seconds.", "decision")).memory.id

    process = run("revise", memory_id, option[0], option[1].format(id=memory_id))

    assert process.returncode == 4 and refusal in process.stderr
    assert read(store, memory_id).memory.type == "decision"
