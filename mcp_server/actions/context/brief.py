"""
brief: the memories worth having in context now, within a budget.

Runs in a hook before every session, so it only reads the index: no sync, no library that is slow to load.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mcp_server.actions.context.current import days_since_touched, ordered, timely
from mcp_server.actions.context.hot import hot_set
from mcp_server.actions.context.in_context_already import shown_by_auto_memory, shown_by_block
from mcp_server.actions.context.knowledge import bearing, known_here, pushable, titles
from mcp_server.actions.context.open_questions import fuller, open_questions
from mcp_server.adapters.index.events import receipts, sessions, usage
from mcp_server.adapters.index.memories import selections
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.context.brief import (
    BUDGET,
    BUDGET_OF_FEW,
    FEW,
    FOOTER,
    SUBAGENT_BUDGET,
    SUBAGENT_FOOTER,
    WHOLE,
    Brief,
    BriefEntry,
    BriefSection,
    Rival,
    render_brief,
)
from mcp_server.core.links import CONTRADICTS
from mcp_server.core.memory_parts import DAY, Kind, fingerprint, type_or_kind
from mcp_server.core.memory_types import BriefHeading, types_under
from mcp_server.core.render import LINE_LIMIT, counted
from mcp_server.store import Store

PREFERENCES = "Preferences"
AT_HAND = "Kept at hand"  # the heading of the hot set
IN_TEAM = "Settled in the team"
GRAPH = "graph"  # the toolset of the graph, and the category of the memories that its tools store
LOOKED_AT = 60  # newest memories of each group that are considered
LATELY = 14.0  # days
TOLD_EVERY = 7 * DAY  # seconds between two notes that block or title showed a memory: it ages in months


def brief(
    store: Store,
    *,
    notices: Sequence[str] = (),
    for_subagent: bool = False,
    folder: Path | None = None,
    again: str = "",
) -> Brief:
    """
    Return the brief for a session, or a subagent, that starts now.

    *again* is the id of a session that goes on after a compaction: memories of use in it come first.

    A session is not shown again what the managed block shows it, when the block lies where the session's
    *folder* (by default the project's) makes Claude Code read it; not every subagent is given that file.
    The same goes for what Claude Code's own memory tells it.
    Raises IndexUnavailable when there is no index yet, or one stands in for it: only the ledger, which a
    stand-in does not have, says what may be shown unasked.
    """
    store.database.require()
    with store.database.read() as db:
        return prepared(
            store, db, notices=notices, for_subagent=for_subagent, folder=folder, again=again
        ).rendered()


def is_of_new_index(store: Store) -> bool:
    """Tell whether the index was just made, or for another place: a brief may lack what is not in it yet."""
    with store.database.read() as db:
        return selections.is_new(db) or any(
            selections.is_of_another_place(db, vault.key, str(vault.root)) for vault in store.vaults
        )


class Prepared(NamedTuple):
    """All that a brief may tell, by importance, and how many characters it may have; for `render_brief`."""

    sections: Sequence[BriefSection]
    budget: int
    footer: str
    looked_at: Callable[[BriefEntry], BriefEntry | None]
    notices: Sequence[str] = ()
    by_title: Sequence[BriefEntry] = ()

    def rendered(self) -> Brief:
        return render_brief(
            self.sections,
            notices=self.notices,
            index=self.by_title,
            budget=self.budget,
            footer=self.footer,
            looked_at=self.looked_at,
        )


def prepared(
    store: Store,
    db: sqlite3.Connection,
    *,
    notices: Sequence[str] = (),
    for_subagent: bool = False,
    folder: Path | None = None,
    again: str = "",
) -> Prepared:
    """Return what `brief` renders, while *db* is read."""
    knowledge = [] if for_subagent else known_here(store, db)
    at_work = bearing(store, knowledge, folder) if knowledge else set[str]()
    sections = [*_of_use(store, db, again), *_sections(store, db, knowledge, at_work)]
    looked_at = _looked_at(store, db)
    if for_subagent:
        agent_sections = [
            section._replace(limit=LINE_LIMIT)
            for section in sections
            if section.title in (PREFERENCES, "Settled in this project", IN_TEAM)
        ]
        return Prepared(agent_sections, SUBAGENT_BUDGET, SUBAGENT_FOOTER, looked_at)
    index = titles(store, db, knowledge, at_work)
    notices = [*notices, *_notices(store, db), *_last_session(store, db)]
    carried = {**shown_by_block(store, folder), **shown_by_auto_memory(store, db, folder)}
    sections = [section._replace(entries=_untold(section.entries, carried)) for section in sections]
    index = [*_untold(index, carried)]
    budget = BUDGET_OF_FEW if len(index) <= FEW else BUDGET
    return Prepared(sections, budget, FOOTER, looked_at, notices, index)


def note_shown(store: Store, titled: Collection[str], folder: Path | None = None) -> None:
    """
    Note as shown what a session that starts in *folder* has from the block or by title (the refs *titled*).

    Each memory once a week. Runs in a hook: reads the index, and writes only one event.
    Raises IndexUnavailable.
    """
    refs = {*shown_by_block(store, folder), *titled}
    if not refs:
        return
    from mcp_server.adapters.index.events import signs_of_life  # a session may have neither block nor titles

    now = store.now()
    with store.database.read() as db:
        quiet = refs - signs_of_life.alive(db, refs, now - TOLD_EVERY, now)
    if quiet:
        store.try_record("told", refs=sorted(quiet))


def note_given(
    store: Store, session_brief: Brief, *, folder: Path | None = None, compacted: bool = False
) -> None:
    """
    Note that this session, which starts now in *folder*, is shown that brief.

    If it was *compacted*, it has nothing else in its context any more. Raises IndexUnavailable.
    """
    note_shown(store, session_brief.titles, folder)
    if session_brief.refs or compacted:
        store.try_record(
            "injected",
            why=receipts.START,
            refs=session_brief.refs,
            digests=session_brief.digests,
            tokens=session_brief.tokens,
            **({usage.AFRESH: True} if compacted else {}),
        )


def at_hand(store: Store) -> str:
    """
    Return the hot set as the brief shows it, '' when it is empty; only memories that may be shown unasked.

    Raises IndexUnavailable.
    """
    store.database.require()
    with store.database.read() as db:
        rows = hot_set(store, db)
        section = BriefSection(AT_HAND, entries_of(rows, pushable(store, db, rows), contested(store, db)))
        return render_brief([section], budget=BUDGET, looked_at=_looked_at(store, db)).text


def _sections(
    store: Store, db: sqlite3.Connection, knowledge: Sequence[Row], at_work: Collection[str]
) -> list[BriefSection]:
    """Return the sections of a brief; *at_work* are refs of *knowledge* about the work at hand."""
    everywhere, of_project, of_team = store.keys, store.of_project, store.of_team
    hot = hot_set(store, db)

    def newest(among: Sequence[str], heading: BriefHeading) -> list[Row]:
        types = types_under(heading)
        return selections.newest(db, among, types=types, limit=LOOKED_AT, private=store.private)

    preferences = newest(everywhere, BriefHeading.PREFERENCES)
    settled = newest(of_project or store.own, BriefHeading.SETTLED)
    of_others = newest(of_team, BriefHeading.SETTLED)
    progress = newest(of_project, BriefHeading.IN_PROGRESS)
    passing = newest(everywhere, BriefHeading.LATELY)
    sessions = selections.newest(
        db, of_project or everywhere, kind=Kind.SESSION, limit=1, private=store.private
    )
    now = store.now()
    ages = days_since_touched(db, passing, now)
    lately = [row for row in passing if ages[row.ref] < LATELY]
    groups = [
        (AT_HAND, hot),
        ("Last session", sessions),
        ("In progress", timely(db, progress, now)),
        (PREFERENCES, ordered(db, preferences, now)),
        ("About the work at hand", [row for row in knowledge if row.ref in at_work]),
        ("Settled in this project" if of_project else "Settled", ordered(db, settled, now)),
        (IN_TEAM, ordered(db, of_others, now)),
        ("Noted lately", ordered(db, lately, now)),
    ]
    whole = fuller(store, db)
    groups = [(title, [whole.get(row.row, row) for row in rows]) for title, rows in groups]
    shown_rows = pushable(store, db, [row for _, rows in groups for row in rows])
    rivals = contested(store, db)
    return [
        BriefSection(
            title,
            entries_of(rows, shown_rows, rivals),
            WHOLE if title in (AT_HAND, PREFERENCES) else LINE_LIMIT,
        )
        for title, rows in groups
    ]


def _of_use(store: Store, db: sqlite3.Connection, session: str) -> list[BriefSection]:
    """Return the memories that the prompts of *session* called for or that it used."""
    if not session:
        return []
    refs = receipts.of_use_in(db, session, limit=LOOKED_AT)
    rows = [row for row in (selections.with_ref(db, ref) for ref in refs) if row and store.vault(row.vault)]
    shown_rows = pushable(store, db, rows)
    return [BriefSection("Of use in this session", entries_of(rows, shown_rows, contested(store, db)))]


def _notices(store: Store, db: sqlite3.Connection) -> list[str]:
    shared = store.shared
    count = selections.count_not_accepted(db, shared, shared) if shared else 0
    nodes = 0
    if GRAPH in store.settings.toolsets:
        nodes = selections.count_in(db, store.keys, category=GRAPH)
    graph = [f"The knowledge graph has {counted(nodes, 'node')}; kg_read shows it."] if nodes else []
    if not count:
        return graph
    return [
        *graph,
        f"Not shown until accepted by the person with 'daybook review': {counted(count, 'memory')} that"
        " came with this repository.",
    ]


def _last_session(store: Store, db: sqlite3.Connection) -> list[str]:
    """Return the noted topic and summary of the last session, when no session was saved here."""
    last = sessions.told_last(db, store.project.key if store.project else "")
    if not last or selections.newest(
        db, store.of_project or [store.user_vault.key], kind=Kind.SESSION, limit=1, private=store.private
    ):
        return []
    summary = f"{last.topic}: {last.summary}" if last.topic else last.summary
    parts = [part for part in (last.topic, last.summary) if part]
    # Loaded late: there may be no such session.
    from mcp_server.core.provenance.instructions import reads_like_instruction

    accepted = usage.accepted_digests(db, [fingerprint("", part) for part in parts])
    if len(accepted) < len(set(parts)) or reads_like_instruction(summary):
        return []
    from mcp_server.core.secrets.redaction import redact  # slow to load

    dated = datetime.fromtimestamp(last.last, UTC).strftime("%Y-%m-%d")
    return [f"Last session ({dated}): {redact(summary)}"]


def entries_of(
    rows: Iterable[Row], shown_rows: set[int], rivals: Mapping[str, Rival]
) -> Iterator[BriefEntry]:
    """Yield the entries of those *rows* that *shown_rows* has; *rivals* is what `contested` returns."""
    return (_entry(row, rivals.get(row.ref)) for row in rows if row.row in shown_rows)


def _looked_at(store: Store, db: sqlite3.Connection) -> Callable[[BriefEntry], BriefEntry | None]:
    """Return a function that marks an entry whose files changed, and returns None when all are gone."""

    def seen(entry: BriefEntry) -> BriefEntry | None:
        row = selections.with_ref(db, entry.ref)
        if not row or not row.touches:
            return entry
        from mcp_server.actions.recall.staleness import staleness  # most memories are about no file

        stale = staleness(store, db, [row])[row.ref]
        return None if stale.gone else entry._replace(stale=bool(stale))

    return seen


def contested(store: Store, db: sqlite3.Connection) -> dict[str, Rival]:
    """Return ref → the newer memory that may replace it: both are shown."""
    return {
        question.older.ref: Rival(question.newer.id, "" if question.rel == CONTRADICTS else question.differs)
        for question in open_questions(store, db)
        if question.rel == CONTRADICTS or question.differs
    }


def _untold(entries: Iterable[BriefEntry], carried: Mapping[str, str]) -> Iterator[BriefEntry]:
    return (entry for entry in entries if carried.get(entry.ref) != entry.digest)


def _entry(row: Row, rival: Rival | None) -> BriefEntry:
    day = datetime.fromtimestamp(row.updated, UTC).strftime("%Y-%m-%d")
    kind = type_or_kind(row.kind, row.type)
    return BriefEntry(row.id, row.ref, row.digest, kind, row.title, row.text, day, rival=rival)
