"""When machines exchange by themselves: a session starts, runs or ends; no prompt waits for it."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.remote.exchange import alone
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.actions.upkeep.work import EXCHANGED_EVERY, goes_on, work
from mcp_server.adapters.remote import notes
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.durability.served import ROOT, Served, eventually
from tests.hook_process import run_hook
from tests.opened import opened_at, run_daybook
from tests.patience import PATIENCE

TEXT = "Deploys start from the release branch."


class Two:
    """The desk, which has given its memory to the remote, and the laptop, which has not taken it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.remote = folder, folder / "memory.git"
        self.opened = {name: opened_at(folder / name, folder) for name in ("desk", "laptop")}
        for name in self.opened:
            add(self.store(name), look_ahead(self.store(name), str(self.remote)))

    def store(self, name: str) -> Store:
        return self.opened[name].store()

    def remember(self, name: str, text: str = TEXT) -> None:
        remember(self.store(name), Draft(text, text, type="decision", level=Level.USER))

    def knows(self, name: str, text: str = TEXT) -> bool:
        files = (self.folder / name / "knowledge").glob("*.md")
        return any(text in path.read_text(encoding="utf-8") for path in files)

    def given(self, text: str = TEXT) -> bool:
        """Tell whether the remote has *text*."""
        command = ["git", f"--git-dir={self.remote}", "grep", "-q", "-F", text, "daybook"]
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    def hook(self, name: str, event: str, **fields: object) -> str:
        """Run a hook as the client does; return what it answers."""
        fields = {"session_id": "s1", "cwd": str(self.folder), **fields}
        process = run_hook(self.folder / name, event, fields, folder=self.folder, EMBEDDING_MODEL="none")
        assert process.returncode == 0, process.stderr
        return process.stdout.decode()


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    two = Two(tmp_path)
    yield two
    for opened in two.opened.values():
        opened.database.close()


def was_long_ago(home: Path) -> None:
    """Let the last exchange have been as long ago as one is awaited while a session runs."""
    at = time.time() - EXCHANGED_EVERY - 1
    os.utime(home / notes.FOLDER / notes.LAST, (at, at))


def came_earlier(home: Path) -> None:
    """Let what came have come a second sooner: the ledger's seconds do not tell more."""
    for ref, at in notes.came_of(home).items():
        notes.note_came(home, [ref], at - 1)


@pytest.mark.parametrize("capture", ["auto", "manual"])
def test_the_end_of_a_session_gives_what_is_known(two: Two, capture: str) -> None:
    (two.folder / "desk" / "config.toml").write_text(f'capture = "{capture}"\n', encoding="utf-8")
    transcript = two.folder / "s1.jsonl"
    transcript.write_text('{"type": "user"}\n', encoding="utf-8")
    two.remember("desk")

    two.hook("desk", "SessionEnd", transcript_path=str(transcript))

    eventually(two.given, "the remote has it")


def test_the_start_of_a_session_takes_what_other_machines_know(two: Two) -> None:
    two.remember("desk")
    work(lambda folder: two.store("desk"))

    with Served(two.folder / "laptop", two.folder) as server:
        server.greet()
        eventually(lambda: two.knows("laptop"), "the laptop has it")

        assert TEXT in two.hook("laptop", "SessionStart", source="startup")


def test_a_running_session_exchanges_now_and_then(two: Two) -> None:
    store = two.store("laptop")
    assert not goes_on(store)

    was_long_ago(store.home)

    assert goes_on(store)
    work(lambda folder: store)
    assert not goes_on(store)


def test_who_comes_while_an_exchange_runs_has_it_done_once_more(two: Two) -> None:
    desk = two.store("desk")
    with alone(desk, patience=0):  # an exchange that has read the files already
        two.remember("desk")
        work(lambda folder: desk)
        assert not two.given()

    assert goes_on(desk)
    work(lambda folder: desk)
    assert two.given() and not goes_on(desk)


def test_no_hook_waits_for_a_remote_that_never_answers(two: Two) -> None:
    two.remember("desk")
    sync(two.store("desk"))  # what a hook reads is made by others
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = notes.remote_of(two.folder / "desk")
        assert remote
        (two.folder / "desk" / notes.FOLDER / notes.ABOUT).write_text(
            json.dumps({"url": f"http://127.0.0.1:{silent.getsockname()[1]}/memory.git", "copy": remote.copy})
        )
        two.hook("desk", "SessionEnd", transcript_path=str(two.folder / "s1.jsonl"))
        silent.settimeout(PATIENCE)
        waiting, _ = silent.accept()  # the worker asks, and waits

        with waiting:
            assert TEXT in two.hook("desk", "SessionStart", source="startup")
            context = two.hook(
                "desk",
                "UserPromptSubmit",
                prompt="do deploys start from the release branch?",
                session_id="s2",
            )
            assert TEXT in context
            with Served(two.folder / "desk", two.folder) as server:
                assert TEXT in server.greet().call("recall", query="deploys release branch")
                assert "remembered" in server.call("remember", title="A bird", content="It is a heron.")
            status = run_daybook(two.folder / "desk", "status")
            assert status.returncode == 0 and "other machines" in status.stdout
            assert waiting.recv(4, socket.MSG_PEEK) == b"GET "  # all that time it waited


def test_offline_is_no_error(two: Two) -> None:
    two.remote.rename(two.folder / "away")
    two.remember("desk")

    report = work(lambda folder: two.store("desk"))

    assert report and not report.failed
    lines = run_daybook(two.folder / "desk", "status").stdout.splitlines()
    assert sum(str(two.remote) in line and "last exchange" in line for line in lines) == 1
    assert sum("could not be reached" in line for line in lines) == 1
    (two.folder / "away").rename(two.remote)
    work(lambda folder: two.store("desk"))
    assert two.given()
    assert "could not be reached" not in run_daybook(two.folder / "desk", "status").stdout


def test_without_a_remote_nothing_of_it_is_made_or_loaded(tmp_path: Path) -> None:
    opened = opened_at(tmp_path / "desk", tmp_path)
    work(lambda folder: opened.store())
    opened.database.close()
    code = (
        "import sys; from pathlib import Path; from tests.opened import opened_at\n"
        "from mcp_server.actions.upkeep.work import work\n"
        "opened = opened_at(Path(sys.argv[1])); work(lambda folder: opened.store())\n"
        "print([name for name in sys.modules if 'actions.remote' in name or name.endswith('repository')])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "desk")]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)

    assert "remote" not in process.stdout
    assert not (tmp_path / "desk" / notes.FOLDER).exists()


def test_what_came_after_a_session_began_is_told_once_with_its_next_prompt(two: Two) -> None:
    two.remember("laptop", "The laptop knows this.")
    work(lambda folder: two.store("laptop"))
    brief = two.hook("laptop", "SessionStart", source="startup")
    two.remember("desk")
    work(lambda folder: two.store("desk"))
    assert TEXT not in brief and "The laptop knows this." in brief
    prompt = "write me a poem about autumn"
    assert two.hook("laptop", "UserPromptSubmit", prompt=prompt) == ""

    work(lambda folder: two.store("laptop"))

    context = two.hook("laptop", "UserPromptSubmit", prompt=prompt)
    assert "came from another of the person's machines" in context and context.count(TEXT) == 1
    assert "The laptop knows this." not in context
    sync(two.store("laptop"))  # as the server does that runs beside
    assert two.hook("laptop", "UserPromptSubmit", prompt=prompt) == ""
    assert two.hook("laptop", "UserPromptSubmit", prompt="do deploys start from the release branch?") == ""
    came_earlier(two.folder / "laptop")
    new = two.hook("laptop", "SessionStart", source="startup", session_id="s2")
    assert TEXT in new
    assert two.hook("laptop", "UserPromptSubmit", prompt=prompt, session_id="s2") == ""
