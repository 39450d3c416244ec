"""find_named: which memory a person means by an id, a title or some words that they typed."""

from dataclasses import dataclass

from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import read
from mcp_server.actions.recall.recall import recall
from mcp_server.core.errors import NotFound
from mcp_server.core.search.query import Confidence, Filter, Query
from mcp_server.store import Store

NAMED = 5  # memories, at most, that are named when several may be meant


@dataclass(frozen=True, slots=True)
class Meant:
    """The memories that may be meant, the likeliest first; not `sure` when they are merely the nearest."""

    files: tuple[MemoryFile, ...]
    sure: bool


def meant_by(store: Store, words: str, filter: Filter) -> Meant:
    """
    Return what *words* mean: the memory with that id, else those of that title, else what recall finds.

    Nothing is counted as recalled. Raises IndexUnavailable.
    """
    try:
        return Meant((read(store, words),), sure=True)
    except NotFound:
        hits = recall(store, Query(words, limit=NAMED, filter=filter)).hits
    titled = [hit for hit in hits if hit.title.casefold() == words.casefold()]
    confident = [hit for hit in hits if hit.confidence is not Confidence.NONE]
    ids = dict.fromkeys(hit.id for hit in titled or confident or hits)
    return Meant(tuple(read(store, memory_id) for memory_id in ids), sure=bool(titled or confident))
