"""The command remote, on two machines of one person."""

import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.adapters.ledger import Ledger
from tests.doors.shell import daybook


def output_of(home: Path, *words: str, typed: bool = False) -> str:
    """Return what a command prints on the machine with the store *home*; it must succeed."""
    process = daybook(home, *words, typed=typed)
    assert process.returncode == 0, (words, process.stdout, process.stderr)
    return process.stdout + (process.stderr or "")


def test_a_second_machine_finds_what_the_first_remembered(tmp_path: Path) -> None:
    desk, laptop, remote = tmp_path / "desk", tmp_path / "laptop", str(tmp_path / "memory.git")
    output_of(desk, "remember", "Deploys start from the release branch.")

    added = output_of(desk, "remote", "add", remote, "--yes", typed=True)

    assert "1 file" in added and "From now on" in added
    joined = output_of(laptop, "remote", "add", remote, "--yes", typed=True)
    assert "holds memories: they come here" in joined and "holds memories" not in added
    assert "release branch" in output_of(laptop, "recall", "deploys")
    status = json.loads(output_of(laptop, "remote", "status", "--json"))
    assert status["url"] == remote and status["last"]["at"]
    assert f"{remote}, last exchange" in output_of(laptop, "status")

    output_of(laptop, "remember", "The staging host is called birch.")
    assert "1 memory came" in (output_of(laptop, "remote", "sync") and output_of(desk, "remote", "sync"))
    shutil.rmtree(remote)
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    assert "The remote had been emptied: what it held is there again." in output_of(desk, "remote", "sync")
    assert "had been emptied" not in output_of(laptop, "remote", "sync")
    assert "it keeps what it has" in output_of(desk, "remote", "remove", typed=True)
    assert "no remote" in output_of(desk, "remote", "status")
    assert "birch" in output_of(desk, "recall", "staging host")


def test_nothing_leaves_without_the_persons_yes(tmp_path: Path) -> None:
    home, remote = tmp_path / "desk", tmp_path / "memory.git"

    by_a_program = daybook(home, "remote", "add", str(remote), "--yes")

    assert by_a_program.returncode == 12 and not remote.exists()


@pytest.mark.parametrize(
    ("words", "sentence", "leave"),
    [((), "1 question in it", True), (("--no-questions",), "without the questions", False)],
    ids=["told of", "not to leave"],
)
def test_questions_leave_when_they_were_told_of_and_costs_never(
    tmp_path: Path, words: tuple[str, ...], sentence: str, leave: bool
) -> None:
    home, remote = tmp_path / "desk", tmp_path / "memory.git"
    output_of(home, "remember", "Deploys start from the release branch.")
    Ledger(home / "ledger").append("recalled", datetime.now(UTC), refs=[], query="something peculiar")
    Ledger(home / "ledger").append("spent", datetime.now(UTC), usd=1.0)

    assert sentence in output_of(home, "remote", "add", str(remote), "--yes", *words, typed=True)

    output_of(tmp_path / "laptop", "remote", "add", str(remote), "--yes", typed=True)
    ledger = "".join(path.read_text() for path in (tmp_path / "laptop" / "ledger").iterdir())
    assert "remembered" in ledger and "spent" not in ledger
    assert ("peculiar" in ledger) is leave


def test_a_remote_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    home, other = tmp_path / "desk", tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("Dear")

    refused = daybook(home, "remote", "add", str(other), "--yes", typed=True)
    odd = daybook(home, "remote", "add", "ext::sh -c touch% /tmp/pwned", "--yes", typed=True)

    assert refused.returncode == odd.returncode == 4
    assert "neither empty nor a bare git repository" in refused.stdout
    assert "is not the address of a remote" in odd.stdout


def test_a_branch_of_our_name_that_holds_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    home, other = tmp_path / "desk", tmp_path / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    head = b"commit refs/heads/daybook\ncommitter a <a@b> 0 +0000\ndata 1\nx\n"
    letter = head + b"M 644 inline letter.txt\ndata 4\nDear\n"
    subprocess.run(["git", f"--git-dir={other}", "fast-import", "--quiet"], input=letter, check=True)
    before = (other / "refs" / "heads" / "daybook").read_text()

    refused = daybook(home, "remote", "add", str(other), "--yes", typed=True)

    assert refused.returncode == 13
    assert f"{other} holds something else: the file letter.txt. The remote was not added." in refused.stdout
    assert (other / "refs" / "heads" / "daybook").read_text() == before
    assert "no remote" in output_of(home, "remote", "status")


def test_an_unreachable_remote_waits_and_is_told(tmp_path: Path) -> None:
    home, remote = tmp_path / "desk", tmp_path / "memory.git"
    output_of(home, "remote", "add", str(remote), "--yes", typed=True)
    remote.rename(tmp_path / "away")
    output_of(home, "remember", "Deploys start from the release branch.")

    output = output_of(home, "remote", "sync")

    again = output_of(home, "remote", "sync")
    assert "2 files to be sent" in output and "2 files to be sent" in again
    for shown in (output, output_of(home, "status"), output_of(home, "remote", "status")):
        assert "could not be reached" in shown and "Correct the address, or make the repository." in shown
    (tmp_path / "away").rename(remote)
    assert output_of(home, "remote", "sync").startswith("2 files sent, nothing came\n")
    assert output_of(home, "remote", "sync").startswith("nothing sent, nothing came\n")


def test_the_worker_exchanges_by_itself(tmp_path: Path) -> None:
    desk, laptop, remote = tmp_path / "desk", tmp_path / "laptop", str(tmp_path / "memory.git")
    for home in (desk, laptop):
        output_of(home, "remote", "add", remote, "--yes", typed=True)
    output_of(desk, "remember", "Deploys start from the release branch.")

    output_of(desk, "work")
    output_of(laptop, "work")

    assert "release branch" in output_of(laptop, "recall", "deploys")


def test_what_is_deleted_for_good_names_who_still_has_it(tmp_path: Path) -> None:
    home, remote = tmp_path / "desk", str(tmp_path / "memory.git")
    output_of(home, "remember", "Deploys start from the release branch.")
    output_of(home, "remote", "add", remote, "--yes", typed=True)
    (file,) = (home / "knowledge").glob("*.md")

    output = output_of(home, "forget", file.stem, "--forever", typed=True)

    assert f"'daybook forget {file.stem} --forever' on each" in output
    assert f"{remote} has it in its history: 'daybook remote rewrite'" in output
    assert "no history" in output_of(home, "remote", "rewrite", typed=True)
