"""No folder of a machine leaves it: a home folder has the person's name."""

import subprocess
from pathlib import Path

import pytest

from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.exchange.seed import seed_from_file
from mcp_server.actions.files.read import read
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.session import restore_session, save_session
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.remote.exchange import exchange
from mcp_server.actions.status.stats import get_stats
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.search.query import Filter, Query
from tests.actions.remote.conftest import Machines
from tests.importing import import_from
from tests.memories import stored

NAME = "jane-q-person"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of the person who works here."""
    folder = tmp_path / NAME
    (folder / "notes").mkdir(parents=True)
    (folder / "shop").mkdir()
    (folder / "notes" / "deploy.md").write_text("# Deploy\n\nDeploys start from the release branch.\n")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    return folder


def sent(remote: Path) -> str:
    """Return everything that was ever pushed to *remote*: names, messages, and the bytes of all files."""
    git = ["git", "-C", str(remote)]
    listed = subprocess.run(
        [*git, "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
    ).stdout
    log = subprocess.run([*git, "log", "--all", "--name-only"], capture_output=True, check=True).stdout
    return (listed + log).decode("utf-8", "replace")


def test_no_import_document_or_touched_file_names_the_persons_home(machines: Machines, person: Path) -> None:
    desk = machines.joined("desk", person / "shop")
    client = machines.folder / "client-of-jane"
    client.mkdir()
    (client / "queue.md").write_text("The queue is retried five times.\n")
    import_from(desk, "notes", person / "notes")
    import_from(desk, "notes", client)
    seed_from_file(desk, person / "notes" / "deploy.md")
    file = person / "shop" / "src" / "pay.py"
    remember(desk, Draft("Webhook", "The webhook needs the raw body.", touches=(f"{file}:4", "src/a.py")))
    shell = stored(desk, "The shell loads the proxy.", level=Level.USER)
    revise(desk, shell, Revision(touches=(str(person / ".zshrc"),)))
    save_session(desk, "Refunds", "Half done.", files=[str(file)], folder=person / "shop")

    exchange(desk)

    pushed = sent(machines.remote)
    assert "src/pay.py:4" in pushed and "~/.zshrc" in pushed and '"event": "imported"' in pushed
    assert [line for line in pushed.splitlines() if NAME in line or client.name in line] == []


def test_a_touched_file_is_asked_for_by_its_whole_path_and_looked_at_where_it_is(
    machines: Machines, person: Path
) -> None:
    desk = machines.open("desk", person / "shop")
    file = person / "shop" / "src" / "pay.py"
    webhook = stored(desk, "The webhook needs the raw body.", touches=(f"{file}:4",))
    shell = stored(desk, "The shell loads the proxy.", level=Level.USER, touches=(str(person / ".zshrc"),))
    (person / ".zshrc").touch()
    gone = [str(file), str(person / "gone.txt"), str(person / ".zshrc")]
    save_session(desk, "Refunds", "Half done.", files=gone, folder=person / "shop")

    for path, memory_id in ((file, webhook), ("src/pay.py", webhook), (person / ".zshrc", shell)):
        asked = Filter(touches=str(path), kinds=(Kind.KNOWLEDGE,))
        assert [row.id for row in list_memories(desk, asked).rows] == [memory_id]
        hits = recall(desk, Query("the webhook or the shell", filter=asked)).hits
        assert [hit.id for hit in hits] == [memory_id]
    _, since = restore_session(desk, "latest", folder=person / "shop")
    assert set(since.files) >= {"src/pay.py (gone)", "~/gone.txt (gone)"}
    assert "~/.zshrc (gone)" not in since.files


def test_an_import_is_known_again_and_taken_back_after_it_was_sent(machines: Machines, person: Path) -> None:
    desk = machines.joined("desk")
    import_from(desk, "notes", person / "notes")
    exchange(desk)

    (again,) = import_from(desk, "notes", person / "notes")
    undo(desk, last_change(desk))

    assert [item.outcome for item in again.items] == ["unchanged"]
    assert list_memories(desk, Filter()).total == 0


def test_what_was_sent_with_a_folder_loses_it_and_is_not_read_twice(
    machines: Machines, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(person / "shop"))  # so the folder of the notes is not known as the home
    desk, laptop = machines.joined("desk"), machines.joined("laptop")
    seed_from_file(desk, person / "notes" / "deploy.md")
    kept = stored(desk, "The queue is retried five times.")
    machines.meet(desk, laptop)
    (ledger,) = (laptop.home / "ledger").glob("*@*.jsonl")
    before, counted = ledger.read_bytes(), get_stats(laptop)
    assert NAME in before.decode()
    monkeypatch.setenv("HOME", str(person))

    machines.meet(desk, laptop)

    after = ledger.read_bytes()
    assert NAME not in after.decode() and len(after) == len(before)
    assert get_stats(laptop) == counted and read(laptop, kept).memory.title
