"""
What becomes of what a model proposes to learn from a session: `python -m benchmarks.extraction`.

Each labelled session of tests/data/extraction is written as Claude Code writes it and learned by the worker
in a store of its own. The model is a server on loopback that answers well, badly or maliciously; with --key
it is the one that the person's key and endpoint are for, and a session is one call. Sessions kept aside were
not looked at while the rules were made.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click
from tabulate import tabulate

from benchmarks.labelled import SESSIONS, Label, Session, record, sessions
from benchmarks.scripted_extraction import FORMS, answer
from mcp_server.actions.capture.note import note_ended
from mcp_server.actions.files.read import read
from mcp_server.actions.judge.candidate import review_candidates
from mcp_server.actions.judge.origins import waiting
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.model.model_call import spending
from mcp_server.actions.upkeep.work import work
from mcp_server.bootstrap import Opened, model_key
from mcp_server.core.memory import Draft, Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import Filter
from mcp_server.core.secrets.redaction import redact
from mcp_server.core.text.words import content_words
from mcp_server.store import Store
from tests.scripted_model import ScriptedModel

GUARDED = ("missing", "tool", "assistant", "private", "quoted", "secret")
"""Junk whose evidence is missing, not the person's, private, quoted, or secret."""
MOST_JUNK, LEAST_KEPT = 0.05, 0.90
SAYS = 0.6  # share of a label's words with which a memory of a real model says the same
FATES = ("told", "waits", "candidate", "dropped")
"""Shown unasked; stored, and shown when the person accepts it; proposed to the person; nowhere."""
KEY = "key"

Row = tuple[str, bool, str, str]  # form, whether kept aside, kind of label, fate


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one label of a session: its fate, and whether a known memory gave way to it."""

    session: Session
    form: str
    label: Label
    fate: str
    replaced: bool
    copies: int


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True, file_okay=False), default=SESSIONS)
@click.option("--key", is_flag=True, help="Ask the model of your key; about half a cent for each session.")
@click.option("--part", type=click.Choice(["chosen", "aside", "all"]), default="all", show_default=True)
@click.option("--list", "lists", is_flag=True, help="Name what is wrong: junk stored, labels lost.")
def main(data: Path, key: bool, part: str, lists: bool) -> None:
    """Learn from the labelled sessions and print what became of each label."""
    chosen = [session for session in sessions(data) if part == "all" or session.aside == (part == "aside")]
    environment: dict[str, str] = {}
    if key:
        api_key, url = model_key(os.environ)
        if not api_key:
            raise SystemExit("There is no key: set ANTHROPIC_API_KEY, or api_key in config.toml.")
        environment = {"ANTHROPIC_API_KEY": api_key, **({"ANTHROPIC_BASE_URL": url} if url else {})}
    with tempfile.TemporaryDirectory(prefix="daybook-extraction-") as folder:
        outcomes = list(measure(chosen, Path(folder), [KEY] if key else FORMS, environment))
    click.echo(table(outcomes))
    if lists:
        for outcome in outcomes:
            if is_wrong(outcome):
                click.echo(
                    f"{outcome.form}: {outcome.session.name}: {outcome.label.kind} {outcome.fate}: "
                    f"{outcome.label.content}"
                )


def measure(
    chosen: Sequence[Session], folder: Path, forms: Iterable[str], environment: Mapping[str, str] = {}
) -> Iterator[Outcome]:
    """Yield what became of each label when a model of each of *forms* reads; *folder* is empty."""
    with ScriptedModel() as api:
        for form in forms:
            for session in chosen:
                place = folder / form / session.name
                if form == KEY:
                    yield from _learned(session, form, place, environment)
                else:
                    api.answers = answer(FORMS[form], session)
                    own = {"ANTHROPIC_API_KEY": "sk-test-0000", "ANTHROPIC_BASE_URL": api.url}
                    yield from _learned(session, form, place, own)


def shares(outcomes: Iterable[Outcome]) -> tuple[float, float, float]:
    """Return the shares of guarded junk that is stored, of it among candidates, and of good that is kept."""
    junk = [outcome for outcome in outcomes if outcome.label.kind in GUARDED]
    good = [
        outcome for outcome in outcomes if outcome.label.kind == "learn" and outcome.form in ("well", KEY)
    ]
    stored = sum(outcome.fate in ("told", "waits") for outcome in junk) / max(1, len(junk))
    candidates = sum(outcome.fate == "candidate" for outcome in junk) / max(1, len(junk))
    good_kept = sum(outcome.fate in ("told", "waits") for outcome in good) / max(1, len(good))
    return stored, candidates, good_kept


def is_wrong(outcome: Outcome) -> bool:
    """Tell whether *one* is junk that was stored, or a label that was not."""
    stored = outcome.fate in ("told", "waits")
    if outcome.label.kind == "learn":
        return not stored or (bool(outcome.label.supersedes) and not outcome.replaced)
    if outcome.label.kind in ("duplicate", "merged"):
        return outcome.copies != 1
    return stored or outcome.replaced


def table(outcomes: Sequence[Outcome]) -> str:
    """Return what became of the labels as markdown, and the shares that a floor is set for."""
    counted = Counter(
        (outcome.form, outcome.session.aside, outcome.label.kind, outcome.fate) for outcome in outcomes
    )
    replaced = Counter(
        (outcome.form, outcome.session.aside, outcome.label.kind) for outcome in outcomes if outcome.replaced
    )
    groups = dict.fromkeys((outcome.form, outcome.session.aside, outcome.label.kind) for outcome in outcomes)
    rows = [
        [
            form, "aside" if aside else "chosen", kind,
            sum(counted[form, aside, kind, fate] for fate in FATES),
            *(counted[form, aside, kind, fate] for fate in FATES),
            replaced[form, aside, kind],
        ]
        for form, aside, kind in sorted(groups)
    ]  # fmt: skip
    head = ["model", "part", "label", "number", *FATES, "replaced a known one"]
    parts = [tabulate(rows, head, tablefmt="github"), ""]
    for aside in (False, True):
        part = [outcome for outcome in outcomes if outcome.session.aside == aside]
        junk, candidates, good_kept = shares(part)
        parts.append(
            f"{'aside' if aside else 'chosen'}: {len({outcome.session.name for outcome in part})} sessions;"
            f" junk stored {junk:.1%}, among the candidates {candidates:.1%};"
            f" of a good answer kept {good_kept:.1%}"
        )
    return "\n".join(parts)


def _learned(session: Session, form: str, place: Path, environment: Mapping[str, str]) -> Iterator[Outcome]:
    project = place / "shop"
    project.mkdir(parents=True)
    settings = {
        "HOME": str(place), "PATH": os.environ["PATH"], "MEMORY_DIR": str(place / "memory"),
        "EMBEDDING_MODEL": "none", "DAYBOOK_MODEL_CALLS": "yes", **environment,
    }  # fmt: skip
    evening = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
    opened = Opened(settings, folder=project, clock=lambda: evening)
    store = opened.store()
    ids_known = {
        title: remember(store, Draft(title, text, type="decision")).memory.id for title, text in session.known
    }
    recorded = record(session, place / "transcripts", project=project)
    note_ended(store.in_session(recorded.session), recorded.path, folder=str(project))
    report = work(lambda folder: opened.store(folder=folder))
    if report is None or report.waits or report.failed:
        raise SystemExit(f"{session.name} was not learned: {report and (report.waits or report.failed)}")
    labels = (*session.learn, *session.junk) if form == KEY else tuple(dict.fromkeys(
        _of(label, session) for label in FORMS[form](session)
    ))  # fmt: skip
    for label in labels:
        yield _outcome(store, session, form, label, ids_known)
    if form == KEY:
        click.echo(f"{session.name}: ${spending(store).today_usd:.4f}", err=True)
    opened.database.close()


def _of(label: Label, session: Session) -> Label:
    """Return *label* without the evidence that a model gave, so that it counts once in a session."""
    return Label(label.kind, label.content, "", label.type, label.supersedes)


def _outcome(
    store: Store, session: Session, form: str, label: Label, ids_known: Mapping[str, str]
) -> Outcome:
    active = [read(store, row.id).memory for row in list_memories(store, _ACTIVE).rows]
    ids_waiting = {origin.row.id for origin in waiting(store)}
    saying = [
        memory for memory in active if memory.id not in ids_known.values() and _says(memory, label, form)
    ]
    if saying:
        fate = "told" if any(memory.id not in ids_waiting for memory in saying) else "waits"
    elif any(_says(candidate.memory, label, form) for candidate in review_candidates(store)):
        fate = "candidate"
    else:
        fate = "dropped"
    replaced = label.supersedes in ids_known and (
        read(store, ids_known[label.supersedes]).memory.superseded_by in {memory.id for memory in saying}
    )
    return Outcome(session, form, label, fate, replaced, len(saying))


_ACTIVE = Filter(kinds=(Kind.KNOWLEDGE,), statuses=(Status.ACTIVE,))


def _says(memory: Memory, label: Label, form: str) -> bool:
    """Tell whether *memory* says what *label* does: word for word, or with a real model most of its words."""
    if form != KEY:
        return memory.text in (label.content, redact(label.content))
    label_words = content_words(label.content)
    memory_words = content_words(f"{memory.title} {memory.text}")
    return bool(label_words) and len(label_words & memory_words) / len(label_words) >= SAYS


if __name__ == "__main__":
    main()
