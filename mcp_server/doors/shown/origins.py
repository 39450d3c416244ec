"""Why a memory is not shown unasked before the person accepts it, in words."""

from mcp_server.core.provenance.origins import OriginDoubt, OriginReason

SENTENCES = {
    OriginDoubt.INSTRUCTS: "reads like an instruction",
    OriginDoubt.NO_TRANSCRIPT: "was stored in a session without a transcript",
    OriginDoubt.UNREAD: "comes from a session that could not be read in full",
    OriginDoubt.SAID_BY_OTHERS: "says '{word}', which only {place} said",
    OriginDoubt.NAMED_BY_OTHERS: "names '{word}', which only {place} said",
    OriginDoubt.NAMED_AFTER_OTHERS: (
        "names '{word}', which nothing in its session said after {place} was read"
    ),
    OriginDoubt.NOT_JUDGED: "was stored a moment ago, and its session has not been checked yet",
    OriginDoubt.FROM_REPOSITORY: "came with the repository",
    OriginDoubt.CHANGED: "was changed since you accepted it, but not by Daybook",
    OriginDoubt.PRINTED: "is what a program printed",
    OriginDoubt.IN_DOCUMENT: "is what a document says",
}

ACCEPTED = "Claude may be shown it unasked from now on."
WAITS_ON = "It is not shown unasked until the person accepts it: 'daybook review'."


def because(reason: OriginReason) -> str:
    """Return *reason* as the end of a sentence; what an earlier version wrote is one already."""
    if reason.doubt not in SENTENCES:
        return reason.doubt
    return SENTENCES[OriginDoubt(reason.doubt)].format(word=reason.word, place=reason.place)


def waits(reason: OriginReason | None) -> str:
    """Return why what Claude just stored waits; '' when it does not, or when that is known only later."""
    if reason is None or reason.doubt == OriginDoubt.NOT_JUDGED:
        return ""
    return f"It is not shown unasked until the person accepts it: it {because(reason)}."
