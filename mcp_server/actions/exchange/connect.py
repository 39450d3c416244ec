"""
connect: let other clients of MCP start Daybook's server, and take that back.

What is put into a client's settings is noted, so that it can be taken out to the byte. All clients start one
launcher below the store, which finds the Daybook installed now: a plugin's folder changes with every update.
"""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcp_server.adapters import files, leftovers
from mcp_server.adapters.json_file import read_object, write_object
from mcp_server.core.errors import Rejected, Unreadable
from mcp_server.core.exchange import clients, settings_text
from mcp_server.core.exchange.clients import CLIENTS, NAME, Client
from mcp_server.store import Store

LAUNCHER = "bin/daybook"  # below the store, and in the plugin
LOCK = ".connect.lock"
CONNECTED = "connected.json"  # in the store: client → what was put into which file
WAS = "was"  # in a note: the text of a file without settings before the edit, null where there was no file
HANDED_ON = ("MEMORY_DIR", "DAYBOOK_VENV", "DAYBOOK_PYTHON")
"""Variables that the launcher sets, because clients pass on few variables of the person's shell."""
MOST = 8 << 20  # bytes of a file of settings
_BY_HAND = "'daybook connect {} --print' prints what to add by hand."


@dataclass(frozen=True, slots=True)
class ListedClient:
    """A client: its file, '' where its documents name none; whether it is on this machine, and connected."""

    name: str
    title: str
    file: str
    present: bool
    connected: bool
    trouble: str
    """Why its file cannot be read, '' when it can."""


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """What is to be written: the file, its text before (None where there is no file) and after."""

    client: Client
    file: Path
    before: str | None
    after: str
    piece: str

    @property
    def changes(self) -> bool:
        return self.after != self.before


def list_clients(store: Store, environment: Mapping[str, str], home: str) -> list[ListedClient]:
    """Return every client that is known, as it is on this machine."""
    clients = []
    for client in CLIENTS.values():
        path, trouble, connected = _file(client, environment, home), "", False
        if path:
            try:
                connected = _entry(client, _text(path) or "") == _ours(store, client)
            except (Rejected, Unreadable) as error:
                trouble = str(error)
        present = bool(path and path.parent.is_dir())
        clients.append(ListedClient(client.name, client.title, str(path or ""), present, connected, trouble))
    return clients


def by_hand(store: Store, client: Client) -> str:
    """Return the text of a settings file for *client* that holds our entry alone, to be put in by hand."""
    text = settings_text.EMPTY[client.form]
    return settings_text.put_in(text, client.form, client.under, NAME, _ours(store, client))[0]


def plan(store: Store, client: Client, environment: Mapping[str, str], home: str) -> SettingsEdit:
    """Return what connecting *client* writes; nothing when it is connected. Raises Rejected."""
    path = _present(client, environment, home)
    text = _text(path)
    before = settings_text.EMPTY[client.form] if text is None or not text.strip() else text
    our_entry = _ours(store, client)
    try:
        entry = _entry(client, before)
        if entry == our_entry:
            return SettingsEdit(client, path, text, before, "")
        if entry is not None:
            raise Rejected(f"It already has another entry '{NAME}'.", "Remove that entry first, or leave it.")
        after, piece = settings_text.put_in(before, client.form, client.under, NAME, our_entry)
    except Rejected as error:
        hint = f"{error.hint} {_BY_HAND.format(client.name)}"
        raise Rejected(f"{path} was not changed. {error}", hint) from None
    return SettingsEdit(client, path, text, after, piece)


def connect(store: Store, planned: SettingsEdit, environment: Mapping[str, str], *, root: Path) -> None:
    """Write what was planned, and the launcher that starts the Daybook in *root*. Raises Conflict, Held."""
    with _alone(store):
        write_launcher(store, environment, root=root)
        if not planned.changes:
            return
        path, client = planned.file, planned.client
        note: dict[str, str | None] = {"file": str(path), "piece": planned.piece}
        if not (planned.before or "").strip():
            note[WAS] = planned.before
        _note(store, client.name, note)
        with leftovers.leaving_nothing(path.parent):
            _write(path, planned.before, planned.after)


def plan_back(store: Store, client: Client, environment: Mapping[str, str], home: str) -> SettingsEdit | None:
    """Return what disconnecting *client* writes, None when it is not connected. Raises Rejected."""
    note = _notes(store).get(client.name, {})
    path = Path(str(note["file"])) if note else _file(client, environment, home)
    text = _text(path) if path else None
    if path is None or text is None:
        return None
    try:
        entry = _entry(client, text)
        if entry is None:
            return None
        if entry != _ours(store, client):
            raise Rejected(
                f"Its entry '{NAME}' is not the one that Daybook wrote.",
                "Remove it in an editor if you no longer want it.",
            )
        piece = str(note.get("piece", ""))
        after = settings_text.take_out(text, client.form, client.under, NAME, piece)
    except Rejected as error:
        raise Rejected(f"{path} was not changed. {error}", error.hint) from None
    return SettingsEdit(client, path, text, after, piece)


def disconnect(store: Store, client: Client, planned: SettingsEdit | None) -> None:
    """
    Write *planned*, delete a file made only for this, and the launcher when no client needs it.

    Raises Conflict, Held.
    """
    with _alone(store):
        note = _notes(store).get(client.name, {})
        if planned:
            after: str | None = planned.after
            if WAS in note and after == settings_text.EMPTY[client.form]:
                after = note[WAS]
            with leftovers.leaving_nothing(planned.file.parent):
                if after is None:
                    files.delete(planned.file, expected=files.digest(_bytes(planned.before or "")))
                else:
                    _write(planned.file, planned.before, after)
        _note(store, client.name, None)
        if not _notes(store):
            path = store.home / LAUNCHER
            with leftovers.leaving_nothing(path.parent), contextlib.suppress(FileNotFoundError):
                files.delete(path)
            with contextlib.suppress(OSError):
                path.parent.rmdir()


def write_launcher(store: Store, environment: Mapping[str, str], *, root: Path) -> None:
    """Write the launcher that all clients start, unless it says the same already."""
    path = store.home / LAUNCHER
    script = launcher(root, {name: environment[name] for name in HANDED_ON if environment.get(name)})
    try:
        if (former := files.read(path)) != _bytes(script):
            files.replace(path, _bytes(script), expected=files.digest(former))
    except FileNotFoundError:
        files.make_folder(path.parent)
        files.write_new(path, _bytes(script))
    path.chmod(0o700)  # also when it was there: who wrote it may have been killed before this


def launcher(root: Path, variables: Mapping[str, str]) -> str:
    """
    Return a script that becomes the launcher of the Daybook in *root*, with *variables* set.

    Of a plugin that Claude Code keeps by version, the version installed last is started: the one whose inode
    changed last (ctime), because a file's mtime may be older than its installation.
    """
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    kept_by_version = root.parts[-5:-3] == ("plugins", "cache")
    place = root.parent if kept_by_version else root
    newest = '"$(ls -tcd "$place"/*/bin/daybook 2>/dev/null | head -n 1)"'
    return (
        "#!/bin/sh\n"
        "# Starts Daybook's server for other clients; written by 'daybook connect'.\n"
        f"{exports}place={shlex.quote(str(place))}\n"
        f"launcher={newest if kept_by_version else '$place/bin/daybook'}\n"
        '[ -x "$launcher" ] || {\n'
        """    printf "daybook: it left %s: run 'daybook connect' where it is now.\\n" "$place" >&2\n"""
        "    exit 1\n"
        "}\n"
        'exec "$launcher" "$@"\n'
    )


@contextlib.contextmanager
def _alone(store: Store) -> Iterator[None]:
    """Keep other processes from connecting and disconnecting while the block runs: all share one note."""
    files.make_folder(store.home)
    with files.lock(store.home / LOCK):
        yield


def _ours(store: Store, client: Client) -> dict[str, object]:
    return clients.entry(client, str(store.home / LAUNCHER))


def _entry(client: Client, text: str) -> object:
    """Return the entry of our name in *text*, None without one. Raises Rejected."""
    if not text.strip():
        return None
    entries = settings_text.read(text, client.form).get(client.under)
    return entries.get(NAME) if isinstance(entries, dict) else None


def _file(client: Client, environment: Mapping[str, str], home: str) -> Path | None:
    """Return the settings file of *client*, a symbolic link followed; None where its documents name none."""
    places = [Path(place) for place in clients.files_of(client, sys.platform, environment, home)]
    if not places:
        return None
    return Path(os.path.realpath(next((place for place in places if place.exists()), places[-1])))


def _present(client: Client, environment: Mapping[str, str], home: str) -> Path:
    path = _file(client, environment, home)
    if sys.platform == "win32":  # the launcher is a script for a shell
        raise Rejected(
            "Other clients cannot be connected on Windows yet.",
            "Put the whole path of the plugin's bin\\daybook.cmd, with 'serve', into the client's settings.",
        )
    if path is None:
        raise Rejected(f"{client.title}'s documentation names no settings file for this system.", "")
    if not path.parent.is_dir():
        raise Rejected(
            f"{client.title} is not on this machine: there is no folder {path.parent}.",
            "Start it once, then try again.",
        )
    return path


def _text(path: Path) -> str | None:
    """Return what a file of settings says, None where there is none. Raises Rejected, Unreadable."""
    try:
        return files.read(path, MOST).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Rejected(f"{path} is not UTF-8 text.", "Correct it first.") from None


def _write(path: Path, before: str | None, after: str) -> None:
    if before is None:
        files.write_new(path, _bytes(after))
    else:
        files.replace(path, _bytes(after), expected=files.digest(_bytes(before)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8")


def _notes(store: Store) -> dict[str, dict[str, str | None]]:
    return read_object(store.home / CONNECTED)


def _note(store: Store, name: str, details: Mapping[str, str | None] | None) -> None:
    """Note what was put into the file of the client *name*; None removes the note."""
    path = store.home / CONNECTED
    notes = {**_notes(store), name: details}
    remaining = {client: note for client, note in notes.items() if note is not None}
    if remaining:
        files.make_folder(store.home)
        write_object(path, remaining)
    else:
        files.delete(path)
