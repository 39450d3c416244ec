"""What cannot be done, or cannot be seen yet, is said in a sentence."""

import json
from pathlib import Path

import pytest

from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init
from mcp_server.actions.model.embed import embed_pending, unseen
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Filter, Mode, Query
from mcp_server.doors.server import replies
from mcp_server.doors.shown.recall import answered
from mcp_server.store import Store
from tests.adapters.project.repositories import git, needs_git, repository
from tests.doors.called import connected
from tests.doors.shell import Run, daybook, output_of


@pytest.mark.parametrize("place", ["/dev/null/x", "/dev/null/x/y"])
def test_a_store_below_what_is_no_folder_is_refused(run: Run, place: str) -> None:
    for words in (("recall", "webhook"), ("status",), ("remember", "A | b")):
        process = run(*words, MEMORY_DIR=place)

        assert process.returncode
        assert f"MEMORY_DIR is '{place}', but /dev/null is not a folder." in process.stderr


def test_a_store_whose_disk_is_away_is_not_begun_anew(run: Run, tmp_path: Path) -> None:
    place, disk = tmp_path / "store", tmp_path / "disk"
    place.symlink_to(disk)
    for words in (("recall", "webhook"), ("status",), ("remember", "A | b")):
        process = run(*words, MEMORY_DIR=str(place))

        assert process.returncode
        assert f"MEMORY_DIR is '{place}', a link to {disk}, which is not there." in process.stderr
    assert not disk.exists()

    disk.mkdir()
    assert "remembered" in output_of(run("remember", "A | b", MEMORY_DIR=str(place)))


@pytest.mark.parametrize(
    "name", ["hand.MD", "hand.markdown", "hand.Markdown", "/".join(["a"] * 20) + "/hand.md"]
)
def test_a_note_is_read_whatever_its_name_ends_in(run: Run, memory_dir: Path, name: str) -> None:
    path = memory_dir / "knowledge" / name
    path.parent.mkdir(parents=True)
    path.write_text("# Turnstile\n\nIt opens at noon.\n")

    assert "opens at noon" in output_of(run("recall", "turnstile"))
    path.write_text("# Turnstile\n\nIt opens at one.\n")
    assert "opens at one" in output_of(run("recall", "turnstile"))
    (note,) = json.loads(output_of(run("list", "--json")))["memories"]
    output_of(run("revise", note["id"], "--tags", "door"))
    assert "tags: [door]" in path.read_text()


@pytest.mark.parametrize("embedded", [0, 1])
@pytest.mark.parametrize("mode", [Mode.SEMANTIC, Mode.HYBRID])
def test_what_has_no_vector_yet_is_said_to_wait(meaning_store: Store, mode: Mode, embedded: int) -> None:
    for number in range(embedded):
        remember(meaning_store, Draft("Lunch", f"Soup number {number}."))
    embed_pending(meaning_store)
    remember(meaning_store, Draft("Turnstile", "It opens at noon."))

    def asked(words: str) -> str:
        query = Query(words, mode=mode)
        answer = recall(meaning_store, query)
        return replies.shown_lines(answered(answer, words, waiting=unseen(meaning_store, query, answer)))

    assert "Not embedded yet: 1 passage, which only their words find;" in asked("who lets visitors in")
    embed_pending(meaning_store)
    assert "Not embedded" not in asked("who lets visitors in")


def test_an_error_passes_on_no_sign_that_moves_what_is_on_the_screen(run: Run, opened: Opened) -> None:
    odd = "x\x1b]0;title\x07\u202ey\u009b2J"

    process = run("read", odd)
    with connected(opened) as call:
        answer = call("read_memory", id=odd)

    assert process.returncode and call.failed
    assert "No memory has the id" in process.stderr and "No memory has the id" in answer
    assert not {*"\x1b\x07\u202e\u009b"}.intersection(process.stderr + answer)


def test_the_answers_of_a_session_whose_folder_moved_say_that_it_is_gone(
    opened: Opened, memory_dir: Path, project: Path
) -> None:
    elsewhere, gone = project.with_name("elsewhere"), f"The folder {project} is gone"
    with connected(opened) as call:
        init(opened.store())
        project.rename(elsewhere)
        answers = [call("recall", query="carts wheels"), call("list_memories")]
        command = daybook(memory_dir, "status", CLAUDE_PROJECT_DIR=str(project))
        elsewhere.rename(project)
        back = call("recall", query="carts wheels")

    assert all(gone in answer for answer in [*answers, command.stderr])
    assert gone not in back


@needs_git
def test_a_session_whose_worktree_was_removed_goes_on_with_the_memories_of_the_repository(
    memory_dir: Path, project: Path, tmp_path: Path
) -> None:
    repository(project)
    second = tmp_path / "second"
    git(project, "worktree", "add", "-q", str(second))
    with connected(Opened({"MEMORY_DIR": str(memory_dir)}, folder=second)) as call:
        before = call("remember", content="Carts live for a day.", title="Carts")
        git(project, "worktree", "remove", "--force", str(second))
        after = call("remember", content="Wheels live for a year.", title="Wheels")
        listed = call("list_memories")

    assert "remembered" in before and "remembered" in after
    assert "Carts" in listed and "Wheels" in listed and "is gone" not in listed + after
    assert list_memories(Opened({"MEMORY_DIR": str(memory_dir)}, folder=project).store(), Filter()).total == 2


@pytest.mark.parametrize("verb", ["archive", "mark-used", "trust"])
def test_what_refuses_one_of_several_ids_says_that_nothing_was_done_to_the_others(
    typed: Run, store: Store, verb: str
) -> None:
    known = remember(store, Draft("Carts", "Carts are red.")).memory.id

    several, alone = typed(verb, known, "no-such"), typed(verb, "no-such")

    assert "No memory has the id 'no-such'." in several.stdout
    assert "Nothing was done to the others." in several.stdout and "the others" not in alone.stdout
    assert known in output_of(typed("list"))


@pytest.mark.parametrize("verb", ["archive", "mark-used", "trust"])
def test_all_of_several_ids_that_are_refused_are_named(typed: Run, store: Store, verb: str) -> None:
    known = remember(store, Draft("Carts", "Carts are red.")).memory.id

    alike, unlike = typed(verb, known, "no-such", "nor-this"), typed(verb, "no-such", f"{known}x")

    assert alike.returncode == unlike.returncode == 3
    words = " ".join(alike.stdout.split())
    assert "No memory has the id 'no-such'. No memory has the id 'nor-this'. Nothing was done to the" in words
    words = " ".join(unlike.stdout.split())
    assert f"No memory has the id '{known}x'. Did you mean {known}?" in words and "the others" not in words


@pytest.mark.parametrize(
    "command",
    [
        "where", "status", "doctor", "sync", "init --repository", "read kept", "remember A|b",
        "import notes {folder}", "export {folder}/out", "export {folder}", "view --export {folder}/page.html",
        "seed {folder}/lacking",
    ],
)  # fmt: skip
def test_no_path_fills_more_than_its_line(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "shop\nOTHER\x1b[2J"
    kept = folder / "store" / "knowledge" / "kept.md"
    kept.parent.mkdir(parents=True)
    kept.write_text("---\nid: kept\n---\nA cart.\n", encoding="utf-8")
    kept.with_name("bad\nOTHER\x1b.md").write_text("---\ntitle: a\ntitle: b\n---\n", encoding="utf-8")
    words = [word.format(folder=folder) for word in command.split(" ")]

    screen = daybook(folder / "store", *words, folder=folder, typed=True).stdout

    assert screen and "\nOTHER" not in screen and "\x1b[2J" not in screen
