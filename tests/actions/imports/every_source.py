"""Every source from which something can be taken in, and how facts are written there."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.exchange import seed
from mcp_server.actions.exchange.auto_memory import import_auto_memory
from mcp_server.actions.exchange.imports.batch import Imported, Item
from mcp_server.adapters.auto_memory_folder import slug_of
from mcp_server.store import Store
from tests.actions.imports.imported import mem, state
from tests.importing import import_from

Facts = Mapping[str, str]
TITLE = "Ports of the shop"


@dataclass(frozen=True, slots=True)
class Source:
    """
    How facts (key → words) are `written` below a folder, and `taken` in from there.

    `merges`: two records with the same words are one memory, because nothing but words tells them apart.
    """

    written: Callable[[Path, Facts], None]
    taken: Callable[[Store, Path, bool], list[Imported]]
    merges: bool = True


@dataclass(frozen=True, slots=True)
class World:
    """A store, and a source beside it."""

    store: Store
    source: Source
    place: Path

    def there(self, **facts: str) -> None:
        """Let the source say *facts* and nothing else."""
        self.source.written(self.place, facts)

    def take(self, *, dry_run: bool = False) -> list[Item]:
        """Take in what is there; return what became of each record."""
        return [
            item for report in self.source.taken(self.store, self.place, dry_run) for item in report.items
        ]


def _import(source: str, name: str = "") -> Callable[[Store, Path, bool], list[Imported]]:
    return lambda store, place, dry_run: import_from(store, source, place / name, dry_run=dry_run)


def _memory_mcp(place: Path, facts: Facts) -> None:
    state(place / "state.json", *({**mem(1, words), "id": f"mem_1_{key}"} for key, words in facts.items()))


def _database(place: Path, facts: Facts) -> None:
    place.mkdir(exist_ok=True)
    (place / "memory.db").unlink(missing_ok=True)
    with closing(sqlite3.connect(place / "memory.db")) as db:
        db.execute("CREATE TABLE memories (id INTEGER, content TEXT)")
        rows = [(ord(key[0]), words) for key, words in facts.items()]
        db.executemany("INSERT INTO memories VALUES (?, ?)", rows)
        db.commit()


def _graph(place: Path, facts: Facts) -> None:
    nodes = {f"node-{key}": {"gist": words} for key, words in facts.items()}
    place.mkdir(exist_ok=True)
    (place / "graph.json").write_text(json.dumps({"nodes": nodes, "edges": []}), encoding="utf-8")


def _jsonl(place: Path, facts: Facts) -> None:
    place.mkdir(exist_ok=True)
    lines = [
        {"type": "entity", "name": f"Thing {key}", "entityType": "thing", "observations": [words]}
        for key, words in facts.items()
    ]
    (place / "memory.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")


def _json(place: Path, facts: Facts) -> None:
    place.mkdir(exist_ok=True)
    entries = [{"id": key, "title": TITLE, "content": words} for key, words in facts.items()]
    (place / "export.json").write_text(json.dumps({"memories": entries}), encoding="utf-8")


def _files(place: Path, texts: Mapping[str, str]) -> None:
    """Let the folder *place* hold these files and no others."""
    place.mkdir(parents=True, exist_ok=True)
    for path in place.glob("*.md"):
        path.unlink()
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")


def _claude_memory(place: Path, facts: Facts) -> None:
    head = "**Type:** note\n**Created:** 2026-01-02T03:04:05.000Z\n**Updated:** 2026-01-02T03:04:05.000Z\n"
    texts = {
        f"{ord(key[0]):08x}-2222-4333-8444-555555555555.md": f"# {TITLE}\n\n{head}\n---\n\n{words}"
        for key, words in facts.items()
    }
    _files(place / "knowledge", texts)


def _notes(place: Path, facts: Facts) -> None:
    head = f"---\ntitle: {TITLE}\naliases: [ports]\ncreated: 2026-01-02\nupdated: 2026-01-02\n---\n"
    _files(place, {f"{key}.md": f"{head}{words}\n" for key, words in facts.items()})


def _export(place: Path, facts: Facts) -> None:
    place.mkdir(exist_ok=True)
    entries = [
        {"id": f"fact-{key}", "title": TITLE, "text": words, "created": "2026-01-02T03:04:05Z"}
        for key, words in facts.items()
    ]
    for entry in entries:
        entry["updated"] = entry["created"]
    document = {"format": "daybook-export", "version": 1, "memories": entries}
    (place / "out.json").write_text(json.dumps(document), encoding="utf-8")


def _auto_memory(place: Path, facts: Facts) -> None:
    (folder,) = (place / "projects").glob("*/memory")
    head = f"---\ndescription: {TITLE}\nmetadata:\n  type: project\n---\n\n"
    _files(folder, {f"{key}.md": f"{head}{words}\n" for key, words in facts.items()})
    (folder / "MEMORY.md").write_text("".join(f"- [{key}]({key}.md)\n" for key in facts), encoding="utf-8")


def _take_auto_memory(store: Store, place: Path, dry_run: bool) -> list[Imported]:
    return [import_auto_memory(store, place, dry_run=dry_run)]


def _sections(facts: Facts) -> str:
    return "".join(f"# Part {key}\n\n{words}\n\n" for key, words in facts.items()) or "# Nothing\n"


def _document(place: Path, facts: Facts) -> None:
    _files(place, {"notes.md": _sections(facts)})


def _take_text(store: Store, place: Path, dry_run: bool) -> list[Imported]:
    text = (place / "notes.md").read_text(encoding="utf-8")
    return seed.seed_from_text(store, text, name="wiki", dry_run=dry_run)


def _project_document(place: Path, facts: Facts) -> None:
    (place.parent / "shop" / "README.md").write_text(_sections(facts), encoding="utf-8")


def _take_project(store: Store, place: Path, dry_run: bool) -> list[Imported]:
    return seed.bootstrap_project(store, dry_run=dry_run)


SOURCES = {
    "memory-mcp": Source(_memory_mcp, _import("memory-mcp", "state.json")),
    "memory-mcp-db": Source(_database, _import("memory-mcp-db", "memory.db")),
    "knowledge-graph": Source(_graph, _import("knowledge-graph", "graph.json")),
    "claude-memory": Source(_claude_memory, _import("claude-memory")),
    "memory-jsonl": Source(_jsonl, _import("memory-jsonl", "memory.jsonl"), merges=False),
    "memories-json": Source(_json, _import("memories-json", "export.json")),
    "notes": Source(_notes, _import("notes")),
    "daybook": Source(_export, _import("daybook", "out.json"), merges=False),
    "auto-memory": Source(_auto_memory, _take_auto_memory),
    "a file": Source(
        _document,
        lambda store, place, dry_run: seed.seed_from_file(store, place / "notes.md", dry_run=dry_run),
        merges=False,
    ),
    "a text": Source(_document, _take_text, merges=False),
    "a project": Source(_project_document, _take_project, merges=False),
}


def world_of(name: str, store: Store, folder: Path) -> World:
    """Return *store* with the source of that *name*, which lies in *folder*."""
    place = folder / "there"
    if name == "auto-memory":
        assert store.project
        (place / "projects" / slug_of(store.project.root) / "memory").mkdir(parents=True)
    return World(store, SOURCES[name], place)
