"""inject: the memories that a prompt calls for, shown unasked or pointed to; nothing is the normal answer."""

import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from typing import Any

from mcp_server.actions.context import late_brief
from mcp_server.actions.context.brief import contested
from mcp_server.actions.context.in_context_already import shown_by_auto_memory
from mcp_server.actions.files.sync import catch_up_if_free, ensure_synced
from mcp_server.actions.recall.recall import recall
from mcp_server.adapters.index.events import replay, usage
from mcp_server.core.context.brief import (
    PROMPT_BUDGET,
    PROMPT_FRAME,
    Brief,
    BriefEntry,
    Rival,
    entry_line,
    pointer_line,
)
from mcp_server.core.memory_parts import Kind, Level
from mcp_server.core.render import estimated_tokens, within
from mcp_server.core.search.prompt_parts import parts_of
from mcp_server.core.search.query import Confidence, Filter, Hit, Query
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.excerpt import excerpt
from mcp_server.core.text.pasted_content import without_marks
from mcp_server.core.text.private import kept_of
from mcp_server.core.text.words import query_terms
from mcp_server.store import Store

SHORTEST_PROMPT = 8  # characters from which on a prompt may call for the text of a memory
MOST = 5
LINE = 480  # characters of one memory
RECEIPT = 80  # characters of the prompt that the ledger keeps

# A command, but no path at the beginning of a sentence; and what Claude Code puts in as a prompt by itself.
_NOT_ASKED = re.compile(r"/[^\s/]*(?:\s|$)|<(?:task-notification|local-command|command-|bash-)")


class Fate(StrEnum):
    """What becomes of a memory that is near a prompt."""

    TEXT = auto()
    TITLE = auto()
    TITLE_OF_SHORT = auto()
    TITLE_OF_MANY = auto()
    UNSURE = auto()
    WAITS = auto()
    GONE = auto()
    SHOWN_BEFORE = auto()
    POINTED_BEFORE = auto()
    NO_ROOM = auto()

    @property
    def is_shown(self) -> bool:
        return self in (Fate.TEXT, *_TITLES)


_TITLES = (Fate.TITLE, Fate.TITLE_OF_SHORT, Fate.TITLE_OF_MANY)


@dataclass(frozen=True, slots=True)
class Called:
    """
    The text that a prompt calls for, '' for nothing, and the event to write once it was shown.

    `arrived` is the event about what the text tells besides: memories that came since the session began.
    `late_brief` is the brief that the text begins with, of a session that began without an index.
    """

    text: str = ""
    note: Mapping[str, Any] = field(default_factory=dict)
    arrived: Mapping[str, Any] = field(default_factory=dict)
    late_brief: Brief | None = None

    @property
    def given(self) -> set[tuple[str, str]]:
        """(ref, digest) of the memories that it shows, as text or by title."""
        texts, titles = usage.given(self.note)
        return {*texts, *titles}


@dataclass(frozen=True, slots=True)
class Decided:
    """
    What a prompt calls for, and what became of each hit, best first.

    `asks` is false for what is no prompt of the person's, such as a command. `semantic` tells whether meaning
    was searched. `is_silence`: a prompt long enough for a text got none.
    """

    called: Called = Called()
    fates: tuple[tuple[Hit, Fate], ...] = ()
    asks: bool = True
    semantic: bool = False
    is_silence: bool = False


def inject(store: Store, prompt: str) -> str:
    """Return the text of `called_for` and note in the ledger that it was shown. Raises IndexUnavailable."""
    called = called_for(store, prompt)
    note_shown(store, called)
    return called.text


def note_shown(store: Store, called: Called) -> None:
    """Note in the ledger that the session was shown what its prompt *called* for. Raises IndexUnavailable."""
    if called.late_brief:
        late_brief.note_shown(store, called.late_brief)
    events = [note for note in (called.arrived, called.note) if note]
    for note in events:
        store.try_record("injected", **note)
    if events or called.late_brief:
        catch_up_if_free(store)


def called_for(
    store: Store,
    prompt: str,
    *,
    already_given: Collection[tuple[str, str]] = (),
    taken_back: Collection[tuple[str, str]] = (),
) -> Called:
    """
    Return the text that should accompany *prompt*; note in the ledger when there is none.

    *already_given* are (ref, digest) of memories that the session is given besides, *taken_back* of those
    that it was given with a prompt which is no longer in its conversation. Raises IndexUnavailable.
    """
    decided = decide(store, prompt, already_given=already_given, taken_back=taken_back)
    if decided.is_silence:
        store.try_record("kept_silent")
    return decided.called


def decide(
    store: Store,
    prompt: str,
    *,
    already_given: Collection[tuple[str, str]] = (),
    taken_back: Collection[tuple[str, str]] = (),
    explained: bool = False,
) -> Decided:
    """
    Return the text that should accompany *prompt*, at most 2,500 characters, and why; the ledger stays as is.

    Only memories that pass the gate, that may be shown unasked, and that this session was not given yet as
    they are now, neither by us nor by Claude Code's own memory. Of a memory that is not sure enough for its
    text only title and id are shown, once in a session: Claude reads it when it matters.
    *already_given* are (ref, digest) of memories that the session is given besides what the ledger says,
    *taken_back* of those that it no longer has.
    Fates are returned only where it is to be *explained*, then also of memories that do not pass the gate.
    Raises IndexUnavailable.
    """
    text = without_marks(prompt).strip()
    store.database.require()
    if not text or _NOT_ASKED.match(text):
        return Decided(asks=False)
    # Hits that are not confident are not shown, so they need not be searched for secrets.
    query = Query(
        text,
        limit=2 * MOST,
        only_confident=not explained,
        examined=2 * MOST,
        filter=Filter(kinds=(Kind.KNOWLEDGE,)),
        parts=parts_of(text),
        of_prompt=True,
        unasked=True,
    )
    ensure_synced(store)  # else the answer may come from the files alone
    answer = recall(store, query)
    hits = answer.hits
    if explained:
        waiting = recall(store, replace(query, unasked=False)).hits
        hits += tuple(hit for hit in waiting if not hit.pushable)
    enough = len(text) >= SHORTEST_PROMPT
    if answer.verdict is Confidence.NONE:
        unshown_hits = tuple((hit, _kept_back(hit, ()) or Fate.UNSURE) for hit in hits)
        return Decided(fates=unshown_hits, semantic=answer.semantic, is_silence=enough)
    catch_up_if_free(store)  # so that what the brief showed this session counts
    with store.database.read() as db:
        texts_given, titles_given = _given(store, db)
        texts_given, titles_given = texts_given.difference(taken_back), titles_given.difference(taken_back)
        shown_pairs = {*texts_given, *shown_by_auto_memory(store, db).items(), *already_given}
        rivals = contested(store, db)
    kept_back = {hit.ref: _kept_back(hit, shown_pairs) for hit in hits}
    fitting = [hit for hit in hits if kept_back[hit.ref] is None]
    sure = [hit for hit in fitting if enough and hit.confidence is not Confidence.LOW][:MOST]
    others = [hit for hit in fitting if hit not in sure]
    pointed_before = [hit for hit in others if (hit.ref, hit.digest) in titles_given]
    unsure = [hit for hit in others if hit not in pointed_before]
    terms = query_terms(text)
    lines, _ = within(
        [
            *(_line(hit, terms, rivals.get(hit.ref)) for hit in sure),
            *(pointer_line(hit.id, hit.title) for hit in unsure),
        ],
        PROMPT_BUDGET - len(PROMPT_FRAME) - 1,
    )
    text_hits, title_hits = sure[: len(lines)], unsure[: max(0, len(lines) - len(sure))]
    fates = {hit.ref: kept_back[hit.ref] or Fate.NO_ROOM for hit in hits}
    fates |= {hit.ref: Fate.POINTED_BEFORE for hit in pointed_before}
    fates |= {hit.ref: Fate.TEXT for hit in text_hits}
    fates |= {hit.ref: _why_title(hit, enough=enough) for hit in title_hits}
    explanation = tuple((hit, fates[hit.ref]) for hit in hits) if explained else ()
    if not lines:
        return Decided(fates=explanation, semantic=answer.semantic, is_silence=enough)
    note = {
        "refs": [hit.ref for hit in text_hits],
        "digests": [hit.digest for hit in text_hits],
        "scores": [round(hit.score, 3) for hit in text_hits],
        "tokens": [estimated_tokens(line) for line in lines[: len(text_hits)]],
        "pointers": [[hit.ref, hit.digest] for hit in title_hits],
        "prompt": redact(kept_of(text))[:RECEIPT],
        "session": store.session,
    }
    return Decided(Called("\n".join([PROMPT_FRAME, *lines]), note), explanation, semantic=answer.semantic)


def _why_title(hit: Hit, *, enough: bool) -> Fate:
    """Return why only the title of *hit* is shown; *enough*: the prompt is long enough for a text."""
    if hit.confidence is Confidence.LOW:
        return Fate.TITLE
    return Fate.TITLE_OF_MANY if enough else Fate.TITLE_OF_SHORT


def _given(store: Store, db: sqlite3.Connection) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return (ref, digest) of what this session was already given: as text, by title."""
    texts, titles = usage.injected(db, store.session), usage.pointed(db, store.session)
    # A hook only reads the index, and the server that takes in new events may not be up yet.
    for event in replay.not_taken_in(db, store.ledger):
        if event.event in usage.GIVING and event.data.get("session") == store.session:
            if event.data.get(usage.AFRESH):
                texts, titles = set(), set()
            new_texts, new_titles = usage.given(event.data)
            texts, titles = {*texts, *new_texts}, {*titles, *new_titles}
    return texts, titles


def _kept_back(hit: Hit, shown_pairs: Collection[tuple[str, str]]) -> Fate | None:
    """Return why *hit* does not come with a prompt, None when it may; *shown_pairs* are (ref, digest)."""
    if hit.confidence is Confidence.NONE:
        return Fate.UNSURE
    if not hit.pushable:
        return Fate.WAITS
    if hit.stale.gone:
        return Fate.GONE
    return Fate.SHOWN_BEFORE if (hit.ref, hit.digest) in shown_pairs else None


def _line(hit: Hit, terms: Sequence[str], rival: Rival | None) -> str:
    """Return one line about *hit*, with what it says of the *terms* of the prompt."""
    bare = BriefEntry(
        hit.id,
        hit.ref,
        hit.digest,
        hit.type,
        hit.title,
        "",
        hit.updated.strftime("%Y-%m-%d"),
        stale=bool(hit.stale),
        rival=rival,
        team=hit.level is Level.TEAM,
    )
    room = LINE - len(f"{entry_line(bare, LINE)}: ")
    return entry_line(bare._replace(text=excerpt(hit.text, terms, room)), LINE)
