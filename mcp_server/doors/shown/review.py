"""What waits for the person, and the outcomes, in words."""

from collections.abc import Sequence

from mcp_server.actions.context.open_questions import Question
from mcp_server.actions.files.accepted import AcceptedBefore
from mcp_server.actions.judge.candidate import WaitsFor
from mcp_server.actions.review.entries import Became, Entry, Idle, Outcome, SaidIn, Verdict
from mcp_server.actions.review.review import AGED, CANDIDATE, EVERYWHERE, ORIGIN, Review, none_waits
from mcp_server.core.errors import DaybookError
from mcp_server.core.links import CONTRADICTS, SUPERSEDES
from mcp_server.core.memory import Staleness
from mcp_server.core.memory_parts import Level, timestamp
from mcp_server.core.provenance.origins import OriginReason
from mcp_server.core.render import counted, files_of_before
from mcp_server.doors.shown import Shown
from mcp_server.doors.shown.candidates import WAITS_FOR
from mcp_server.doors.shown.origins import because

NOTHING = "Nothing waits for you."
CHOICES = {
    Verdict.ACCEPT: "Accept it: Claude may be shown it unasked",
    Verdict.REJECT: "Reject it: it moves to the trash and can be restored",
    Verdict.REPLACES: "The first replaces the second, which is kept as superseded",
    Verdict.KEEP_BOTH: "Keep both: both are right",
    Verdict.MERGE: "Merge: one memory replaces both, shown before it is saved",
    Verdict.HOLDS: "It is still right, although the files changed",
    Verdict.LATER: "Decide later: it keeps waiting",
}
STANDS_IN = "The first shadows the second in this project; elsewhere nothing changes"
WHERE = ("holds everywhere", "is this project's")
HOLDS_HERE = (
    "The first, which applies everywhere, replaces this project's memory, which is kept as superseded"
)
OF_AGED = {
    Verdict.ACCEPT: "Archive them: only include_archived finds them",
    Verdict.REJECT: "Keep them: they no longer age",
    Verdict.LATER: "Decide later: each run of upkeep archives some of them",
}
OF_EVERYWHERE = {
    Verdict.ACCEPT: "Keep it once, for all projects: the projects' memories are kept as superseded",
    Verdict.REJECT: "Keep them as they are: you are not asked again",
    Verdict.LATER: CHOICES[Verdict.LATER],
}
MEANING = {AGED: OF_AGED, EVERYWHERE: OF_EVERYWHERE}
UNASKED = "A memory of unconfirmed origin is found by recall, labelled as data, and never shown unasked."
SAME_AGAIN = (
    "Only layout or dates changed since you accepted them, as by a formatter or other line ends:"
    " 'daybook trust {}' accepts these again."
)
TAKES_BACK = "'daybook undo {0}' reverses it"
SETTLED = {
    Became.ACCEPTED: f"accepted: {TAKES_BACK}",
    Became.REJECTED: f"rejected: {TAKES_BACK}",
    Became.REPLACED: f"replaced: {TAKES_BACK}",
    Became.SHADOWED: f"shadows the other in this project: {TAKES_BACK}",
    Became.KEPT_BOTH: f"both are kept: {TAKES_BACK}",
    Became.MERGED: f"merged: {TAKES_BACK}",
    Became.CONFIRMED: f"recorded as checked today: {TAKES_BACK}",
    Became.LATER: "waits on",
    Became.CHANGED: "not settled: its file changed after it was shown",
    Became.GONE: "not settled: it no longer waits",
}
OUTCOME_OF_AGED = {
    Became.ACCEPTED: "archived: 'daybook undo' brings them back",
    Became.REJECTED: "kept: they no longer age; 'daybook undo' reverses that",
    Became.CHANGED: "not settled: other memories have aged since",
}
OUTCOME_OF_EVERYWHERE = {
    Became.ACCEPTED: f"kept once, for all projects: {TAKES_BACK}",
    Became.REJECTED: f"kept as they are: {TAKES_BACK}",
}
UNSETTLED = (Became.LATER, Became.CHANGED, Became.GONE)


def waiting(review: Review) -> Shown:
    """Return what waits, an entry a row."""
    if not review.entries:
        return Shown(NOTHING, json={"counts": dict(review.counts), "entries": []})
    kinds = ", ".join(f"{name} {number}" for name, number in review.counts.items() if number)
    same = [entry.id for entry in review.entries if entry.before == AcceptedBefore(is_kept=True)]
    more = f"{review.left_out} more: 'daybook review --limit' shows them." if review.left_out else ""
    return Shown(
        f"Waiting for the person's decision: {kinds}.",
        ("", "kind", "id", "type", "updated", "why", "title"),
        tuple(
            (f"{number}", entry.kind, entry.name, entry.type, f"{entry.updated:%F}", why(entry), entry.title)
            for number, entry in enumerate(review.entries, start=1)
        ),
        tuple("\n".join(_texts(entry)) for entry in review.entries),
        notes=[
            more,
            UNASKED if review.counts.get(ORIGIN) else "",
            SAME_AGAIN.format(" ".join(same)) if same else "",
        ],
        json={"counts": dict(review.counts), "entries": [_json(entry) for entry in review.entries]},
    )


def settled(outcomes: Sequence[tuple[Entry, Outcome]], review: Review) -> Shown:
    """Return the outcome for entries that the person was asked about, and for the other names of *review*."""
    number = sum(isinstance(became, Became) and became not in UNSETTLED for _, became in outcomes)
    before = review.before.items()
    was_settled = [(name, f"{became.value} already; it waits no longer") for name, became in before]
    return Shown(
        f"Settled: {number} of {counted(len(outcomes), 'entry')}."
        if outcomes
        else "Nothing more was settled.",
        ("id", "result"),
        (*was_settled, *((entry.name, outcome(entry, became)) for entry, became in outcomes)),
        json=[
            *({"id": name, "became": became.value, "before": True} for name, became in before),
            *({"id": entry.name, **_outcome_json(became)} for entry, became in outcomes),
        ],
        notes=[str(none_waits(review.unknown)) if review.unknown else ""],
    )


def why(entry: Entry) -> str:
    """Return why *entry* waits, as the end of a sentence about its memory or memories."""
    match entry.why:
        case Question() as question:
            if not entry.level:
                return standing(question)
            first, second = WHERE[::-1] if entry.level is Level.PROJECT else WHERE
            return f"{standing(question)}; the first {first}, the second {second}"
        case Staleness() as stale:
            return f"is about files that have changed: {files_of_before(stale)}"
        case SaidIn(projects):
            return f"is said in the same words in {', '.join(projects)}"
        case Idle(days):
            return f"showed no sign of life for {counted(days, 'day')}, and are more than one run may archive"
        case OriginReason() as reason:
            return because(reason)
        case WaitsFor():
            return WAITS_FOR[entry.why]
        case str(text):
            return text


def about(entry: Entry) -> list[str]:
    """Return what is to be known of *entry* besides its title and text, a line each."""
    lines = [*entry.about]
    if entry.sightings:
        seen = entry.sightings
        lines.append(f"seen {counted(seen.times, 'time')} in {counted(seen.sessions, 'session')}")
    if entry.before and entry.before.is_kept:
        differs = entry.before.differs or "only its layout or dates"
        lines.append(f"since you accepted it: {differs}; 'daybook restore {entry.id}' reverses that")
    elif entry.before:
        lines.append("what you accepted is no longer kept")
    return lines


def outcome(entry: Entry, became: Outcome) -> str:
    """Return the outcome for *entry*, and how to take it back."""
    if isinstance(became, DaybookError):
        return f"not settled: {became.with_hint}"
    if entry.kind == AGED and became in OUTCOME_OF_AGED:
        return OUTCOME_OF_AGED[became]
    if entry.kind == EVERYWHERE and became in OUTCOME_OF_EVERYWHERE:
        return OUTCOME_OF_EVERYWHERE[became].format(entry.id)
    if entry.kind == CANDIDATE and became is Became.REJECTED:
        return f"rejected; it is not proposed again: {TAKES_BACK.format(entry.id)}"
    return SETTLED[became].format(*entry.ids)


def choices(entry: Entry) -> dict[str, str]:
    """Return the possible answers to *entry* → what each means."""
    meanings = MEANING.get(entry.kind, CHOICES)
    if entry.level:
        meanings = {**meanings, Verdict.REPLACES: STANDS_IN if entry.shadows else HOLDS_HERE}
    return {answer.value: meanings[answer] for answer in entry.answers}


def whole(entry: Entry) -> list[str]:
    """Return all of *entry* as the lines that a terminal shows before it asks."""
    against = ["", *whole(entry.against)] if entry.against else []
    if entry.level:
        against += ["", f"{Verdict.REPLACES}: {choices(entry)[Verdict.REPLACES]}."]
    return [
        entry.title,
        "  ".join(filter(None, (entry.id, entry.type, f"{entry.updated:%Y-%m-%d}", why(entry)))),
        entry.path,
        *(f"  {line}" for line in [*entry.text.splitlines(), *about(entry)]),
        *against,
    ]


def whole_merged(entry: Entry) -> list[str]:
    """Return the memory that would replace both memories of *entry*."""
    assert entry.merged
    title, text = entry.merged
    return [title, *(f"  {line}" for line in text.splitlines())]


def compact(entry: Entry) -> str:
    """Return all of *entry* as one paragraph, for a dialog that has few lines."""
    if entry.against:
        return f"1. {_run(entry)} — 2. {_run(entry.against)} — The two {why(entry)}."
    return f"{_named(entry)}, which {why(entry)}: {_lines(entry)}"


def compact_merged(entry: Entry) -> str:
    """Return the memory that would replace both memories of *entry*, for a dialog."""
    assert entry.merged
    title, text = entry.merged
    lines = " ¶ ".join(text.splitlines())
    return f"This would replace both: “{title}”: {lines}"


def standing(question: Question) -> str:
    """Return how the two stand to each other, as the end of a sentence about both."""
    if question.rel == CONTRADICTS:
        return "are marked as contradicting each other"
    if question.rel == SUPERSEDES:
        return "both are active, although one replaced the other"
    if question.fuller:
        return f"are alike, and [{question.fuller.id}] says all of both"
    return f"may differ in {question.differs}" if question.differs else "are alike"


def proposal(question: Question) -> str:
    """Return the question as one sentence."""
    return f"[{question.newer.id}] and [{question.older.id}] {standing(question)}"


def _run(entry: Entry) -> str:
    return f"{_named(entry)} of {entry.updated:%Y-%m-%d}: {_lines(entry)}"


def _named(entry: Entry) -> str:
    return f"{entry.type} “{entry.title}” ({entry.id})"


def _lines(entry: Entry) -> str:
    return " ¶ ".join(line.strip() for line in [*entry.text.splitlines(), *about(entry)] if line.strip())


def _texts(entry: Entry) -> list[str]:
    against = [f"and {entry.against.id}:", *_texts(entry.against)] if entry.against else []
    return [entry.text, *about(entry), *against]


def _outcome_json(became: Outcome) -> dict[str, object]:
    return {"became": became.value} if isinstance(became, Became) else {"refused": str(became)}


def _json(entry: Entry) -> dict[str, object]:
    fields: dict[str, object] = {
        "kind": entry.kind,
        "id": entry.id,
        "type": entry.type,
        "title": entry.title,
        "text": entry.text,
        "about": about(entry),
        "why": why(entry),
        "path": entry.path,
        "updated": timestamp(entry.updated),
        "answers": [answer.value for answer in entry.answers],
    }
    if entry.against:
        fields["against"] = _json(entry.against)
    return fields
