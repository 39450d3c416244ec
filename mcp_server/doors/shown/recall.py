"""The hits of an answer on their two shelves, with the line that stands above each."""

from collections.abc import Iterable, Sequence

from mcp_server.core.search.query import Hit, Verdict

BELOW = "From past conversations, which hold guesses too; ask for the kind conversation to see more:"
NOTHING_KNOWN = "Nothing that is known answers this with confidence."
NEAREST = f"{NOTHING_KNOWN} The nearest:"


def shelves(hits: Sequence[Hit]) -> list[tuple[str, list[Hit]]]:
    """Return (the line above it, '' for none; its hits) for each shelf that is not empty."""
    known, talks = [hit for hit in hits if not hit.below], [hit for hit in hits if hit.below]
    alone = from_conversations_alone(hits)
    found = [
        (NEAREST if alone else "", known),
        (f"{NOTHING_KNOWN} {BELOW}" if alone and not known else BELOW, talks),
    ]
    return [(line, shelf) for line, shelf in found if shelf]


def from_conversations_alone(hits: Iterable[Hit]) -> bool:
    """Tell whether only past conversations answer, and nothing that is known."""
    return {hit.below for hit in hits if hit.confidence is not Verdict.NONE} == {True}
