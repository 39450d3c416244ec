"""settle: store what Claude or a pattern proposes, after a look at what is known already."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcp_server.actions.read import Found, is_accepted, read
from mcp_server.actions.recall import recall
from mcp_server.actions.remember import checked, remember, supersede, unsaid
from mcp_server.actions.revise import revise
from mcp_server.adapters.index import relations, usage
from mcp_server.core.errors import IndexUnavailable, NotFound
from mcp_server.core.links import is_artifact
from mcp_server.core.memory import Draft, Kind, Link, Memory, Status
from mcp_server.core.provenance import SEARCHED_ALONE, reads_like_instruction
from mcp_server.core.query import Filter, Hit, Mode, Query, Sort
from mcp_server.core.verdict import Action, Judgement, Statement, judge, richer
from mcp_server.core.words import content_words
from mcp_server.store import Store

NEIGHBOURS = 10  # nearest memories that a candidate is compared with
AT_ONCE = 5  # of those, when somebody waits for the answer,
MOST_WORDS = 3  # and words of the title that they are looked for with
BECAME = {
    Action.ADD: "added",
    Action.MERGE: "merged",
    Action.REPLACE: "replaced another",
    Action.CONTRADICT: "contradicts another",
    Action.IGNORE: "known already",
}
CONFIRMING = ("manual", "extracted")  # sources whose repetition makes a memory more believable


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done with a draft: the action, the id that holds it now, and the id it was weighed against."""

    action: Action
    id: str
    neighbour: str = ""
    superseded: tuple[str, ...] = ()  # what the draft named and took the place of
    unmoved: tuple[str, ...] = ()  # what it named that nobody has, or that was not active any more
    waiting: tuple[str, ...] = ()  # what it links to that no memory is called yet

    @property
    def known(self) -> bool:
        """Whether nothing new was stored."""
        return self.action in (Action.IGNORE, Action.MERGE)

    @property
    def note(self) -> str:
        """What became of the neighbour and of what was named, in sentences; '' when nothing did."""
        said = []
        if self.superseded:
            kept = "which is" if len(self.superseded) == 1 else "which are"
            said.append(f"It takes the place of {', '.join(self.superseded)}, {kept} kept as superseded.")
        if self.unmoved:
            named = ", ".join(each[:80] for each in self.unmoved)
            said.append(f"No active memory has the id {named}, so nothing became of that.")
        if self.waiting:
            named = ", ".join(each[:80] for each in self.waiting)
            said.append(f"No memory is called {named} yet; a link to it waits until one is.")
        if self.action is Action.REPLACE:
            said.append(f"It takes the place of {self.neighbour}, which is kept as superseded.")
        if self.action is Action.CONTRADICT:
            said.append(f"It contradicts {self.neighbour}; neither is shown unasked until one is revised.")
        return " ".join(said)


def neighbours_of(store: Store, text: str, *, mode: Mode = Mode.HYBRID, limit: int = NEIGHBOURS) -> list[Hit]:
    """Return the memories nearest to *text* that may be changed: those of vaults the person made."""
    query = Query(text, mode, Sort.RELEVANCE, limit, filter=Filter(kinds=(Kind.KNOWLEDGE,)))
    adopted = {vault.key for vault in store.vaults if vault.adopted}
    return [hit for hit in recall(store, query).hits if hit.ref.rpartition("/")[0] in adopted]


def settle(
    store: Store, draft: Draft, *, supersedes: str = "", at_once: bool = False, keep_secrets: bool = False
) -> Settled:
    """
    Store *draft* unless it is known: ignore, merge, replace, contradict or add, as `core.verdict` judges.

    *supersedes* is the id of the memory that the draft says it takes the place of; one that is not known
    loses nothing. *at_once*: somebody waits, so only memories that share words with the title are looked at.
    Raises Rejected when the draft cannot be stored, OSError when the disk refuses.
    """
    draft = checked(draft, keep_secrets=keep_secrets)
    found = _near_title(store, draft) if at_once else _neighbours(store, draft, supersedes)
    ids = [each.memory.id for each, _ in found]
    statements = [_statement(each, cosine) for each, cosine in found]
    own = Statement(draft.title, draft.text, draft.type, draft.source)
    named = ids.index(supersedes) if supersedes in ids else None
    judged = judge(own, statements, supersedes=named)
    old = found[judged.neighbour][0] if judged.neighbour is not None else None
    if judged.action is Action.CONTRADICT and (draft.source in SEARCHED_ALONE or _is_strangers(store, old)):
        # Whatever a program printed, or came with a repository, would hide what is known here.
        judged, old = Judgement(Action.ADD), None
    asked = {each: _known(store, each) for each in draft.supersedes}
    active = [each for each, it in asked.items() if it and it.memory.status is Status.ACTIVE]
    match judged.action:
        case Action.IGNORE | Action.MERGE if old:
            _merge(store, draft, old, keep_words=judged.action is Action.IGNORE or _outranks(old, draft))
            # A process may have been killed before it came to that.
            supersede(store, old.memory, session=draft.session)
            return Settled(judged.action, old.memory.id, old.memory.id)
        case Action.REPLACE if old:
            draft = replace(draft, supersedes=(*draft.supersedes, old.memory.id))
        case Action.CONTRADICT if old:
            draft = replace(draft, links=(*draft.links, Link("contradicts", old.memory.id)))
        case _:
            related = [found[number][0].memory.id for number in judged.related]
            links = tuple(Link("relates-to", each) for each in related)
            draft = replace(draft, links=(*draft.links, *links))
    stored = remember(store, draft, keep_secrets=keep_secrets)
    return Settled(
        Action.IGNORE if stored.known else judged.action,
        stored.memory.id,
        old.memory.id if old else "",
        superseded=tuple(each for each in active if each != stored.memory.id),
        unmoved=tuple(each for each in asked if each not in active),
        waiting=() if stored.known else _waiting(store, stored.memory),
    )


def _waiting(store: Store, memory: Memory) -> tuple[str, ...]:
    """Return what the head of *memory* links to that is neither a path nor what a memory is called."""
    names = [link.to for link in memory.links if not is_artifact(link.to)]
    if not names:
        return ()
    try:
        with store.database.read() as db:
            return relations.uncalled(db, names, [vault.key for vault in store.vaults])
    except IndexUnavailable:
        return ()


def _near_title(store: Store, draft: Draft) -> list[tuple[Found, float | None]]:
    """Return what may have to be merged or replaced; nothing when the person says so, or the index fails."""
    if draft.id or draft.supersedes:
        return []
    try:
        # The longest words are the rarest ones, and the quickest to look up.
        telling = sorted(content_words(draft.title), key=lambda word: (-len(word), word))[:MOST_WORDS]
        hits = neighbours_of(store, " ".join(telling), mode=Mode.KEYWORD, limit=AT_ONCE)
        own = Statement(draft.title, draft.text, draft.type, draft.source)
        near = [hit for hit in hits if judge(own, [_shown(hit)]).action is not Action.ADD]
        found = [_known(store, hit.id) for hit in near]
    except IndexUnavailable:
        return []
    return [(each, None) for each in found if each]


def _shown(hit: Hit) -> Statement:
    return Statement(hit.title, hit.text, hit.type)


def _neighbours(store: Store, draft: Draft, supersedes: str) -> list[tuple[Found, float | None]]:
    """Return the memories nearest to *draft* with their cosines, and the one it names wherever it is."""
    hits = neighbours_of(store, f"{draft.title}\n{draft.text}")
    found = [(_known(store, hit.id), hit.parts.cosine) for hit in hits]
    if supersedes and supersedes not in [hit.id for hit in hits]:
        found.append((_known(store, supersedes), None))
    return [(each, cosine) for each, cosine in found if each]


def _merge(store: Store, draft: Draft, old: Found, *, keep_words: bool) -> None:
    """Add to *old* what *draft* has beside its words, and those that say more; count the confirmation."""
    text = old.memory.text if keep_words else richer(old.memory.text, draft.text)
    with store.database.read() as db:
        accepted = bool(usage.accepted_digests(db, [old.digest]))
    accepted = accepted and (text == old.memory.text or not reads_like_instruction(text))
    revision = replace(unsaid(old.memory, draft), text=text)
    revise(store, old.memory.id, revision, session=draft.session, accept=accepted)
    if draft.source in CONFIRMING and draft.session != old.memory.session:
        store.ledger.note("confirmed", store.clock(), refs=[old.ref], session=draft.session)


def _is_strangers(store: Store, found: Found | None) -> bool:
    """Tell whether a memory came with a repository and was not accepted, whoever it claims to be from."""
    return found is not None and found.vault.in_repository and not is_accepted(store, found)


def _outranks(old: Found, draft: Draft) -> bool:
    own = Statement(draft.title, draft.text, draft.type, draft.source)
    return _statement(old, None).authority > own.authority


def _known(store: Store, memory_id: str) -> Found | None:
    try:
        return read(store, memory_id)
    except NotFound:
        return None


def _statement(found: Found, cosine: float | None) -> Statement:
    memory = found.memory
    return Statement(
        memory.title, memory.text, memory.type, memory.source, memory.verified is not None, cosine
    )


def describe(settled: Sequence[Settled]) -> str:
    """Return in one line how many drafts were stored, merged and so on."""
    counts = {action: sum(each.action is action for each in settled) for action in BECAME}
    return ", ".join(f"{number} {BECAME[action]}" for action, number in counts.items() if number) or "nothing"


def describe_each(settled: Sequence[Settled]) -> list[str]:
    """Return a line for each draft: the id that holds it now, and what became of it."""
    return [
        f"{each.id}: {BECAME[each.action]}"
        + (f", {each.neighbour}" if each.neighbour not in ("", each.id) else "")
        for each in settled
    ]
