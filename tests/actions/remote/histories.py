"""
Random histories of machines that share a memory: what people and Daybook do to files, at clocks that differ.

At the end all machines must say the same, no word may be lost that nobody took out, and no file may hold the
mark of a conflict.
"""

import contextlib
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.link import link
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.remote.exchange import Exchanged, exchange
from mcp_server.actions.remote.rewrite import rewrite_history
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.store import Store
from tests.opened import opened_at

FOLDERS = ("knowledge", "sessions", "archive", "candidates", "projects")
PROJECTS = ("bakery", "shop")  # on every machine; each step is done in one of them
SKEWS = (0.0, 0.0, 1.0, -1.0, 400.0)  # days by which a machine's clock is wrong
MARK = re.compile(r"^(<<<<<<<|=======|>>>>>>>)", re.MULTILINE)
WORD = re.compile(r"\bw\d+\b")


class History:
    """One history: *machines* homes in *folder*, and what was done to them, chosen by *seed*."""

    def __init__(self, folder: Path, *, machines: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.words, self.new = 0, set[str]()
        self.written, self.removed = set[str](), set[str]()  # what was acknowledged, and what was taken out
        self.no_copy = set[str]()  # taken out in an editor, which keeps no copy, or deleted for good
        self.now = datetime(2026, 11, 20, 9, tzinfo=UTC)
        self.opened: list[Opened] = []
        self.stores: list[Store] = []  # one for each machine
        self.seen: list[list[Store]] = []  # for each machine, its store from each of the projects
        self.log: list[str] = []
        self.clashes = 0
        for number in range(machines):
            skew = timedelta(days=self.random.choice(SKEWS))
            home = folder / f"home-{number}"
            opened_projects = [
                opened_at(
                    home, cloned(folder / f"work-{number}", name), clock=lambda skew=skew: self.now + skew
                )
                for name in PROJECTS
            ]
            self.opened += opened_projects
            self.seen.append([opened.store() for opened in opened_projects])
            self.stores.append(self.seen[-1][0])
        for store in self.stores:
            if self.random.random() < 0.3:
                self.do(self.remember, store)  # before it knows the others
            report = add(store, look_ahead(store, str(folder / "memory.git")))
            assert not report.trouble, report.trouble

    def run(self, steps: int) -> None:
        """Do *steps* things at random."""
        deeds = (
            *(self.remember, self.revise, self.revise, self.revise, self.tag, self.pin, self.archive),
            *(self.forget, self.restore, self.edit, self.edit, self.rename, self.link, self.delete),
            *(self.level, self.level, self.forget_for_good, self.rewrite),
            *(self.exchange, self.exchange, self.exchange),
        )
        for _ in range(steps):
            self.now += timedelta(seconds=self.random.randint(0, 90))
            number, project = (self.random.randrange(len(choices)) for choices in (self.seen, PROJECTS))
            store, deed = self.seen[number][project], self.random.choice(deeds)
            self.log.append(f"{store.home.name} {PROJECTS[project]} {deed.__name__}")
            self.do(deed, store)

    def do(self, deed: Callable[[Store], object], store: Store) -> None:
        """Do one thing; what it wrote counts as written when it was acknowledged."""
        self.new.clear()
        with contextlib.suppress(DaybookError):
            deed(store)
            self.written |= self.new

    def settle(self) -> list[Exchanged]:
        """Let all machines exchange until each has what all have."""
        reports: list[Exchanged] = []
        for _ in range(2):
            self.now += timedelta(seconds=30)
            reports += [self.exchange(store) for store in self.stores]
        return reports

    def check(self) -> None:
        """Raise AssertionError when the machines differ, a word is lost, or a mark of a conflict is found."""
        reports = self.settle()
        assert not any(report.trouble or report.left for report in reports), reports
        first, *others = [says(store) for store in self.stores]
        assert all(first == other for other in others), self.differ(first, others)
        text = "\n".join(data.decode() for data in first.values())
        lost = self.written - self.removed - {*WORD.findall(text)}
        assert not lost, (lost, self.log)
        words_kept = {word for store in self.stores for word in WORD.findall(everything(store))}
        assert self.written - self.no_copy <= words_kept, (self.written - self.no_copy - words_kept, self.log)
        assert not MARK.search(text)

    def differ(self, first: dict[str, bytes], others: list[dict[str, bytes]]) -> object:
        """Return where the machines differ, and what was done."""
        return [
            {
                path: (first.get(path), other.get(path))
                for path in {*first, *other}
                if first.get(path) != other.get(path)
            }
            for other in others
        ], self.log

    def close(self) -> None:
        for opened in self.opened:
            opened.database.close()

    def word(self) -> str:
        """Return a word that nobody has used."""
        self.words += 1
        self.new.add(f"w{self.words}")
        return f"w{self.words}"

    def remember(self, store: Store) -> None:
        remember(store, Draft(self.word(), f"{self.word()} {self.word()} stays.\n\n{self.word()} too."))

    def revise(self, store: Store) -> None:
        if file := self.one(store):
            memory = read(store, id_in(file)).memory
            text = self.changed(memory.text)
            removed = {*WORD.findall(memory.text)} - {*WORD.findall(text)}
            revise(store, memory.id, Revision(text=text))
            self.removed |= removed

    def edit(self, store: Store) -> None:
        if file := self.one(store):
            before = file.read_text(encoding="utf-8")
            head, mark, body = before.rpartition("---\n")
            after = f"{head}{mark}{self.changed(body.strip())}\n"
            self.no_copy |= {*WORD.findall(before)} - {*WORD.findall(after)}
            self.removed |= self.no_copy
            file.write_text(after, encoding="utf-8")

    def changed(self, text: str) -> str:
        """Return *text* with something put in, put in the place of something, or taken out."""
        pieces = re.split(r"(\s+)", text)
        at = self.random.randrange(0, len(pieces), 2)
        match self.random.randrange(5):
            case 0:
                pieces[at] = self.word()
            case 1:
                pieces[at] = f"{pieces[at]} {self.word()}"
            case 2:
                return f"{text}\n{self.word()} is new."
            case 3 if len(pieces) > 4:
                del pieces[at : at + 2]
            case _:
                return f"{self.word()} comes first.\n{text}"
        return "".join(pieces).strip() or self.word()

    def tag(self, store: Store) -> None:
        if file := self.one(store):
            memory = read(store, id_in(file)).memory
            tags = {*memory.tags} ^ {self.random.choice("abcdef")}
            revise(store, memory.id, Revision(tags=tuple(sorted(tags))))

    def pin(self, store: Store) -> None:
        if file := self.one(store):
            text = file.read_text(encoding="utf-8")
            if "\npinned:" not in text:  # a key that stands twice makes a file unreadable
                file.write_text(text.replace("\n---\n", "\npinned: true\n---\n", 1), encoding="utf-8")

    def archive(self, store: Store) -> None:
        if file := self.one(store):
            archive(store, [id_in(file)])

    def forget(self, store: Store) -> None:
        if file := self.one(store):
            words = {*WORD.findall(file.read_text(encoding="utf-8"))}
            forget(store, id_in(file))
            self.removed |= words

    def forget_for_good(self, store: Store) -> None:
        if file := self.one(store):
            before = {*WORD.findall(everything(store))}
            forget(store, id_in(file), forever=True)
            self.no_copy |= before - {*WORD.findall(everything(store))}
            self.removed |= self.no_copy

    def rewrite(self, store: Store) -> None:
        rewrite_history(store, timeout=60, patience=0)

    def delete(self, store: Store) -> None:
        if (file := self.one(store)) and self.random.random() < 0.3:
            copy = store.home / "trash" / "by-hand"
            copy.mkdir(parents=True, exist_ok=True)
            self.removed |= {*WORD.findall(file.read_text(encoding="utf-8"))}
            file.rename(copy / f"{file.stem}-{self.random.random()}.txt")

    def restore(self, store: Store) -> None:
        away = [*store.home.glob("archive/*.md"), *store.home.glob("trash/**/*.md")]
        if away:
            restore(store, id_in(self.random.choice(sorted(away))))

    def rename(self, store: Store) -> None:
        if file := self.one(store):
            folder = file.parent / self.random.choice(["", "moved", "other"])
            folder.mkdir(exist_ok=True)
            target = folder / f"{self.random.choice(['', 'n-'])}{file.name}"
            if not target.exists():
                file.rename(target)

    def level(self, store: Store) -> None:
        if file := self.one(store):
            change_level(store, id_in(file), self.random.choice([Level.USER, Level.PROJECT]))

    def link(self, store: Store) -> None:
        first, second = self.one(store), self.one(store)
        if first and second and first != second:
            link(store, id_in(first), id_in(second), "relates-to")

    def exchange(self, store: Store) -> Exchanged:
        report = exchange(store)
        self.clashes += len(report.clashes)
        return report

    def one(self, store: Store) -> Path | None:
        """Return the file of a memory that *store* sees."""
        files = sorted(path for vault in store.vaults for path in vault.root.glob("knowledge/**/*.md"))
        return self.random.choice(files) if files else None


def cloned(folder: Path, name: str) -> Path:
    """Return the folder of a project, below *folder*, that is the same one on every machine."""
    settings = folder / name / ".git" / "config"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[remote "origin"]\n\turl = https://git.example/{name}.git\n', encoding="utf-8")
    for needed in ("objects", "refs"):
        (settings.parent / needed).mkdir()
    (settings.parent / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return folder / name


def id_in(file: Path) -> str:
    """Return the id that a file states."""
    id_line = re.search(r"^id: (\S+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return id_line[1] if id_line else file.stem


def says(store: Store) -> dict[str, bytes]:
    """Return what the files of memories say, by their places."""
    files = [path for name in FOLDERS for path in (store.home / name).rglob("*.md")]
    return {path.relative_to(store.home).as_posix(): path.read_bytes() for path in files}


def everything(store: Store) -> str:
    """Return all texts that a store holds, also what was forgotten and what memories said before."""
    folders = (*FOLDERS, "trash", "history")
    files = [path for name in folders for path in (store.home / name).rglob("*") if path.is_file()]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
