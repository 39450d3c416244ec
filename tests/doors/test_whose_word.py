"""Through the doors: what Claude does to the person's words, with their turn, their dialog, or neither."""

import shlex
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.review import QUESTION, review
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.search.query import Query
from mcp_server.store import Store
from tests.conftest import Open
from tests.doors.called import Caller, connected
from tests.doors.shell import Run
from tests.person import Person
from tests.recorded import Recorded

OLD = "The upload timeout is 30 seconds."
NEW = "The upload timeout is 60 seconds."
SAID = "please set the upload timeout to 60 seconds, and forget the upload timeout note"
TYPE_IT = "The person types it in their own terminal, not one that Claude started: daybook "


pytestmark = pytest.mark.usefixtures("question_asked")


@pytest.fixture
def old(open_here: Open) -> str:
    """What the person said once."""
    return remember(open_here().store(), Draft("Upload timeout", OLD, type="decision")).memory.id


def stored(answer: str) -> str:
    return answer.split(":", 1)[0].split()[-1]


def test_remember_replaces_the_persons_words_by_theirs_alone(
    claude: Caller, session: Recorded, old: str, store: Store
) -> None:
    arguments = {"title": "Upload timeout", "content": NEW, "type": "decision", "supersedes": old}

    refused = claude("remember", **arguments)
    assert f"{old} stays active: only the person can replace it." in refused
    assert f"daybook revise {stored(refused)} --supersedes {old}" in refused
    assert read(store, old).memory.status is Status.ACTIVE

    session.user(SAID)
    replaced = claude("remember", **(arguments | {"content": f"{NEW} It was 30."}))
    assert f"It replaces {old}, which is kept as superseded." in replaced
    assert read(store, old).memory.superseded_by == stored(replaced)


def test_a_quote_names_what_is_replaced(claude: Caller, session: Recorded, old: str, store: Store) -> None:
    session.user(SAID)

    answer = claude("remember", title="Uploads", content=NEW, supersedes="upload timeout is 30 seconds")

    assert f"It replaces {old}" in answer
    assert read(store, old).memory.status is Status.SUPERSEDED


def test_revise_stores_other_words_beside_the_persons(
    claude: Caller, session: Recorded, old: str, store: Store
) -> None:
    answer = claude("revise", id=old, content=NEW)

    assert answer.startswith(f"{old}: not changed, because the person said it. Stored instead: ")
    assert read(store, old).memory.text == OLD
    session.user(SAID)
    assert f"{old}: revised." in claude("revise", id=old, content=NEW)
    assert read(store, old).memory.text == NEW


def test_forget_needs_their_word(claude: Caller, session: Recorded, old: str, store: Store) -> None:
    answer = claude("forget", id=old)
    assert "Forgetting what the person said needs the person's consent" in answer
    assert f"{TYPE_IT}forget {old}" in answer
    assert read(store, old).path.is_file()

    session.user(SAID)
    assert f"{old}: forgotten" in claude("forget", id=old)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("link_memories", {"from": "{new}", "to": "{old}", "rel": "supersedes"}),
        ("link_memories", {"from": "Uploads", "to": "upload timeout", "rel": "supersedes"}),
        ("kg_put_edge", {"level": "project", "from": "{new}", "to": "{old}", "rel": "supersedes"}),
        ("kg_put_edge", {"level": "project", "from": "{new}", "to": "Upload Timeout", "rel": "Supersedes"}),
        ("archive", {"ids": "{old}"}),
        ("kg_delete_node", {"level": "project", "id": "{old}"}),
        ("kg_put_node", {"level": "project", "id": "{old}", "gist": NEW}),
    ],
)
def test_no_other_tool_goes_round_it(
    claude: Caller, old: str, store: Store, tool: str, arguments: dict[str, str]
) -> None:
    new = stored(claude("remember", title="Uploads", content=NEW))
    before = read(store, old).data

    answer = claude(tool, **{name: value.format(old=old, new=new) for name, value in arguments.items()})

    assert "needs the person's consent" in answer and TYPE_IT in answer
    assert tool != "kg_put_node" or shlex.join(["revise", old, "--title", NEW]) in answer
    assert read(store, old).data == before


def test_a_merge_of_the_persons_words_waits_for_their_turn(
    claude: Caller, session: Recorded, old: str, store: Store
) -> None:
    """The curator merges so: it revises the richer memory, and lets that take the other's place."""
    richer = stored(claude("remember", title="Uploads", content="Uploads go through the gateway."))
    merged = {"id": richer, "content": "Uploads go through the gateway, which ends them after 60 seconds."}

    refused = claude("revise", **merged, supersedes=old)
    assert f"{old} stays active: only the person can replace it." in refused
    assert read(store, old).memory.status is Status.ACTIVE
    assert [entry.ids for entry in review(store).entries if entry.kind == QUESTION] == [(richer, old)]

    beside = claude("revise", id=old, content=f"{OLD} Uploads go through nginx.", supersedes=richer)
    assert f"{old}: not changed, because the person said it." in beside
    assert read(store, old).memory.text == OLD

    session.user("uploads go through the gateway, and it ends them after 60 seconds, no upload timeout of 30")
    replaced = claude("revise", id=richer, supersedes=old)
    assert f"It replaces {old}, which is kept as superseded." in replaced


@pytest.mark.parametrize(("answer", "status"), [("yes", Status.SUPERSEDED), ("no", Status.ACTIVE)])
def test_the_person_says_in_the_dialog_which_one_holds(
    open_here: Open, old: str, answer: str, status: Status
) -> None:
    opened, person = open_here(), Person(answer)
    new = remember(opened.store(), Draft("Uploads", NEW, source="assistant")).memory.id

    with connected(opened, person) as call:
        revised = call("revise", id=new, supersedes=old)

    assert person.saw and OLD in person.saw[0] and NEW in person.saw[0]
    assert read(opened.store(), old).memory.status is status
    assert (f"replaces {old}" in revised) == (answer == "yes")


def test_a_shell_that_claude_runs_is_not_the_persons_word(
    run: Run, session: Recorded, old: str, store: Store
) -> None:
    claudes = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session.session}

    beside = run("remember", f"Uploads | {NEW}", "--supersedes", old, **claudes)
    reworded = run("revise", old, "--text", "The upload timeout is 90 seconds.", **claudes)
    gone = run("forget", old, **claudes)
    linked = run("link", stored_by(beside), old, "--rel", "supersedes", **claudes)
    by_title = run("link", "Uploads", "upload timeout", "--rel", "supersedes", **claudes)
    archived = run("archive", old, **claudes)

    assert f"{old} stays active: only the person can replace it." in beside.stdout
    assert f"{old}: not changed, because the person said it." in reworded.stdout
    assert "Near it: " in reworded.stdout and "If it replaces one: daybook revise " in reworded.stdout
    refused = (gone, linked, by_title, archived)
    assert [process.returncode for process in refused] == [12, 12, 12, 12]
    assert f"{TYPE_IT}forget {old}" in gone.stderr
    assert read(store, old).memory.text == OLD
    assert read(store, old).memory.status is Status.ACTIVE

    session.user(SAID)
    process = run("remember", f"Upload timeouts | {NEW} So it is.", "--supersedes", old, **claudes)
    assert f"It replaces {old}" in process.stdout


def test_the_person_in_a_terminal_needs_nobodys_word(run: Run, old: str, store: Store) -> None:
    process = run("remember", f"Uploads | {NEW}", "--supersedes", "the upload timeout is 30 seconds")

    assert f"It replaces {old}" in process.stdout
    assert run("forget", stored_by(process)).stdout.endswith(f"daybook restore {old}\n")


def stored_by(process: object) -> str:
    return str(process.stdout).partition(":")[0]  # type: ignore[attr-defined]


def test_a_level_that_was_asked_for_is_obeyed_and_told(run: Run, open_here: Open, tmp_path: Path) -> None:
    run("remember", f"Uploads | {OLD}", "--level", "user")
    old = recall(open_here().store(), Query("upload timeout")).hits[0].id

    process = run("remember", f"Uploads here | {NEW}", "--level", "project", "--supersedes", old)

    assert f"It shadows {old} in this project as long as it is active here;" in process.stdout
    assert f"shadowed by {stored_by(process)} in this project, applies elsewhere" in " ".join(
        run("recall", "upload timeout", "--include-archived").stdout.split()
    )
    assert old not in run("recall", "upload timeout").stdout
    assert "applies elsewhere" in run("read", old).stdout
    assert old not in run("list").stdout
    assert old in run("list", "--include-archived").stdout
    elsewhere = tmp_path / "office"
    elsewhere.mkdir()
    hits = recall(open_here(elsewhere).store(), Query("upload timeout")).hits
    assert [(hit.id, hit.level) for hit in hits] == [(old, Level.USER)]
    assert f"No longer shadowed in this project: {old}." in run("forget", stored_by(process)).stdout


def test_siblings_are_told_apart_once_through_both_doors(claude: Caller, run: Run, store: Store) -> None:
    first = stored(claude("remember", title="Server 1", content="Server 1 has the address 10.0.0.1."))
    answer = claude("remember", title="Server 2", content="Server 2 has the address 10.0.0.2.")
    two = stored(answer)
    assert f"Near it: {first}" in answer and "if both are right, with distinct" in answer

    assert "the pair is not asked about again" in claude("revise", id=two, distinct=first)
    assert "Near it" not in claude("revise", id=two, content="Server 2 has got the address 10.0.0.2.")
    assert f"Near it: {first}" in claude("revise", id=two, content="Server 2 has the address 10.0.0.3.")
    assert "the pair is not asked about again" in run("revise", two, "--distinct", first).stdout
    assert "Near it" not in claude("revise", id=two, content="Server 2 has got the address 10.0.0.3.")
    assert read(store, two).memory.links == ()
