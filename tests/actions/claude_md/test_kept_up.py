"""Keeping the block up, and the files that are left alone."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.context import claude_md
from mcp_server.actions.context.claude_md import choose, current_block, refresh, repair, trouble
from mcp_server.actions.context.in_context_already import shown_by_block
from mcp_server.core.context.managed_block import END, START
from mcp_server.store import Store
from tests.actions.claude_md.block import MINE, one_more


def test_a_refresh_writes_only_when_the_memories_say_something_else(store: Store, document: Path) -> None:
    choose(store, "CLAUDE.md")
    before = document.stat()
    note = store.home / "projects" / store.vaults[-1].key / "project.json"
    noted = note.stat()

    assert refresh(store) == claude_md.Refreshed(document, False)
    assert (document.stat().st_ino, document.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert note.stat().st_ino == noted.st_ino
    one_more(store)
    assert refresh(store).changed
    assert "Prices are in cents" in document.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "mine",
    [
        MINE.replace("\n", "\r\n").encode(),
        "\ufeff# Mine\r\n".encode(),
        b"no final line end",
        b"latin-1: \xe9\xff\n",
        b"",
    ],
)
def test_bytes_outside_the_block_stay(store: Store, document: Path, mine: bytes) -> None:
    document.write_bytes(mine)
    choose(store, "CLAUDE.md")
    one_more(store)
    refresh(store)

    assert document.read_bytes().startswith(mine)
    assert (b"\r\n" in mine) == (b"\r\n" in document.read_bytes()[len(mine) :])
    choose(store, "none")
    assert document.read_bytes() == mine


def test_a_branch_without_the_file_gets_none_and_git_goes_back_to_the_other(
    store: Store, document: Path, project: Path
) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", "-C", project, *identity, *arguments], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "before the file")
    git("branch", "feature")
    choose(store, "CLAUDE.md")
    git("add", "CLAUDE.md")
    git("commit", "-q", "-m", "with the file")
    git("checkout", "-q", "feature")
    one_more(store)

    assert refresh(store) == claude_md.Refreshed(document, False)
    assert not document.exists()

    git("checkout", "-q", "main")  # git refuses it where a file that it does not know is in the way
    assert refresh(store).changed
    assert "Prices are in cents" in document.read_text(encoding="utf-8")


def test_a_file_that_the_person_deleted_comes_back_when_it_is_chosen_again(
    store: Store, document: Path
) -> None:
    choose(store, "CLAUDE.md")
    document.unlink()

    refresh(store)
    assert not document.exists()

    choose(store, "CLAUDE.md")
    assert document.read_text(encoding="utf-8") == f"{current_block(store).text}\n"


def test_a_linked_file_stays_a_link(store: Store, document: Path, project: Path) -> None:
    real = project / "docs" / "AGENTS.md"
    real.parent.mkdir()
    document.rename(real)
    document.symlink_to("docs/AGENTS.md")

    choose(store, "CLAUDE.md")

    assert document.is_symlink()
    assert "Postgres" in real.read_text(encoding="utf-8")
    assert [path.name for path in real.parent.iterdir()] == ["AGENTS.md"]


def lead_out(document: Path) -> None:
    outside = document.parent.parent / "theirs.md"
    document.rename(outside)
    document.symlink_to(outside)


def lead_into_git(document: Path) -> None:
    (document.parent / ".git").mkdir()
    document.rename(document.parent / ".git" / "description")
    document.symlink_to(".git/description")


def lead_nowhere(document: Path) -> None:
    document.unlink()
    document.symlink_to("missing.md")


def lead_to_itself(document: Path) -> None:
    document.unlink()
    document.symlink_to("CLAUDE.md")


def be_a_folder(document: Path) -> None:
    document.unlink()
    document.mkdir()


def be_a_pipe(document: Path) -> None:
    document.unlink()
    os.mkfifo(document)


def be_large(document: Path) -> None:
    document.write_bytes(b"x" * (1024 * 1024 + 1))


def be_nearly_too_large(document: Path) -> None:
    document.write_bytes(b"x" * (1024 * 1024 - 10))


def be_utf_16(document: Path) -> None:
    document.write_bytes(MINE.encode("utf-16"))


def be_read_only(document: Path) -> None:
    document.chmod(0o444)


def have_one_marker(document: Path) -> None:
    document.write_bytes(f"{MINE}{START}\nmine\n".encode())


def have_an_open_fence(document: Path) -> None:
    document.write_bytes(f"{MINE}```\n".encode())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lead_out, "is a link that leads out of the project"),
        (lead_into_git, "is a link that leads out of the project"),
        (lead_nowhere, "is a link to a file that is missing"),
        (lead_to_itself, "CLAUDE.md is a"),
        (be_a_folder, "CLAUDE.md is not a regular file."),
        (be_a_pipe, "CLAUDE.md is not a regular file."),
        (be_large, "CLAUDE.md has 1,048,577 bytes; 1,048,576 is the limit."),
        (be_nearly_too_large, "larger than a mebibyte"),
        (be_utf_16, "CLAUDE.md: it is not UTF-8 text."),
        (be_read_only, "CLAUDE.md: it is read-only."),
        (have_one_marker, "START is in line 4, END is missing"),
        (have_an_open_fence, "begins in line 4 is never closed"),
    ],
)
def test_a_file_that_cannot_be_written_safely_is_left_alone(
    store: Store, document: Path, make: Callable[[Path], None], sentence: str
) -> None:
    make(document)
    before = document.read_bytes() if document.is_file() and not document.is_fifo() else b""

    (refreshed,) = choose(store, "CLAUDE.md")

    assert (refreshed.path, refreshed.changed) == (document, False)
    assert sentence in str(refreshed.problem)
    assert (document.read_bytes() if before else b"") == before
    if make not in (be_nearly_too_large, be_read_only):
        assert sentence in str(trouble(store))
    assert shown_by_block(store) == {}


def test_damaged_markers_are_mended_on_request_and_no_text_is_lost(store: Store, document: Path) -> None:
    choose(store, "CLAUDE.md")
    whole = document.read_text(encoding="utf-8")
    document.write_text(f"{START}\nmine 1\n{whole}mine 2\n{whole}{END}\nmine 3\n", encoding="utf-8")
    assert str(refresh(store).problem) == str(trouble(store))
    problem = trouble(store)
    assert problem and "daybook init --repair" in problem.hint

    assert [mended.changed for mended in repair(store)] == [True]

    block = current_block(store).text
    assert document.read_text(encoding="utf-8") == f"mine 1\n{MINE}\n{block}\nmine 2\n{MINE}\nmine 3\n"
    assert trouble(store) is None
    assert [mended.changed for mended in repair(store)] == [False]


@pytest.mark.parametrize("choice", ["none", "CLAUDE.local.md"])
def test_damaged_markers_in_a_file_that_is_not_chosen_any_more_are_mended_too(
    store: Store, document: Path, project: Path, choice: str
) -> None:
    choose(store, "CLAUDE.md")
    whole = document.read_text(encoding="utf-8")
    document.write_text(f"{START}\nmine 1\n{whole}mine 2\n", encoding="utf-8")
    torn = choose(store, choice)[0]
    assert torn.problem and "daybook init --repair" in torn.problem.hint

    mended = repair(store)

    assert document.read_text(encoding="utf-8") == f"mine 1\n{MINE}\nmine 2\n"
    assert [file.problem for file in mended] == [None] * len(mended)
    assert (project / "CLAUDE.local.md").exists() == (choice != "none")
    assert [file.problem for file in choose(store, "none")] == [None] * (choice != "none")


def test_what_is_no_text_does_not_keep_the_chosen_file_from_being_mended(
    store: Store, document: Path, project: Path
) -> None:
    choose(store, "CLAUDE.md")
    document.write_text(f"{START}\n{document.read_text(encoding='utf-8')}", encoding="utf-8")
    (project / "CLAUDE.local.md").write_bytes(b"\0")

    assert [mended.changed for mended in repair(store)] == [True]


def test_a_damaged_file_does_not_keep_the_person_from_choosing_another(
    store: Store, document: Path, project: Path
) -> None:
    choose(store, "CLAUDE.md")
    document.write_text(f"{MINE}{START}\n", encoding="utf-8")

    torn, refreshed = choose(store, "CLAUDE.local.md")

    assert "END is missing" in str(torn.problem)
    assert refreshed == claude_md.Refreshed(project / "CLAUDE.local.md", True)


def test_what_a_killed_process_left_in_the_project_is_swept_and_no_file_of_the_person(
    store: Store, document: Path, project: Path
) -> None:
    (project / f".daybook-{'0a' * 8}").write_bytes(b"half")
    for name in (".daybook-notes.md", ".daybook-0a"):
        (project / name).write_bytes(b"mine")

    choose(store, "CLAUDE.md")

    assert sorted(path.name for path in project.iterdir()) == [
        ".daybook-0a", ".daybook-notes.md", "CLAUDE.md",
    ]  # fmt: skip
