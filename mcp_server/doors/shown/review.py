"""What waits for the person, and what became of it, in words."""

from collections.abc import Sequence

from mcp_server.actions.review import AGED, Answer, Became, Entry, Review
from mcp_server.core.memory import timestamp
from mcp_server.core.render import counted
from mcp_server.doors.shown import Shown

NOTHING = "Nothing waits for you."
CHOICES = {
    Answer.ACCEPT: "Accept it: Claude may be told it unasked",
    Answer.REJECT: "Reject it: to the trash, from where it can be restored",
    Answer.LATER: "Decide later: it goes on waiting",
}
OF_AGED = {
    Answer.ACCEPT: "Archive them: found with include_archived, told no more",
    Answer.REJECT: "Keep them: they age no more",
    Answer.LATER: "Decide later: upkeep goes on with as many as one run may",
}
UNASKED = "What waits is found by recall, labelled as data, and never told unasked."
SETTLED = {
    Became.ACCEPTED: "accepted",
    Became.REJECTED: "rejected: in the trash, 'daybook restore' brings it back",
    Became.LATER: "waits on",
    Became.CHANGED: "not settled: its file changed after it was shown",
    Became.GONE: "not settled: it waits no more",
}


def choices(entry: Entry) -> dict[str, str]:
    """Return what may be said to *entry*, and what that means."""
    return {answer.value: said for answer, said in (OF_AGED if entry.kind == AGED else CHOICES).items()}


def became(entry: Entry, what: Became) -> str:
    """Return what became of *entry*, in words."""
    if entry.kind == AGED:
        of_aged = {
            Became.ACCEPTED: "archived: 'daybook tidy --undo' brings them back",
            Became.REJECTED: "kept: they age no more",
            Became.CHANGED: "not settled: other memories have aged since",
        }
        return of_aged.get(what, SETTLED[what])
    return SETTLED[what]


def waiting(found: Review) -> Shown:
    """Return what waits, an entry a row."""
    if not found.entries:
        return Shown(NOTHING, json={"counts": dict(found.counts), "entries": []})
    kinds = ", ".join(f"{name} {number}" for name, number in found.counts.items() if number)
    more = (f"{found.left_out} more: 'daybook review --limit' shows them.",) if found.left_out else ()
    return Shown(
        f"Waiting for the person's word: {kinds}.",
        ("", "kind", "id", "type", "updated", "why", "title"),
        tuple(
            (f"{number}", entry.kind, entry.id, entry.type, f"{entry.updated:%F}", entry.why, entry.title)
            for number, entry in enumerate(found.entries, start=1)
        ),
        tuple("\n".join([entry.text, *entry.about]) for entry in found.entries),
        (*more, UNASKED),
        {"counts": dict(found.counts), "entries": [_json(entry) for entry in found.entries]},
    )


def settled(done: Sequence[tuple[Entry, Became]]) -> Shown:
    """Return what became of entries that the person was asked about."""
    number = sum(what in (Became.ACCEPTED, Became.REJECTED) for _, what in done)
    return Shown(
        f"Settled: {number} of {counted(len(done), 'entry')}.",
        ("id", "what became of it"),
        tuple((entry.id, became(entry, what)) for entry, what in done),
        json=[{"id": entry.id, "became": what.value} for entry, what in done],
    )


def whole(entry: Entry) -> list[str]:
    """Return all that *entry* says, as the lines a terminal shows before it asks."""
    return [
        entry.title,
        f"{entry.id}  {entry.type}  {entry.updated:%Y-%m-%d}  {entry.why}",
        entry.path,
        *(f"  {line}" for line in [*entry.text.splitlines(), *entry.about]),
    ]


def compact(entry: Entry) -> str:
    """Return all that *entry* says as one run of words, for a dialog that has few lines."""
    lines = [line.strip() for line in [*entry.text.splitlines(), *entry.about] if line.strip()]
    said = " ¶ ".join(lines)
    return f"{entry.type} “{entry.title}” ({entry.id}), which {entry.why}: {said}"


def _json(entry: Entry) -> dict[str, object]:
    return {
        "kind": entry.kind,
        "id": entry.id,
        "type": entry.type,
        "title": entry.title,
        "text": entry.text,
        "about": list(entry.about),
        "why": entry.why,
        "path": entry.path,
        "updated": timestamp(entry.updated),
    }
