"""
What a memory becomes within a year: `python -m benchmarks.year [--weeks 52]`.

A clock of its own goes on week by week over three projects: preferences and decisions, edits by hand, notes
imported with their old dates, a project's folder that moves, a project that nobody opens for four months,
what patterns and a model note by themselves, off-topic questions. Sessions start as the hook lets them, and
end with the worker, which captures their transcripts and keeps the memory up.
Ends with 1 when a goal is missed.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from mcp_server.actions.capture.note import note_ended, note_session
from mcp_server.actions.context.brief import brief, note_shown
from mcp_server.actions.context.claude_md import CLAUDE_MD, choose
from mcp_server.actions.context.inject import inject
from mcp_server.actions.context.notice import notice
from mcp_server.actions.exchange.imports.formats import readings_of
from mcp_server.actions.exchange.imports.take import take
from mcp_server.actions.files.sync import sync
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.actions.review.review import review
from mcp_server.actions.upkeep.adopt import adopt
from mcp_server.actions.upkeep.work import work
from mcp_server.adapters.ledger import read_events
from mcp_server.bootstrap import Opened, open_for_reading
from mcp_server.core.context.brief import BUDGET
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Filter, Query
from mcp_server.doors.shown import needs
from mcp_server.store import Store

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
PROJECTS = ("shop", "api", "tools")
AWAY = ("ageing", "compaction", "drops", "trash")  # steps of upkeep after which a memory is told no more
MOST_OPEN = 20  # questions that may wait for the person at once
KEPT_AFTER_EDIT = 90  # days that an edit by hand keeps what passes
IMPORTED = 30  # notes
UNASKED = (
    "airspeed of an unladen swallow in spring",
    "which wine goes with roasted pumpkin soup",
    "how tall is the tallest lighthouse in Brittany",
)
SUBJECTS = "checkout invoices search login exports webhooks retries uploads billing audit quotas".split()


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Year:
    """
    What became of everything: the ids that must stay, what upkeep put away, and what the person was told.

    `strayed` are those of the `moved` ids of a renamed folder that its project does not see any more,
    `edited` are ids edited by hand with the moment, `away` is run → ids, `told` are lines with the moment.
    """

    weeks: int
    durable: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    edited: dict[str, datetime] = field(default_factory=dict)
    away: dict[str, list[str]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)
    lost_edits: set[str] = field(default_factory=set)
    strayed: list[str] = field(default_factory=list)
    moved: int = 0
    sessions: int = 0
    passing: int = 0
    longest_brief: int = 0
    most_open: int = 0

    @property
    def untold(self) -> list[str]:
        """The ids that upkeep put away in runs that no line named."""
        named = {run for line in self.told for run in re.findall(r"\d{8}-\d{6}-[0-9a-f]{4}", line)}
        return [memory_id for run, ids in self.away.items() if run not in named for memory_id in ids]

    def rows(self) -> Iterator[tuple[str, str, str, bool]]:
        """Yield (what, how it is, what it should be, whether it is so)."""
        durable, imported = self.hidden.intersection(self.durable), self.hidden.intersection(self.imported)
        put_away = sum(map(len, self.away.values()))
        yield "durable memories out of sight", f"{len(durable)} of {len(self.durable)}", "0", not durable
        yield "imported notes out of sight", f"{len(imported)} of {len(self.imported)}", "0", not imported
        yield (
            f"edits by hand put away within {KEPT_AFTER_EDIT} days",
            f"{len(self.lost_edits)} of {len(self.edited)}", "0", not self.lost_edits,
        )  # fmt: skip
        yield "lost with a moved folder", f"{len(self.strayed)} of {self.moved}", "0", not self.strayed
        yield "disappearances nobody was told", f"{len(self.untold)} of {put_away}", "0", not self.untold
        yield "passing memories put away", f"{put_away} of {self.passing}", "some", put_away > 0
        fits = self.longest_brief <= BUDGET
        yield "longest brief, characters", f"{self.longest_brief:,}", f"≤ {BUDGET:,}", fits
        yield "most open questions", str(self.most_open), f"≤ {MOST_OPEN}", self.most_open <= MOST_OPEN


class Played:
    """The year as it is played in a folder of its own."""

    def __init__(self, root: Path, weeks: int) -> None:
        self.clock = Clock()
        self.year = Year(weeks)
        self.root = root
        self.home = root / "memory"
        self.folders = {name: root / "work" / name for name in PROJECTS}
        for folder in self.folders.values():
            folder.mkdir(parents=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
            "MEMORY_DIR": str(self.home), "HOME": str(root / "home"), "EMBEDDING_MODEL": "none",
        }  # fmt: skip

    def opened(self, name: str) -> Opened:
        return Opened(self.environment, folder=self.folders[name], clock=self.clock)

    def put(self, store: Store, title: str, text: str, type: str, **more: object) -> str:
        return remember(store, Draft(title, text, type=type, **more)).memory.id  # type: ignore[arg-type]

    def week(self, number: int) -> None:
        """Play one week: on three days a session of each project that is open."""
        self.clock.now = BEGIN + timedelta(weeks=number)
        for place, name in enumerate(PROJECTS):
            asleep = name == "tools" and self.year.weeks * 8 // 52 <= number < self.year.weeks // 2
            if not asleep:
                self.session(name, number, place)
            self.clock.now += timedelta(days=1)
        self.look()

    def session(self, name: str, week: int, place: int) -> None:
        opened = self.opened(name)
        session = f"{name}-{week:02}-0000-0000"
        self.start(name, session)
        store = opened.store()
        sync(store)
        context = inject(store.in_session(session), UNASKED[week % 3])
        assert not context, context
        recall(store, Query(UNASKED[(week + 1) % 3]), given_to=session)
        if week < 20:
            self.settle(store, name, week, place)
        self.pass_by(store, name, week)
        if week % 4 == 3:
            self.edit(store, name, week)
        path = self.transcript(name, session, week)
        note_ended(store.in_session(session), path, folder=str(self.folders[name]))
        work(lambda folder: opened.store(folder=folder or self.folders[name]))
        opened.database.close()
        self.year.sessions += 1

    def start(self, name: str, session: str) -> None:
        """Do what the hook of a new session does, with the clock of the year."""
        folder = self.folders[name]
        store = open_for_reading(self.environment, folder)._replace(clock=self.clock).in_session(session)
        note_session(store, folder=str(folder))
        if not (self.home / "memory.db").exists():
            return
        day_brief = brief(store, folder=folder)
        note_shown(store, day_brief.titles, folder)
        if day_brief.refs:
            store.try_record("injected", why="session start", refs=day_brief.refs, digests=day_brief.digests)
        if line := needs.notice(notice(store, identity="")):
            self.year.told.append(line)
        self.year.longest_brief = max(self.year.longest_brief, len(day_brief.text))
        store.database.close()

    def settle(self, store: Store, name: str, week: int, place: int) -> None:
        """Say what lasts: decisions and traps of the project, preferences of the person."""
        subject = SUBJECTS[week % len(SUBJECTS)]
        type = ("decision", "gotcha", "architecture", "pattern")[week % 4]
        source = "manual" if week % 2 else "extracted"
        text = f"{subject} in {name} goes through step {week} because of reason {week * 7 + place}"
        self.year.durable.append(
            self.put(store, f"{name} {subject} {week}", text, type, level=Level.PROJECT, source=source)
        )
        if place == week % 3:
            liked = self.put(
                store, f"Preference {week}", f"Always answer {subject} questions in form {week}", "preference"
            )
            self.year.durable.append(liked)

    def pass_by(self, store: Store, name: str, week: int) -> None:
        """Let something be noted that passes."""
        self.put(
            store, f"{name} week {week}", f"{name}: part {week} is half done", "progress", source="extracted"
        )
        self.put(store, f"{name} mined {week}", f"{name} uses tool{week * 3}", "note", source="mined")
        self.put(store, f"{name} around {week}", f"{name} stands at {week}", "context", source="extracted")
        self.year.passing += 4  # with the conversation

    def edit(self, store: Store, name: str, week: int) -> None:
        """Edit in an editor what the project noted last week."""
        for path in store.vaults[-1].root.glob(f"knowledge/{name}-around-{week - 1}-*.md"):
            path.write_text(f"{path.read_text(encoding='utf-8')}\nStill so.\n", encoding="utf-8")
            self.year.edited[path.stem] = self.clock.now

    def transcript(self, name: str, session: str, week: int) -> Path:
        path = self.root / "transcripts" / f"{session}.jsonl"
        path.parent.mkdir(exist_ok=True)
        at = self.clock.now.isoformat().replace("+00:00", "Z")
        head = {"sessionId": session, "cwd": str(self.folders[name]), "timestamp": at, "version": "2.0.0"}
        text = f"Look at part {week} of {name} once more. {'It goes on and on. ' * 40}"
        lines = [
            {**head, "type": "user", "uuid": "u1", "message": {"role": "user", "content": text}},
            {
                **head, "type": "assistant", "uuid": "a1", "parentUuid": "u1",
                "message": {"role": "assistant", "content": [{"type": "text", "text": f"Done with {week}."}]},
            },
        ]  # fmt: skip
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def bring_old_notes(self) -> None:
        """Import a folder of notes that were written two years before."""
        folder = self.root / "old-notes"
        folder.mkdir()
        old = (BEGIN - timedelta(days=700)).timestamp()
        for number in range(IMPORTED):
            note = folder / f"old-note-{number}.md"
            note.write_text(f"# Old note {number}\n\nThe printer on floor {number} jams.\n", encoding="utf-8")
            os.utime(note, (old, old))
        opened = self.opened("shop")
        store = opened.store()
        readings = readings_of(store, "notes", folder, level=None, own_export=False)
        imports = take(store, readings, source_name="notes")
        self.year.imported = [item.id for imported in imports for item in imported.items]
        opened.database.close()

    def move(self) -> None:
        """Rename the folder of a project, and take over what was remembered there, as is offered then."""
        self.folders["tools"] = self.folders["tools"].rename(self.root / "work" / "toolbox")
        opened = self.opened("tools")
        adopt(opened.store())
        ids_listed = {row.id for row in list_memories(opened.store(), Filter(), limit=1000).rows}
        self.year.strayed = [memory_id for memory_id in self.year.durable if memory_id.startswith("tools-")]
        self.year.moved = len(self.year.strayed)
        self.year.strayed = [memory_id for memory_id in self.year.strayed if memory_id not in ids_listed]
        opened.database.close()

    def look(self) -> None:
        """See what is in sight, and what upkeep put away so far."""
        active = {path.stem for path in self.home.rglob("knowledge/*.md") if "trash" not in path.parts}
        self.year.hidden |= {
            memory_id for memory_id in (*self.year.durable, *self.year.imported) if memory_id not in active
        }
        for memory_id, at in self.year.edited.items():
            if memory_id not in active and self.clock.now - at < timedelta(days=KEPT_AFTER_EDIT):
                self.year.lost_edits.add(memory_id)
        store = self.opened("shop").store()
        self.year.most_open = max(self.year.most_open, len(review(store, limit=1000).entries))
        store.database.close()

    def reckon(self) -> None:
        """Read in the ledger what upkeep put away."""
        for path in sorted((self.home / "ledger").glob("*.jsonl")):
            for event, _ in read_events(path, 0):
                if event.event == "tidied" and event.data.get("step") in AWAY:
                    refs = [change["ref"].rpartition("/")[2] for change in event.data["changes"]]
                    self.year.away.setdefault(str(event.data["run"]), []).extend(refs)


def play(root: Path, weeks: int, *, progress: Callable[[int], None] = lambda _: None) -> Year:
    """Play so many *weeks* in the empty folder *root*; return what became of everything."""
    played = Played(root, weeks)
    for number in range(weeks):
        played.week(number)
        if number == 2:
            played.bring_old_notes()
            choose(played.opened("shop").store(), CLAUDE_MD)
        if number == weeks // 2:
            played.move()
        progress(1)
    played.clock.now += timedelta(days=1)
    for name in PROJECTS:  # what the last worker did is told by the next session
        played.start(name, f"{name}-last-0000-0000")
    played.reckon()
    return played.year


@click.command()
@click.option("--weeks", default=52, show_default=True, type=click.IntRange(14, 520))
def main(weeks: int) -> None:
    """Play the year and print what became of everything as a markdown table."""
    with (
        tempfile.TemporaryDirectory(prefix="daybook-year-") as folder,
        click.progressbar(length=weeks, label="Weeks", file=sys.stderr) as bar,
    ):
        year = play(Path(folder), weeks, progress=bar.update)
    rows = list(year.rows())
    print(f"{weeks} weeks, {year.sessions} sessions in {len(PROJECTS)} projects\n")
    cells = [(title, figure, goal, "yes" if well else "no") for title, figure, goal, well in rows]
    print(tabulate(cells, ["what", "found", "goal", "met"], tablefmt="github"))
    sys.exit(0 if all(well for *_, well in rows) else 1)


if __name__ == "__main__":
    main()
