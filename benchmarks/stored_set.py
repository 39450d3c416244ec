"""A question set in a store of its own, put there the way Daybook puts everything there."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measures import DEPTH
from benchmarks.question_sets import Document, QuestionSet
from mcp_server import core
from mcp_server.actions.memory.conversation import save_conversation
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.search import vectors
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import Rejected
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import MAX_TEXT, Kind, Level
from mcp_server.core.search.query import Answer, Filter, Mode, Query, Sort
from mcp_server.core.text.titles import clipped, title_of
from mcp_server.store import Store

FILLED = "filled.json"
SHAPING = (
    "core/memory.py",
    "core/sessions/conversation.py",
    "core/sessions/passages.py",
    "core/text/languages.py",
    "core/text/words.py",
    "adapters/index/database/schema.py",
    "adapters/index/memories/writing.py",
    "adapters/index/search/maxsim.py",
    "adapters/onnx_embedder.py",
)

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class StoredSet:
    """
    A set and its store: `documents` gives the memory of each document.

    Documents that say the same have one memory; `cut` counts those that were too long to be stored whole.
    `kinds` are asked for where some documents are what somebody said: else that stands below, or not at all.
    """

    opened: Opened
    folder: Path
    documents: dict[str, str]
    cut: int
    kinds: tuple[Kind, ...] = ()

    def store(self, group: str) -> Store:
        """Return the store as seen from the project of *group*."""
        return self.opened.store(folder=project_folder(self.folder, group))

    def relevant(self, grades: dict[str, int]) -> dict[str, int]:
        """Return the grade of each memory, given those of documents."""
        counts: dict[str, int] = {}
        for document, grade in grades.items():
            memory = self.documents.get(document, document)  # what could not be stored is never found
            counts[memory] = max(grade, counts.get(memory, 0))
        return counts


def ask(stored: StoredSet, text: str, group: str, mode: Mode, *, parts: tuple[str, ...] = ()) -> Answer:
    """
    Return what recall answers to *text* in the project of *group*; in all projects when that is ''.

    Where there are *parts* they are asked one by one, as those of a prompt are.
    """
    everywhere = Filter(all_projects=not group, kinds=stored.kinds)
    query = Query(text, mode=mode, sort=Sort.RELEVANCE, limit=DEPTH, filter=everywhere, parts=parts)
    return recall(stored.store(group), query)


def open_stored(folder: Path, questions: QuestionSet) -> StoredSet | None:
    """Return the set kept in *folder*; None when there is none of this data, stored by this code."""
    try:
        note = json.loads((folder / FILLED).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if note["made_of"] != _made_of(questions):
        return None
    return StoredSet(_opened(folder), folder, note["documents"], note["cut"], kinds_of(questions))


def fill(folder: Path, questions: QuestionSet, *, progress: Progress) -> StoredSet:
    """Store every document of *questions* below the empty *folder*; *progress* hears of each."""
    opened = _opened(folder)
    stores = {group: opened.store(folder=project_folder(folder, group)) for group in questions.groups}
    documents: dict[str, str] = {}
    cut = 0
    for document in questions.documents:
        cut += len(document.text) > MAX_TEXT
        with contextlib.suppress(Rejected):  # nothing is left of it without control characters
            documents[document.id] = put(stores[document.group], document)
        progress(1)
    note = {"made_of": _made_of(questions), "documents": documents, "cut": cut}
    (folder / FILLED).write_text(json.dumps(note), encoding="utf-8")
    return StoredSet(opened, folder, documents, cut, kinds_of(questions))


def put(store: Store, document: Document) -> str:
    """Store one document in the project of *store*, an utterance as a conversation; return its id."""
    text = document.text[:MAX_TEXT].strip() or document.title
    if _is_said(document):
        message = {"role": document.speaker, "content": text, "timestamp": document.timestamp}
        return save_conversation(store, document.title, [message]).memory.id
    title = document.title or title_of(text)
    draft = Draft(clipped(title) or "Note", text, level=Level.PROJECT)
    return remember(store, draft, keep_secrets=True).memory.id


def kinds_of(questions: QuestionSet) -> tuple[Kind, ...]:
    """Return the kinds to ask for in a set: where some documents were said, those there are; else none."""
    is_conversation = {_is_said(document) for document in questions.documents}
    return (
        tuple(Kind.CONVERSATION if spoken else Kind.KNOWLEDGE for spoken in is_conversation)
        if True in is_conversation
        else ()
    )


def _is_said(document: Document) -> bool:
    return bool(document.speaker or document.timestamp)


def embed(stored: StoredSet, *, progress: Progress) -> None:
    """Give every passage its vector, if there is an embedding model."""
    embed_pending(stored.opened.store(), progress=progress)


def count_pending(stored: StoredSet) -> int:
    """Return how many passages still lack their vector; 0 without an embedding model."""
    meaning = stored.opened.meaning()
    if meaning is None:
        return 0
    with stored.opened.database.read() as db:
        return vectors.count_pending(db, meaning.embedder.model)


def project_folder(folder: Path, group: str) -> Path:
    """Return the folder that stands for the project of *group*."""
    digest = hashlib.blake2b(group.encode("utf-8"), digest_size=6).hexdigest()
    return folder / "projects" / digest


def _opened(folder: Path) -> Opened:
    place = project_folder(folder, "")
    model = {name: os.environ[name] for name in ("EMBEDDING_MODEL",) if name in os.environ}
    opened = Opened({**model, "MEMORY_DIR": str(folder / "memory")}, folder=place)
    project = opened.store().project
    if project is None or project.root != place.resolve():
        raise ValueError(f"{folder} lies in a git repository, which would make all groups one project.")
    return opened


def _made_of(questions: QuestionSet) -> str:
    """Return a digest of the data and of the code that shapes what is stored."""
    package = Path(core.__file__).resolve().parent.parent
    parts = [questions.digest.encode(), *((package / name).read_bytes() for name in SHAPING)]
    return hashlib.blake2b(b"\0".join([*parts, Path(__file__).read_bytes()]), digest_size=16).hexdigest()
