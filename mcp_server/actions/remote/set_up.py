"""set up: add, show and remove the remote by which the person's machines exchange their memory."""

import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.remote.exchange import Exchanged, alone, exchange, remote_of, repository_of
from mcp_server.actions.remote.store_tree import Disk, read_memories, read_own_ledger
from mcp_server.adapters.index.events.receipts import ASKED_IN
from mcp_server.adapters.remote import notes
from mcp_server.adapters.remote.notes import Last, Remote
from mcp_server.adapters.remote.repository import BRANCH, folder_of, is_folder, is_half_made
from mcp_server.core.addresses import shown_url
from mcp_server.core.errors import Rejected
from mcp_server.core.remote import paths
from mcp_server.core.remote.url import check_url
from mcp_server.store import Store

FIRST = 600.0  # seconds that the remote may take for one step of a command
PATIENCE = 30.0  # seconds that a command waits for an exchange in the background


@dataclass(frozen=True, slots=True)
class Leaving:
    """
    What would leave for the remote at *url*.

    `files` is folder → number of files in it, over all vaults; `projects` are their keys. `events` is kind of
    event → number of lines of the ledger, `questions` how many of them hold a question or a prompt. `held` is
    path → why that file stays here. `makes`: the remote is a folder that is made now. `filled`: another
    machine sent something already.
    """

    remote: Remote
    files: dict[str, int]
    projects: tuple[str, ...]
    events: dict[str, int]
    questions: int
    size: int
    held: dict[str, str]
    makes: bool
    filled: bool

    @property
    def url(self) -> str:
        """The address, without a password in it."""
        return shown_url(self.remote.url)


@dataclass(frozen=True, slots=True)
class RemoteState:
    """The remote of a store and how the last exchange ended; `url` without a password in it."""

    url: str
    conversations: bool
    questions: bool
    last: Last


def look_ahead(store: Store, url: str, *, conversations: bool = False, questions: bool = True) -> Leaving:
    """
    Return what would leave for the remote *url*; nothing is written and nothing leaves.

    Raises Rejected when there is a remote already, for an address that is none, and for a repository that
    holds something else; RemoteUnavailable when it does not answer.
    """
    if existing := notes.remote_of(store.home):
        raise Rejected(
            f"This store has the remote {shown_url(existing.url)}.",
            "Remove it first: daybook remote remove",
        )
    address = check_url(os.path.expanduser(url) if url.startswith("~") else url)
    remote = Remote(address, os.urandom(6).hex(), conversations, questions)
    makes = _is_to_be_made(address)
    branches = [] if makes else list(repository_of(store).branches(address, timeout=FIRST))
    if others := [name for name in branches if name != BRANCH]:
        raise Rejected(
            f"{shown_url(address)} contains something else: the branch {others[0]}.",
            "Create an empty repository just for this, one that only you can read.",
        )
    memories, ledger = Disk(), Disk()
    read_memories(store, remote, memories, {})
    read_own_ledger(store, remote, ledger, {}, {})
    lines = [json.loads(line) for data in ledger.new.values() for line in data.splitlines()]
    of_memories = [path for path in memories.tree if paths.sort_of(path) is paths.PathSort.MEMORY]
    return Leaving(
        remote=remote,
        files=dict(Counter(paths.in_vault(path).split("/")[0] for path in of_memories)),
        projects=tuple(sorted({paths.vault_of(path) for path in of_memories} - {paths.USER})),
        events=dict(Counter(str(line["event"]) for line in lines)),
        questions=sum(any(map(line.get, ASKED_IN)) for line in lines),
        size=sum(len(data) for side in (memories, ledger) for data in side.new.values()),
        held=memories.held_back | ledger.held_back,
        makes=makes,
        filled=BRANCH in branches,
    )


def add(store: Store, leaving: Leaving) -> Exchanged:
    """Add the remote of *leaving*, and exchange; when the first exchange fails, nothing is added."""
    with alone(store, patience=PATIENCE):
        repository = repository_of(store)
        shutil.rmtree(repository.folder, ignore_errors=True)
        if leaving.makes:
            repository.create(folder_of(leaving.remote.url))
        notes.note_remote(store.home, leaving.remote)
    exchanged = exchange(store, timeout=FIRST, patience=PATIENCE)
    if exchanged.trouble:
        remove(store)
    return exchanged


def remove(store: Store) -> str:
    """
    Forget the remote, and delete our repository; the remote keeps what it has, the memories stay here.

    Return its address without a password. Raises Rejected without a remote.
    """
    remote = remote_of(store)
    with alone(store, patience=PATIENCE):
        for name in (notes.ABOUT, notes.LAST, notes.CAME, notes.ASKED):
            (store.home / notes.FOLDER / name).unlink(missing_ok=True)
        shutil.rmtree(repository_of(store).folder, ignore_errors=True)
    return shown_url(remote.url)


def state_of(home: Path) -> RemoteState | None:
    """Return the remote of the store in *home* and how the last exchange ended, None without a remote."""
    remote = notes.remote_of(home)
    if remote is None:
        return None
    return RemoteState(shown_url(remote.url), remote.conversations, remote.questions, notes.last_of(home))


def _is_to_be_made(address: str) -> bool:
    """Tell whether *address* is an empty or missing folder; raises Rejected for one with other things."""
    if not is_folder(address):
        return False
    folder = folder_of(address)
    if not folder.parent.is_dir():
        raise Rejected(
            f"{folder.parent} does not exist.", "Connect the disk, or make the folder above it first."
        )
    if not folder.exists() or is_half_made(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return True
    if not ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
        raise Rejected(
            f"{folder} is neither empty nor a bare git repository.", "Name a folder that does not exist yet."
        )
    return False
