"""sessions: list sessions, what each was about, learned and used, and what recurs in several."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.files.sync import catch_up_if_free, refresh_index
from mcp_server.adapters import transcript_file
from mcp_server.adapters.index.events import episodes, spending, transcripts
from mcp_server.adapters.index.events.episodes import Again, Episode
from mcp_server.adapters.index.memories.memories import Row
from mcp_server.core.budget import Cost
from mcp_server.core.errors import Rejected
from mcp_server.core.memory_parts import clean_text, id_in, type_or_kind
from mcp_server.core.search.query import check_limit, check_offset
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.titles import clean_title
from mcp_server.store import Store

LONGEST_TOPIC = 120  # characters
LONGEST_SUMMARY = 4000


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """How far a transcript was read, in bytes: its size, the part in the raw tier, and given to a model."""

    path: str
    size: int
    kept: int
    learned: int


@dataclass(frozen=True, slots=True)
class SessionReport:
    """
    One session: what it stored (kind → number), how many memories it recalled and used, what was read.

    `cost` is what learning from it cost, its agents included.
    """

    episode: Episode
    stored: dict[str, int]
    recalled: int
    used: int
    transcripts: tuple[ReadSoFar, ...]
    cost: Cost


@dataclass(frozen=True, slots=True)
class Given:
    """A memory that a session asked for or used, and how often."""

    id: str
    title: str
    recalled: int
    used: int


@dataclass(frozen=True, slots=True)
class Patterns:
    """What at least two sessions recalled or used, and the tags of what they learned."""

    memories: tuple[Again, ...]
    tags: tuple[Again, ...]


def list_sessions(
    store: Store, *, limit: int = 20, offset: int = 0, all_projects: bool = False
) -> list[Episode]:
    """
    Return the sessions of this project from *offset* on, the latest first; outside a project, all.

    Raises Rejected for a bad limit or offset.
    """
    check_limit(limit)
    check_offset(offset)
    refresh_index(store)
    root = str(store.project.root) if store.project else ""
    with store.database.read() as db:
        return episodes.known(
            db,
            store.of_project,
            root,
            everywhere=all_projects or not store.project,
            limit=limit,
            offset=offset,
        )


def costs(store: Store, episodes: Sequence[Episode]) -> dict[str, Cost]:
    """Return id → what learning from a session cost, for those for which a call was made."""
    with store.database.read() as db:
        return spending.of_sessions(db, [episode.id for episode in episodes])


def find_session(store: Store, name: str) -> Episode:
    """Return the session with that id, short id or beginning of an id; raise Rejected unless there is one."""
    refresh_index(store)
    session_name = name.strip()
    if not session_name:
        raise Rejected("It is unclear which session this is.", "Give an id: 'daybook sessions' lists them.")
    with store.database.read() as db:
        fitting = episodes.named(db, session_name)
    if len(fitting) > 1:
        several = ", ".join(episode.id for episode in fitting[:5])
        raise Rejected(f"Several sessions are called '{session_name[:80]}': {several}.", "Give the whole id.")
    if not fitting:
        raise Rejected(f"There is no session '{session_name[:80]}'.", "List them with 'daybook sessions'.")
    return fitting[0]


def tell_session(store: Store, name: str) -> SessionReport:
    """Return what is known of a session. Raises Rejected when none is called so."""
    episode = find_session(store, name)
    with store.database.read() as db:
        rows = episodes.memories_of(db, episode.id)
        tallies = episodes.given_to(db, episode.id)
        session_transcripts = transcripts.of_session(db, episode.id)
        cost = spending.of_sessions(db, [episode.id]).get(episode.id, Cost())
    return SessionReport(
        episode,
        dict(Counter(type_or_kind(row.kind, row.type) for row in rows)),
        sum(recalled > 0 for _, _, recalled, _ in tallies),
        sum(used > 0 for _, _, _, used in tallies),
        tuple(
            ReadSoFar(
                transcript.path,
                max(transcript.seen, transcript_file.size(Path(transcript.path))),
                transcript.kept,
                transcript.learned,
            )
            for transcript in session_transcripts
        ),
        cost,
    )


def session_memories(store: Store, name: str) -> tuple[Episode, list[Row], list[Given]]:
    """Return a session, what was remembered in it, and what it recalled or used. Raises Rejected."""
    episode = find_session(store, name)
    with store.database.read() as db:
        rows = episodes.memories_of(db, episode.id)
        tallies = episodes.given_to(db, episode.id)
    return episode, rows, [Given(id_in(tally[0]), *tally[1:]) for tally in tallies]


def title_session(store: Store, session: str, *, topic: str = "", summary: str = "") -> tuple[str, ...]:
    """
    Note what the session with that id is about; secrets are masked, what is not given stays.

    Return what was noted, which the next session is shown once its origin is known.
    Raises Rejected when nothing or too much is given, OSError when the disk refuses.
    """
    changes = {
        **({"topic": redact(clean_title(topic))} if topic.strip() else {}),
        **({"summary": redact(clean_text(summary, LONGEST_SUMMARY))} if summary.strip() else {}),
    }
    if not changes or not session:
        raise Rejected(
            "Neither topic nor summary was given.", "Give a topic or a summary, and which session."
        )
    if len(changes.get("topic", "")) > LONGEST_TOPIC:
        raise Rejected(f"The topic has over {LONGEST_TOPIC} characters.", "Put the rest into the summary.")
    store.record("session_titled", session=session, **changes)
    catch_up_if_free(store)
    return tuple(changes.values())


def end_session(store: Store, session: str, *, topic: str = "", summary: str = "") -> tuple[str, ...]:
    """Note that the session with that id is over, and what it was about, like `title_session`."""
    undone: tuple[str, ...] = ()
    if topic.strip() or summary.strip():
        undone = title_session(store, session, topic=topic, summary=summary)
    if not session:
        raise Rejected("It is unclear which session this is.", "Give the session's id.")
    store.record("session_ended", session=session)
    catch_up_if_free(store)
    return undone


def patterns(store: Store, *, limit: int = 10) -> Patterns:
    """Return what recurs in at least two sessions of this project. Raises Rejected for a bad limit."""
    check_limit(limit)
    refresh_index(store)
    keys = store.keys
    with store.database.read() as db:
        return Patterns(
            tuple(episodes.recurring_memories(db, keys, limit=limit)),
            tuple(episodes.recurring_tags(db, keys, limit=limit)),
        )
