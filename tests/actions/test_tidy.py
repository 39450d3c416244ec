"""Tidying: what becomes one, what is marked, what is put away, and that all of it can be taken back."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_server.actions.embed import embed_pending
from mcp_server.actions.forget import restore
from mcp_server.actions.journal import complete
from mcp_server.actions.read import read
from mcp_server.actions.recall import recall
from mcp_server.actions.remember import remember
from mcp_server.actions.revise import Revision, revise
from mcp_server.actions.sync import catch_up, rebuild, sync
from mcp_server.actions.tidy import Tidied, tidy, tidy_when_due, undo
from mcp_server.adapters.index import tidying, usage
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import NotFound
from mcp_server.core.memory import Draft, Kind, Level, Link, Status
from mcp_server.core.query import Query
from mcp_server.store import Store
from tests.conftest import Clock
from tests.core.test_verdict import test_what_differs_where_it_matters_is_replaced_and_never_merged as traps
from tests.live import ROOT
from tests.scripted_model import Answer, ScriptedModel, reply

TRAPS: list[tuple[str, str]] = traps.pytestmark[0].args[1]


def put(store: Store, text: str, *, title: str = "", type: str = "decision", **more: object) -> str:
    draft = Draft(title or text[:60], text, type=type, **{"source": "extracted", **more})  # type: ignore[arg-type]
    return remember(store, draft).memory.id


def status(store: Store, memory_id: str) -> Status:
    return read(store, memory_id).memory.status


def files_of(store: Store) -> dict[str, bytes]:
    """Return every memory's file in the store, whatever folder it lies in."""
    return {str(path.relative_to(store.home)): path.read_bytes() for path in store.home.rglob("*.md")}


def in_trash(store: Store) -> list[str]:
    return sorted(path.stem for path in (store.home / "trash").rglob("*.md"))


ALIKE = (
    "Deploys run from GitHub Actions on every push to main",
    "Deploys run from GitHub Actions on each push to main, after the tests",
)


# Duplicates


def test_the_richer_of_two_that_say_the_same_stays_and_takes_over(store: Store, clock: Clock) -> None:
    poor = put(store, ALIKE[0], tags=("ci",))
    rich = put(store, ALIKE[1], tags=("deploy",))
    recall(store, Query("deploys"), session="s1")

    done = tidy(store)

    assert done.counts == {"duplicates": 1}
    assert done.lines()[0] == f"merge 2: [{rich}] + [{poor}] -> {ALIKE[1][:60].strip()}"
    old, new = read(store, poor).memory, read(store, rich).memory
    assert (old.status, old.superseded_by, old.text) == (Status.SUPERSEDED, rich, ALIKE[0])
    assert old.valid_to == clock()
    assert (new.tags, new.merged_from, new.text) == (("deploy", "ci"), (poor,), ALIKE[1])
    with store.database.read() as db:
        ref = read(store, rich).ref
        assert usage.usage_of(db, [ref])[ref].accesses == 2
    assert tidy(store).entries == []


def test_what_the_person_said_absorbs_its_copies_and_is_not_merged_otherwise(store: Store) -> None:
    theirs = put(store, ALIKE[0], source="manual")
    near = put(store, ALIKE[1])
    path = read(store, theirs).path
    copy = path.with_name("copy.md")
    copy.write_bytes(
        path.read_bytes().replace(theirs.encode(), b"copy").replace(b"source: manual", b"source: mined")
    )

    done = tidy(store)

    assert [entry.reason for entry in done.entries] == [f"merge 2: [{theirs}] + [copy]"]
    assert status(store, "copy") is Status.SUPERSEDED
    assert status(store, theirs) is status(store, near) is Status.ACTIVE
    assert len(done.proposals) == 1
    assert near in done.proposals[0]


def test_a_pinned_memory_never_goes(store: Store) -> None:
    pinned, other = put(store, ALIKE[0]), put(store, ALIKE[1])
    revise(store, pinned, Revision(pinned=True))

    assert tidy(store).counts == {}
    assert status(store, pinned) is status(store, other) is Status.ACTIVE


def test_no_number_is_lost_with_a_duplicate(store: Store) -> None:
    put(store, "Invoices are rendered nightly by the billing worker at 02:30")
    put(store, "Invoices are rendered nightly by the billing worker, in the shop's container")

    done = tidy(store)

    assert done.counts == {}
    assert len(done.proposals) == 1


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        (
            "Database",
            "We picked PostgreSQL as the primary database for the shop.",
            "PostgreSQL was chosen by us as main database of our shop.",
        ),
        (
            "Cache",
            "The product cache is warmed by the loader at startup.",
            "At startup the loader clears the cache of products.",
        ),
    ],
)
def test_what_only_vectors_find_alike_is_proposed(
    meaning_store: Store, title: str, one: str, other: str
) -> None:
    ids = [put(meaning_store, text, title=title) for text in (one, other)]
    embed_pending(meaning_store)

    done = tidy(meaning_store)

    assert [status(meaning_store, each) for each in ids] == [Status.ACTIVE] * 2
    assert len(done.proposals) == 1
    assert all(f"[{each}]" in done.proposals[0] for each in ids)


def test_what_vectors_find_near_is_merged_when_the_other_has_its_words(meaning_store: Store) -> None:
    title = "Postgres backups"
    poor = put(meaning_store, "Backups of Postgres run at night", title=title)
    rich = put(
        meaning_store, "Nightly backups of the Postgres database run at night, scheduled by cron", title=title
    )
    embed_pending(meaning_store)

    done = tidy(meaning_store)

    assert done.counts == {"duplicates": 1}
    assert status(meaning_store, poor) is Status.SUPERSEDED
    assert status(meaning_store, rich) is Status.ACTIVE


def test_memories_of_the_person_and_of_the_project_are_not_mixed(store: Store) -> None:
    put(store, "Prefer tabs over spaces in all Go files", type="preference", level=Level.USER)
    put(store, "Prefer spaces over tabs in all Go files", type="preference", level=Level.PROJECT)

    assert tidy(store).entries == []


# Contradictions


@pytest.mark.parametrize(("one", "other"), TRAPS)
def test_trap_pairs_survive_and_are_marked(store: Store, clock: Clock, one: str, other: str) -> None:
    old = put(store, one)
    clock.pass_days(1)
    new = put(store, other)

    done = tidy(store)

    assert done.counts == {"contradictions": 1}
    assert status(store, old) is status(store, new) is Status.ACTIVE
    assert read(store, new).memory.links == (Link("contradicts", old),)
    assert read(store, old).memory.links == ()
    assert tidy(store).entries == []


def test_two_that_are_linked_already_are_left_alone(store: Store) -> None:
    old = put(store, TRAPS[0][0])
    put(store, TRAPS[0][1], links=(Link("refines", old),))

    assert tidy(store).entries == []


def test_a_link_that_the_person_removed_is_not_put_back(store: Store) -> None:
    put(store, TRAPS[0][0])
    put(store, TRAPS[0][1])
    marked = tidy(store).entries[0].changes[0].id
    revise(store, marked, Revision(links=()))

    assert tidy(store).entries == []


# Ageing


def test_what_nobody_uses_goes_to_the_archive_and_comes_back(store: Store, clock: Clock) -> None:
    note = put(store, "A passing thought about the logo", type="note")
    talk = put(store, "user: hello\n\nclaude: hello", title="Talk", kind=Kind.CONVERSATION)
    clock.pass_days(80)
    fresh = put(store, "Another thought about the header", type="note")
    clock.pass_days(11)

    done = tidy(store)

    assert done.counts == {"ageing": 2}
    assert status(store, fresh) is Status.ACTIVE
    archived = read(store, note)
    assert (archived.memory.status, archived.memory.archived_reason) == (Status.ARCHIVED, "aged")
    assert archived.path.parent.name == "archive"
    assert read(store, talk).memory.kind is Kind.CONVERSATION
    assert restore(store, talk).path.parent.name == "conversations"
    assert restore(store, note).memory.status is Status.ACTIVE
    assert tidy(store).counts == {}  # that it was restored is activity
    assert status(store, note) is Status.ACTIVE


@pytest.mark.parametrize("reason", ["pinned", "recalled", "revised", "lasting and used once"])
def test_what_was_looked_after_does_not_age(store: Store, clock: Clock, reason: str) -> None:
    lasting = reason.startswith("lasting")
    kept = put(store, "The gateway speaks gRPC", type="architecture" if lasting else "reference")
    if lasting:
        recall(store, Query("gateway"), session="s1")
    clock.pass_days(85)
    if reason == "pinned":
        revise(store, kept, Revision(pinned=True))
    elif reason == "recalled":
        recall(store, Query("gateway"), session="s1")
    elif reason == "revised":
        revise(store, kept, Revision(tags=("grpc",)))
    clock.pass_days(300 if reason == "pinned" or lasting else 10)

    assert tidy(store).counts == {}
    assert status(store, kept) is Status.ACTIVE


def test_nothing_ages_when_the_person_says_so(open_here: Callable[..., Opened], clock: Clock) -> None:
    store = open_here(AUTO_ARCHIVE_DAYS="0").store()
    put(store, "A passing thought", type="note")
    clock.pass_days(2000)

    assert tidy(store).counts == {}


def test_an_archived_memory_without_links_ends_in_the_trash(store: Store, clock: Clock) -> None:
    lonely = put(store, "A passing thought about the logo", type="note")
    linked = put(store, "The palette of the shop", type="note")
    clock.pass_days(91)
    put(store, "The header follows the palette", links=(Link("depends-on", linked),))
    assert tidy(store).counts == {"ageing": 2}

    assert tidy(store).counts == {"orphans": 1}
    assert status(store, lonely) is Status.ORPHANED
    assert status(store, linked) is Status.ARCHIVED
    clock.pass_days(89)
    rebuild(store)
    assert "trash" not in tidy(store).counts
    clock.pass_days(2)
    done = tidy(store)

    assert done.counts["trash"] == 1
    assert in_trash(store) == [lonely]
    with pytest.raises(NotFound):
        read(store, lonely)
    undo(store)
    assert status(store, lonely) is Status.ORPHANED


def test_what_links_to_an_active_memory_is_no_orphan(store: Store, clock: Clock) -> None:
    active = put(store, "The palette of the shop has nine colours", type="decision")
    revise(store, active, Revision(pinned=True))
    put(store, "The footer follows the palette", type="note", links=(Link("refines", active),))
    clock.pass_days(91)
    assert tidy(store).counts == {"ageing": 1}

    assert tidy(store).counts == {}


# The model


def plan_of(**parts: object) -> Answer:
    return reply(json.dumps({"keep": [], "merge": [], "drop": [], **parts}))


@pytest.fixture
def with_model(open_here: Callable[..., Opened]) -> Callable[[ScriptedModel], Store]:
    def open_(api: ScriptedModel) -> Store:
        return open_here(
            DAYBOOK_MODEL_CALLS="true", ANTHROPIC_API_KEY="sk-test", ANTHROPIC_BASE_URL=api.url
        ).store()

    return open_


FIVE = (
    "The shop's frontend is written in TypeScript with React",
    "Payments go through Stripe, never through PayPal",
    "Stripe webhooks need the raw request body",
    "Nightly reports are built at 02:30 by cron",
    "The old beta banner is shown until 2026-11-01",
)


def test_a_model_merges_and_drops_what_the_checks_let_through(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    merged = {
        "from": [2, 3],
        "title": "Stripe payments",
        "text": "Payments go through Stripe, never through PayPal; webhooks need the raw request body.",
    }
    with ScriptedModel([plan_of(keep=[1, 4], merge=[merged], drop=[5])]) as api:
        store = with_model(api)
        ids = []
        for text in FIVE:
            ids.append(
                put(
                    store,
                    text,
                    tags=(text.split()[0],),
                    source="assistant" if "PayPal" in text else "extracted",
                )
            )
            clock.pass_days(0.01)
        clock.pass_days(2)
        done = tidy(store)
        again = tidy(store)

        assert (done.calls, again.calls, api.calls) == (1, 0, 1)
        assert done.counts == {"merges": 1, "drops": 1}
    made = read(store, done.entries[0].changes[0].id).memory
    assert (made.source, made.merged_from, made.tags) == (
        "assistant",
        (ids[1], ids[2]),
        ("payments", "stripe"),
    )
    assert all(status(store, each) is Status.SUPERSEDED for each in ids[1:3])
    assert read(store, ids[4]).memory.archived_reason == "dropped"
    assert not list((store.home / "work").glob("*.json"))
    clock.pass_days(15)
    assert in_trash(store) == []
    tidy(store, with_model=False)
    assert in_trash(store) == [ids[4]]


def test_a_model_that_drops_what_the_person_said_changes_nothing(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])]) as api:
        store = with_model(api)
        ids = [put(store, text, source="manual") for text in FIVE]
        clock.pass_days(2)
        done = tidy(store)

        assert done.counts == {}
        assert "protected" in done.refused[0]
        assert all(status(store, each) is Status.ACTIVE for each in ids)
        assert tidy(store).calls == 0  # the same question has the same answer


def test_nothing_is_dropped_on_its_first_day(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])]) as api:
        store = with_model(api)
        for text in FIVE:
            put(store, text)
        clock.pass_days(0.9)

        assert "protected" in tidy(store).refused[0]


def test_without_consent_or_enough_memories_nobody_is_asked(
    with_model: Callable[[ScriptedModel], Store], open_here: Callable[..., Opened]
) -> None:
    with ScriptedModel() as api:
        store = with_model(api)
        for text in FIVE[:4]:
            put(store, text)
        tidy(store)
        put(store, FIVE[4])
        tidy(open_here(ANTHROPIC_API_KEY="sk-test", ANTHROPIC_BASE_URL=api.url).store())
        tidy(store, dry_run=True)

        assert api.calls == 0


def test_a_dry_run_asks_only_when_told_and_its_answer_is_used(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([plan_of(keep=[1, 2, 3, 4], drop=[5])]) as api:
        store = with_model(api)
        for text in FIVE:
            put(store, text)
            clock.pass_days(0.01)
        clock.pass_days(2)
        before = files_of(store)
        dry = tidy(store, dry_run=True, with_model=True)
        assert files_of(store) == before
        done = tidy(store)

        assert (api.calls, done.calls) == (1, 0)
        assert dry.counts == done.counts == {"drops": 1}


def test_a_model_that_does_not_answer_is_reported_and_the_rest_goes_on(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    with ScriptedModel([Answer(reset=True)]) as api:
        store = with_model(api)
        for text in FIVE:
            put(store, text, type="note")
        clock.pass_days(100)
        done = tidy(store)

        assert done.waits
        assert done.counts == {"ageing": 5}


# The journal


def test_a_dry_run_changes_nothing_and_says_what_would_be_done(store: Store, clock: Clock) -> None:
    for text in (*ALIKE, *TRAPS[0]):
        put(store, text)
    clock.pass_days(1)
    before = files_of(store), [path.read_bytes() for path in store.ledger.paths()]

    dry = tidy(store, dry_run=True)

    assert (files_of(store), [path.read_bytes() for path in store.ledger.paths()]) == before
    assert dry.lines()[-1] == "would do: duplicates 1, contradictions 1"
    assert [entry.line for entry in tidy(store).entries] == [entry.line for entry in dry.entries]


def test_undo_puts_everything_back_and_it_is_not_done_again(store: Store, clock: Clock) -> None:
    put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    for text in (*ALIKE, *TRAPS[0]):
        put(store, text)
    before = files_of(store)
    done = tidy(store)
    assert done.counts == {"duplicates": 1, "contradictions": 1, "ageing": 1}
    assert files_of(store) != before

    undone = undo(store)

    assert undone.run == done.run
    assert undone.skipped == []
    assert len(undone.restored) == 4
    assert files_of(store) == before
    assert tidy(store).counts == {}
    assert undo(store).lines() == ["There is nothing to undo."]


def test_undo_leaves_alone_what_was_changed_since(store: Store) -> None:
    poor, rich = put(store, ALIKE[0]), put(store, ALIKE[1])
    run = tidy(store).run
    revise(store, rich, Revision(text="Deploys are done by hand now."))

    undone = undo(store, run)

    assert undone.skipped == [(rich, "it was changed since")]
    assert undone.restored == [poor]
    assert read(store, rich).memory.text == "Deploys are done by hand now."


def test_a_merge_of_a_model_goes_to_the_trash_when_it_is_undone(
    with_model: Callable[[ScriptedModel], Store], clock: Clock
) -> None:
    merged = {"from": [2, 3], "title": "Stripe", "text": f"{FIVE[1]}. {FIVE[2]}."}
    with ScriptedModel([plan_of(keep=[1, 4, 5], merge=[merged])]) as api:
        store = with_model(api)
        for text in FIVE:
            put(store, text)
            clock.pass_days(0.01)
        before = files_of(store)
        done = tidy(store)
        made = done.entries[0].changes[0].id

        undo(store)

    assert in_trash(store) == [made]
    assert {name: data for name, data in files_of(store).items() if not name.startswith("trash")} == before


def test_a_memory_in_a_folder_of_its_own_goes_back_there(store: Store, clock: Clock) -> None:
    path = read(store, put(store, "A passing thought", type="note")).path
    place = path.parent / "thoughts" / "mine.md"
    place.parent.mkdir()
    path.rename(place)
    sync(store)
    clock.pass_days(91)
    assert tidy(store).counts == {"ageing": 1}
    assert not place.exists()

    undo(store)

    assert place.exists()


@pytest.mark.parametrize("kept_lines", [0, 1])
def test_a_run_that_was_killed_is_completed_by_the_next(store: Store, kept_lines: int) -> None:
    poor, rich = put(store, ALIKE[0]), put(store, ALIKE[1])
    paths = [read(store, each).path for each in (rich, poor)]
    before = [path.read_bytes() for path in paths]
    tidy(store)
    after = [path.read_bytes() for path in paths]
    # As a kill leaves it: the intention is in the ledger, the first file may be written, nothing else is.
    for number in range(kept_lines, 2):
        paths[number].write_bytes(before[number])
    for ledger in store.ledger.paths():
        lines = ledger.read_text(encoding="utf-8").splitlines(keepends=True)
        cut = [line for line in lines if '"ended"' not in line and '"event": "merged"' not in line]
        ledger.write_text("".join(cut), encoding="utf-8")
    rebuild(store)

    tidy(store)

    assert [path.read_bytes() for path in paths] == after
    undo(store)
    assert status(store, poor) is Status.ACTIVE


def test_what_was_killed_before_its_memory_was_made_leaves_the_sources(store: Store) -> None:
    ids = [put(store, text) for text in FIVE[:2]]
    catch_up(store)
    vault = read(store, ids[0]).vault.key
    said = {"was": {}, "now": {"place": "knowledge/new.md"}, "ref": f"{vault}/new", "said": "x"}
    gone = [
        {
            "ref": f"{vault}/{each}",
            "said": "y",
            "was": {"place": f"knowledge/{each}.md"},
            "now": {"place": f"knowledge/{each}.md", "status": "superseded"},
        }
        for each in ids
    ]
    store.ledger.append("tidied", store.clock(), run="r1", step="merges", reason="", changes=[said, *gone])
    catch_up(store)

    complete(store, "r1")

    assert [status(store, each) for each in ids] == [Status.ACTIVE] * 2
    with store.database.read() as db:
        assert tidying.brought_back(db) == set()


def sweep(home: str, project: str) -> None:
    """Kill tidying before each of its writes in turn; runs in a process of its own, which has no threads."""
    clock = Clock()
    original = Path(home)
    clock.pass_days(93)

    def opened(folder: Path) -> Store:
        environment = {**os.environ, "MEMORY_DIR": str(folder), "EMBEDDING_MODEL": "none"}
        return Opened(environment, folder=Path(project), clock=clock).store()

    before = files_of(opened(original))
    texts = {data.split(b"---\n")[2] for data in before.values()}
    finals: list[dict[str, bytes]] = []
    code = 9
    while code == 9:
        copy = original.with_name(f"copy{len(finals)}")
        shutil.copytree(original, copy, ignore=shutil.ignore_patterns("memory.db*"))
        child = os.fork()
        if child == 0:
            store = opened(copy)
            sync(store)
            die_before_write(len(finals) + 1)
            tidy(store)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        store = opened(copy)
        assert {data.split(b"---\n")[2] for data in files_of(store).values()} == texts
        tidy(store)
        finals.append(files_of(store))
        for _ in range(2):  # the runs before and after the kill
            assert undo(store).skipped == []
        assert files_of(store) == before
        store.database.close()
    assert code == 0
    assert [final.keys() for final in finals] == [finals[-1].keys()] * len(finals)
    assert [b"".join(final.values()).count(b"superseded_by") for final in finals] == [1] * len(finals)
    print(len(finals))


def die_before_write(number: int) -> None:
    """Let this process die before it writes, links or unlinks a file for the *number*-th time."""
    writes = itertools.count(1)

    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def called(*args: object, **more: object) -> object:
            if next(writes) == number:
                os._exit(9)
            return call(*args, **more)

        return called

    for name in ("write", "link", "unlink", "replace", "rename"):
        setattr(os, name, dying(getattr(os, name)))


def test_a_kill_at_any_moment_loses_nothing_and_can_be_undone(
    store: Store, clock: Clock, project: Path
) -> None:
    put(store, "A passing thought about the logo", type="note")
    clock.pass_days(91)
    for text in (*ALIKE, *TRAPS[0]):
        put(store, text)

    done = subprocess.run(
        [sys.executable, "-c", "import sys; from tests.actions.test_tidy import sweep; sweep(*sys.argv[1:])",
         str(store.home), str(project)],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


# When it is due


def learned(store: Store, pieces: int) -> None:
    for number in range(pieces):
        store.ledger.append(
            "transcript_learned", store.clock(), path="/t.jsonl", session="s", end=1, turns=[str(number)]
        )
    catch_up(store)


def test_it_is_due_after_ten_pieces_and_at_most_once_an_hour(store: Store, clock: Clock) -> None:
    learned(store, 9)
    assert tidy_when_due(store) is None
    learned(store, 1)
    assert isinstance(tidy_when_due(store), Tidied)
    learned(store, 10)
    assert tidy_when_due(store) is None
    clock.pass_days(1 / 24)
    assert isinstance(tidy_when_due(store), Tidied)
    clock.pass_days(1)
    assert tidy_when_due(store) is None


def test_it_is_due_at_the_end_of_a_session_that_taught_something(store: Store, clock: Clock) -> None:
    tidy(store)
    clock.pass_days(1)
    seen = {"path": "/t.jsonl", "end": 9, "session": "s", "folder": "/"}
    store.ledger.append("transcript_seen", clock(), **seen, ended=True)
    learned(store, 1)
    assert tidy_when_due(store) is None
    put(store, FIVE[0])

    assert isinstance(tidy_when_due(store), Tidied)


def test_it_is_due_when_many_memories_are_new(store: Store, clock: Clock) -> None:
    folder = read(store, put(store, FIVE[0])).path.parent
    for number in range(80):
        (folder / f"n{number}.md").write_text(
            f"Fact number {number} of chapter {number * 7}\n", encoding="utf-8"
        )
    sync(store)

    assert isinstance(tidy_when_due(store), Tidied)
    clock.pass_days(1)
    assert tidy_when_due(store) is None


# What it is all for


SUBJECTS = [
    ("billing", "Invoices of the billing module are rendered by WeasyPrint in the worker"),
    ("search", "Full text search of the catalogue runs on Meilisearch behind the gateway"),
    ("login", "Logins are handled by Keycloak with refresh tokens kept in cookies"),
    ("images", "Product images are resized by imgproxy and cached at the CDN"),
    ("queue", "Background jobs of the shop are queued in RabbitMQ with dead letters"),
    ("mail", "Transactional mail leaves through Postmark with templates in Git"),
    ("tests", "Integration tests start Postgres in a container for every worker"),
    ("deploy", "Releases are deployed by Argo after approval in the staging channel"),
    ("metrics", "Metrics are scraped by Prometheus from the sidecar of each service"),
    ("errors", "Crashes are reported to Sentry with the release and the user's hash"),
    ("cache", "Sessions and carts are cached in Redis with a sliding expiry"),
    ("taxes", "Sales taxes are computed by the Avalara client before checkout"),
    ("mobile", "The mobile application is written in Flutter and shares the API schema"),
    ("schema", "API schemas are written in OpenAPI and checked in the pipeline"),
    ("feature", "Feature flags are read from Unleash at the start of each request"),
]  # fmt: skip
VARIANTS = ("{}", "{}, as agreed", "{}, as agreed with the team")
QUESTIONS = [
    (question, subject)
    for subject, text in SUBJECTS
    for question in (" ".join(re.findall(r"\w+", text)[:4]), " ".join(re.findall(r"\w+", text)[-5:]))
]


def found(store: Store) -> list[bool]:
    """Return for each question whether one of the two best hits is about its subject."""
    return [
        any(subject in hit.tags for hit in recall(store, Query(question, limit=2)).hits)
        for question, subject in QUESTIONS
    ]


def test_recall_is_no_worse_after_tidying(store: Store) -> None:
    for subject, text in SUBJECTS:
        for variant in VARIANTS:
            put(store, variant.format(text), title=f"About {subject}", tags=(subject,))
    for one, other in TRAPS:
        put(store, one)
        put(store, other)
    before = found(store)
    assert len(QUESTIONS) == 30

    done = tidy(store)

    assert done.counts["duplicates"] == len(SUBJECTS) * (len(VARIANTS) - 1)
    after = found(store)
    assert sum(before) == sum(after) == len(QUESTIONS)
    active = [row for row in recall(store, Query("seconds timeout", limit=10)).hits if "timeout" in row.text]
    assert {hit.text for hit in active} == set(TRAPS[0])


def test_the_answers_of_a_rebuilt_index_are_the_same(store: Store, clock: Clock, tmp_path: Path) -> None:
    for text in (*ALIKE, *TRAPS[0]):
        put(store, text)
    recall(store, Query("deploys push"), session="s1")
    tidy(store)

    def told() -> list[object]:
        with store.database.read() as db:
            return [
                sorted(map(tuple, db.execute(f"SELECT * FROM {table}")))
                for table in ("tidied", "tidied_groups", "put_away", "upkeep", "usage")
            ]

    before = told()
    rebuild(store)

    assert told() == before
