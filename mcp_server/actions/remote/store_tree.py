"""
store_tree: the store's files as the tree that other machines get.

It has conversations only if the person wants that, of a project only its name and its git remote, and of this
machine's ledger the lines that matter on others; never index, logs, settings, work, history or trash.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from mcp_server.adapters import files, places
from mcp_server.adapters.index import events
from mcp_server.adapters.index.events import EventRow
from mcp_server.adapters.index.events.receipts import ASKED_IN
from mcp_server.adapters.ledger import Ledger
from mcp_server.adapters.remote.notes import Remote
from mcp_server.adapters.remote.repository import blob_id
from mcp_server.adapters.vault import Vault, stamps, stamps_in
from mcp_server.core.errors import Unreadable
from mcp_server.core.portable_path import without_home
from mcp_server.core.remote import OF_COPY, paths
from mcp_server.core.remote.tree_merge import Tree
from mcp_server.core.secrets.redaction import find_secrets
from mcp_server.store import Store

POSITIONS = "positions.json"  # in the tree that is noted for this machine: how far its ledger was read
MOST_LEDGER = 64 * 1024 * 1024  # bytes of one file of the ledger, which holds a month


@dataclass(slots=True)
class Disk:
    """
    What the files say: path → id, and the bytes of those that are new.

    `held_back` is path → why a file stays here. `emptied` is folder of which no file is left → the paths that
    were in it, `back` the paths that are missing and do not count as deleted. `positions` is file of the
    ledger → the byte up to which it is in the tree.
    """

    tree: dict[str, str] = field(default_factory=dict)
    new: dict[str, bytes] = field(default_factory=dict)
    held_back: dict[str, str] = field(default_factory=dict)
    emptied: dict[str, list[str]] = field(default_factory=dict)
    back: set[str] = field(default_factory=set)
    positions: dict[str, int] = field(default_factory=dict)


def vault_at(home: Path, path: str) -> Vault:
    """Return the vault to which the *path* of a memory belongs, whether or not its folder exists."""
    key = paths.vault_of(path)
    return places.user_vault(home) if key == places.USER_KEY else places.private_vault(home, key)


def read_memories(store: Store, remote: Remote, disk: Disk, last_tree: Tree) -> None:
    """
    Put the files of memories into *disk*; *last_tree* is the tree when they were read last.

    They are those of the person's own vault, and of the private one of each project.
    """
    closed: list[str] = []
    _read_vault(disk, places.user_vault(store.home), remote, last_tree, closed)
    folder = store.home / places.PROJECTS
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if not place.is_dir():
            continue
        if not paths.is_project_key(place.name):
            disk.held_back[f"{paths.PROJECTS}/{_readable(place.name)}"] = "has a name that no project has"
            continue
        _read_vault(disk, places.private_vault(store.home, place.name), remote, last_tree, closed)
        if about := _about_project(store.home, place.name):
            _put(disk, paths.of_vault(place.name, paths.PROJECT_FILE), about, last_tree)
    _note_missing(disk, remote, last_tree, tuple(f"{path}/" for path in closed))


def _read_vault(disk: Disk, vault: Vault, remote: Remote, last_tree: Tree, closed: list[str]) -> None:
    """Put the files of *vault* into *disk*; the folders that cannot be read are added to *closed*."""
    closed_here: list[str] = []
    files_here = [Path(stamp.path) for stamp in stamps(vault, closed_here)]
    files_here += [Path(stamp.path) for stamp in stamps_in(vault.root / paths.CANDIDATES, closed_here)]
    file_of = {_path_of(vault, path): path for path in files_here}
    for path, file in file_of.items():
        if paths.sort_of(path) is not paths.PathSort.MEMORY:
            disk.held_back[path] = "has a name that other systems do not allow"
        elif paths.is_conversation(path) and not remote.conversations:
            continue
        else:
            _read_file(disk, path, file, last_tree)
    closed += [_path_of(vault, Path(path)) for path in closed_here]


def _path_of(vault: Vault, file: Path) -> str:
    return paths.of_vault(vault.key, _readable(file.relative_to(vault.root).as_posix()))


def _readable(name: str) -> str:
    """Return *name* as text; bytes that are not text are escaped by a backslash, so it is no name of ours."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _read_file(disk: Disk, path: str, file: Path, last_tree: Tree) -> None:
    try:
        data = files.read(file)
    except FileNotFoundError:
        return  # the file was deleted a moment ago
    except Unreadable as error:
        disk.held_back[path] = error.reason
        data = b""
    text = data.decode("utf-8", "replace")
    if data and blob_id(data) == last_tree.get(path):
        disk.tree[path] = last_tree[path]
        return
    if data and (secrets := find_secrets(text)):
        disk.held_back[path] = f"seems to contain {secrets[0].kind}"
    if path in disk.held_back:
        if path in last_tree:
            disk.tree[path] = last_tree[path]
        return
    _put(disk, path, data, last_tree)


def _put(disk: Disk, path: str, data: bytes, last_tree: Tree) -> None:
    blob = blob_id(data)
    disk.tree[path] = blob
    if last_tree.get(path) != blob:
        disk.new[blob] = data


def _note_missing(disk: Disk, remote: Remote, last_tree: Tree, closed: tuple[str, ...]) -> None:
    """Note in *disk* what is not there of *last_tree*: in *closed* folders, and where no file is left."""
    folders_left = {_folder(path) for path in disk.tree if paths.sort_of(path) is paths.PathSort.MEMORY}
    for path in last_tree:
        if paths.sort_of(path) is not paths.PathSort.MEMORY:
            continue
        unwanted = paths.is_conversation(path) and not remote.conversations
        if unwanted or path.startswith(closed):
            disk.tree[path] = last_tree[path]
            disk.back.add(path)
        elif _folder(path) not in folders_left:
            disk.emptied.setdefault(_folder(path), []).append(path)


def _folder(path: str) -> str:
    """Return the folder of a vault in which *path* lies: knowledge, sessions, archive and so on."""
    return path[: len(path) - len(paths.in_vault(path))] + paths.in_vault(path).split("/")[0]


def _about_project(home: Path, key: str) -> bytes:
    """Return what other machines get of a project: its name and its git remote."""
    notes = places.project_notes(home, key)
    about = {name: str(notes[name]) for name in ("name", "remote") if notes.get(name)}
    return (json.dumps(about, sort_keys=True) + "\n").encode("ascii") if about else b""


def own_ledger(store: Store) -> list[Path]:
    """Return the files of the ledger that this machine writes."""
    return [file for file in Ledger(store.home / "ledger").paths() if OF_COPY not in file.name]


def read_own_ledger(
    store: Store, remote: Remote, disk: Disk, sent_data: dict[str, bytes], last_tree: Tree
) -> None:
    """
    Put this machine's ledger into *disk*: what *sent_data* (path → bytes) has of it, and its new lines.

    A line that is not complete yet waits.
    """
    for file in own_ledger(store):
        path = f"{paths.LEDGER}/{file.stem}{OF_COPY}{remote.copy}.jsonl"
        if paths.sort_of(path) is None:
            disk.held_back[f"{paths.LEDGER}/{file.name}"] = "has a name that no ledger file has"
            continue
        start = disk.positions.get(file.name, 0) if path in last_tree else 0
        new, end = _new_lines(file, start, questions=remote.questions)
        disk.positions[file.name] = end
        if new or path in sent_data:
            _put(disk, path, _without_folders(sent_data.get(path, b"")) + new, last_tree)


def read_other_ledgers(store: Store, remote: Remote, disk: Disk, last_tree: Tree) -> None:
    """Put the ledgers of other copies of the store into *disk*, unchanged."""
    for path in last_tree:
        if paths.sort_of(path) is paths.PathSort.LEDGER and paths.copy_of(path) != remote.copy:
            disk.tree[path] = last_tree[path]
            if not (store.home / path).is_file():
                disk.back.add(path)


def _new_lines(file: Path, start: int, *, questions: bool) -> tuple[bytes, int]:
    """Return the lines of *file* from byte *start* on that other machines get, and where they end."""
    data = files.read(file, MOST_LEDGER)
    end = data.rfind(b"\n") + 1
    if start > end:
        start = 0  # the file was replaced
    lines = (_leaving(line, questions=questions) for line in data[start:end].split(b"\n"))
    return b"".join(line + b"\n" for line in lines if line), end


def _leaving(line: bytes, *, questions: bool) -> bytes:
    """Return *line* as it leaves: without questions, if they stay here; b"" for what stays as a whole."""
    event, row = _read_line(line)
    if row is None or row.local:
        return b""
    return _without(line, event, {*row.stays, *(() if questions else ASKED_IN)})


def _without_folders(sent_lines: bytes) -> bytes:
    """
    Return lines that an earlier version sent without the folders that they name, each as long as it was.

    Other machines have read the file up to some byte, and go on from there.
    """
    lines = sent_lines.split(b"\n")
    return b"\n".join(_without_folder(line).ljust(len(line)) for line in lines)


def _without_folder(line: bytes) -> bytes:
    if b'"place"' not in line and _home_in_json() not in line.decode("latin-1"):
        return line
    event, row = _read_line(line)
    return _without(line, event, {*row.stays}) if row else line


def _read_line(line: bytes) -> tuple[dict[str, object], EventRow | None]:
    """Return the event in *line* and its row; the row is None for what this version does not know."""
    try:
        event = json.loads(line)
        return event, events.table().get(event["event"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, None


def _without(line: bytes, event: dict[str, object], keys: set[str]) -> bytes:
    """Return *line*, in which *event* is, without *keys* and without the name of the person's home folder."""
    if not event.keys().isdisjoint(keys):
        remaining = {key: value for key, value in event.items() if key not in keys}
        line = json.dumps(remaining, ensure_ascii=True).encode("ascii")
    return without_home(line.decode("latin-1"), _home_in_json()).encode("latin-1")


def _home_in_json() -> str:
    return json.dumps(os.path.expanduser("~"))[1:-1]
