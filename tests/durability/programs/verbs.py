"""Every verb that writes files, each ready to run on any store: `VERBS[name](place)`."""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.capture.mine import log_output
from mcp_server.actions.changes.undo import last_change, undo
from mcp_server.actions.context.claude_md import choose, refresh
from mcp_server.actions.exchange.export import export_folder, export_json, write_document
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.candidate import propose, review_candidates
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.conversation import save_conversation
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.repository import init, leave, share
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.session import save_session
from mcp_server.actions.model.setup import Choices, setup
from mcp_server.actions.review.entries import Verdict
from mcp_server.actions.review.review import QUESTION, review, settle
from mcp_server.actions.status.doctor import doctor
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.importing import import_from
from tests.opened import opened_at

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Place:
    """A store, and the folders of the person: a project that is worked in, notes, and letters."""

    folder: Path

    def __post_init__(self) -> None:
        for name in ("shop", "notes", "letters"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    @property
    def project(self) -> Path:
        return self.folder / "shop"

    def store(self) -> Store:
        return opened_at(self.folder / "memory", self.project).store()


def new() -> str:
    """Return a word that nothing was called before."""
    return f"{next(_numbers)}-{os.urandom(4).hex()}"


def _known(store: Store, level: Level | None = None) -> str:
    return remember(store, Draft(f"Known {new()}", f"text {new()}", level=level)).memory.id


def _in_a_subfolder(store: Store) -> str:
    memory_id = _known(store, Level.USER)
    folder = store.home / "knowledge" / "birds" / "grey"
    folder.mkdir(parents=True, exist_ok=True)
    (store.home / "knowledge" / f"{memory_id}.md").rename(folder / f"{memory_id}.md")
    sync(store)
    return memory_id


def _notes(place: Place) -> Path:
    folder = place.folder / "notes"
    (folder / f"{new()}.md").write_text(f"# Note {new()}\n\nIt says {new()}.\n", encoding="utf-8")
    return folder


def _candidate(store: Store, level: Level) -> None:
    draft = Draft(f"Maybe {new()}", f"text {new()}", level=level)
    propose(store, draft, key=f"mined-{os.urandom(6).hex()}", confidence=0.5, why="waits for you")


def _block(place: Place) -> None:
    store = place.store()
    _known(store)
    choose(store, "CLAUDE.md")
    _known(store)
    refresh(store)


def _block_taken_out(place: Place) -> None:
    (place.project / "CLAUDE.local.md").write_text("mine\n", encoding="utf-8")
    store = place.store()
    choose(store, "CLAUDE.local.md")
    choose(store, "none")


def _document(place: Place) -> None:
    store = place.store()
    write_document(store, place.folder / "letters" / f"{new()}.json", repr(export_json(store)).encode())


def _forget_and_restore(place: Place) -> None:
    store = place.store()
    memory_id = _known(store, Level.USER)
    forget(store, memory_id)
    restore(store, memory_id)


def _settings(place: Place) -> None:
    setup(place.store(), Choices(daily_calls=1 + int.from_bytes(os.urandom(1), "big")))


def _repository(place: Place) -> None:
    store = place.store()
    _known(store)
    init(store)


def _undone(store: Store) -> None:
    memory_id = _known(store)
    revise(store, memory_id, Revision(text=new()))
    undo(store, last_change(store, memory_id))


def _merged(store: Store) -> None:
    title = f"Timeout of gateway {new()}"
    for words in ("30 seconds", "60 seconds"):
        remember(store, Draft(title, f"The timeout is {words}.", type="decision"))
    entry = next(entry for entry in review(store).entries if entry.kind == QUESTION)
    settle(store, entry, Verdict.MERGE)


VERBS: dict[str, Callable[[Place], object]] = {
    "remember": lambda place: _known(place.store()),
    "remember for the user": lambda place: _known(place.store(), Level.USER),
    "revise": lambda place: revise(store := place.store(), _known(store), Revision(text=new())),
    "revise in a subfolder": lambda place: revise(
        store := place.store(), _in_a_subfolder(store), Revision(text=new())
    ),
    "change level": lambda place: change_level(store := place.store(), _known(store), Level.USER),
    "forget": lambda place: forget(store := place.store(), _known(store)),
    "forget for good": lambda place: forget(store := place.store(), _known(store), forever=True),
    "restore": _forget_and_restore,
    "save_session": lambda place: save_session(place.store(), new(), "half done", folder=place.project),
    "save_conversation": lambda place: save_conversation(
        place.store(), new(), [{"role": "user", "content": new()}]
    ),
    "propose": lambda place: _candidate(place.store(), Level.PROJECT),
    "propose for the user": lambda place: _candidate(place.store(), Level.USER),
    "review": lambda place: review_candidates(place.store()),
    "log_output": lambda place: log_output(place.store(), f"FAILED {new()}"),
    "setup": _settings,
    "init CLAUDE.md": _block,
    "init none": _block_taken_out,
    "import": lambda place: import_from(place.store(), "notes", _notes(place)),
    "export": lambda place: export_folder(place.store(), place.folder / f"export-{new()}"),
    "export as JSON": _document,
    "doctor": lambda place: list(doctor(place.store(), plugin=Path("/"))),
    "init --repository": _repository,
    "init --no-repository": lambda place: (_repository(place), leave(place.store())),
    "undo": lambda place: _undone(place.store()),
    "archive": lambda place: archive(store := place.store(), [_known(store)]),
    "merge": lambda place: _merged(place.store()),
    "share": lambda place: (_repository(place), share(place.store())),
    "revise in the repository": lambda place: (
        _repository(place), revise(store := place.store(), _known(store), Revision(text=new()))
    ),
}  # fmt: skip
