"""A result of each family, as an action returns it and the shown floor makes it."""

from collections.abc import Callable
from dataclasses import replace

from mcp_server.actions.capture.mine import Logged, Mining, MiningStatus
from mcp_server.actions.changes.deeds import TitledDeed
from mcp_server.actions.changes.history import ByOthers, History
from mcp_server.actions.context.hot import Warm
from mcp_server.actions.files.runs import Undone
from mcp_server.actions.files.size_limit import Size
from mcp_server.actions.files.sync import SyncReport
from mcp_server.actions.files.trash import Trashed
from mcp_server.actions.judge.candidate import Candidate
from mcp_server.actions.judge.contradiction import WAYS, Contradiction, Resolved
from mcp_server.actions.judge.draft_outcome import Action, DraftOutcome
from mcp_server.actions.memory.link import Linked
from mcp_server.actions.memory.list import Listing
from mcp_server.actions.memory.promote import HotStatus
from mcp_server.actions.memory.related import Related
from mcp_server.actions.memory.session import Since
from mcp_server.actions.memory.trust import Standing, TrustHistory
from mcp_server.actions.model.choose_embedder import ListedModel, Progress
from mcp_server.actions.recall.ask import CitedAnswer
from mcp_server.actions.recall.nearby import Near
from mcp_server.actions.sessions.forget_session import ForgottenSession
from mcp_server.actions.sessions.predict import Pattern
from mcp_server.actions.sessions.quality import Quality
from mcp_server.actions.sessions.session_history import Given, Patterns, ReadSoFar, SessionReport
from mcp_server.actions.status.stats import Capture, Metrics, Stats
from mcp_server.actions.upkeep.maintain import Checked, Cleaned, MaintenanceStep, Rebuilt
from mcp_server.actions.upkeep.tidy import Tidied
from mcp_server.adapters.git import GitTrouble
from mcp_server.adapters.index.events.episodes import Again
from mcp_server.adapters.index.events.receipts import Receipt, Tally
from mcp_server.adapters.index.events.trust import TrustEvent
from mcp_server.adapters.index.memories.counts import Counts
from mcp_server.adapters.index.memories.relations import Edge
from mcp_server.adapters.index.memories.unreadable import Problem
from mcp_server.adapters.missing_projects import Former
from mcp_server.adapters.project import Project
from mcp_server.core.errors import Rejected
from mcp_server.core.link_outcome import After, LinkOutcome
from mcp_server.core.memory import Staleness
from mcp_server.core.memory_parts import Level, Status
from mcp_server.core.runs import NotMade
from mcp_server.core.search.query import Answer, Confidence
from mcp_server.core.sessions.conversation import Turn
from mcp_server.core.settings import DEFAULTS
from mcp_server.doors.shown import (
    Shown,
    candidates,
    deeds,
    draft_outcome,
    figures,
    history,
    hot,
    links,
    memory,
    mining,
    recall,
    rows,
    sessions,
    state,
    trust,
    upkeep,
    use,
)
from tests.doors.shown_team import TEAM_FAMILIES
from tests.doors.shown_values import (
    ANSWER,
    AT,
    BUSY,
    COST,
    DEEDS,
    EARLIER,
    ENTRIES,
    EPISODE,
    FOUND,
    HIT,
    HOME,
    HOSTILE,
    MEMORY,
    OLDER_ENTRY,
    ONE,
    OTHER,
    PATH,
    PROPOSED,
    SIGHTINGS,
    SPENDING,
    STALE,
    STATE,
    TALK,
    TIDIED,
    UNSURE,
    VAULT,
    deed,
    row,
)
from tests.doors.shown_waiting import WAITING_FAMILIES

PINNED, ACCESSED = Warm(ONE, "pinned", 1.5, 3, AT), Warm(OTHER, "accessed", 0.1, 1, AT)
RESULTS = (Checked(sound=True), Checked(sound=False), Rebuilt(3, 1), None)
PREDICTED = Warm(row(3), "predicted", 0.0, 0, 0, 0.25)
FAMILIES: dict[str, Callable[[], list[Shown]]] = {
    **TEAM_FAMILIES,
    **WAITING_FAMILIES,
    "trust": lambda: [
        trust.history(TrustHistory("webhook-1", 0.7, (TrustEvent(AT, "wrong", -0.3, "s1", HOSTILE),), STALE)),
        trust.history(TrustHistory("webhook-1", 0.9, (), Standing(0.9, Staleness()))),
    ],
    "hot": lambda: [
        hot.status(HotStatus(20, 3, (PINNED,), (ACCESSED,), (PREDICTED,), PINNED, {"shop/webhook-1": 0.5})),
        hot.status(HotStatus(20, 3, (), (), (), None, {})),
        hot.status(HotStatus(0, 3, (), (), (), None, {})),
        hot.patterns([Pattern("webhook-1", "webhook-2", HOSTILE, 0.5, 2)], nothing=hot.NO_PATTERN),
        hot.patterns([], nothing=hot.UNLIKELY),
    ],
    "use": lambda: [
        use.quality(Quality(30, 4, 1, 2, (Tally("shop/webhook-1", 2, 1),), (), 1, 3)),
        use.quality(Quality(0, 0, 0, 0, (), (), 0, 0)),
        use.receipts([Receipt(AT, "s1", "recall", "shop/webhook-1", 0.5, 20, HOSTILE, True)]),
        use.receipts([]),
    ],
    "links": lambda: [
        links.linked(Linked("webhook-1", "refines", HOSTILE, True)),
        links.linked(Linked("webhook-1", "refines", "webhook-2", False)),
        links.unlinked(Linked("webhook-1", "refines", "webhook-2", True)),
        *(
            links.linked(
                Linked(
                    "webhook-1",
                    "supersedes",
                    "old",
                    True,
                    (LinkOutcome("old", after, Status.SUPERSEDED, HOSTILE),),
                )
            )
            for after in After
        ),
        links.unlinked(Linked("webhook-1", "refines", "webhook-2", False)),
        links.related(
            Related(
                ONE,
                (
                    Edge(ONE, "refines", True, "webhook-2", OTHER),
                    Edge(ONE, "cites", True, "a.py:4", None),
                    Edge(ONE, "refines", False, "webhook-1", OTHER),
                ),
                (OTHER,),
                4,
            )
        ),
        links.related(Related(None)),
    ],
    "contradictions": lambda: [
        links.proposed_pairs(
            [Contradiction(ONE, OTHER, "numbers", 0.5, sure=False, said_by_person=frozenset({1}))]
        ),
        links.proposed_pairs([]),
        links.marked_pairs([Contradiction(ONE, OTHER)]),
        links.marked_pairs([]),
        *(links.settled_pair(Resolved("webhook-1", "webhook-2", how)) for how in WAYS),
        links.settled_pair(
            Resolved("webhook-1", "webhook-2", "supersede", (LinkOutcome("webhook-2", After.SHADOWED),))
        ),
    ],
    "mining": lambda: [
        mining.logged(Logged(1200, 1)),
        mining.mined(Mining(1, 2, 3, PROPOSED)),
        mining.status(
            MiningStatus(1, 1200, 1, {"approved": 2}, (deed("mined", {"outputs": 1, "vault": "shop"}),))
        ),
        mining.status(MiningStatus(0, 0, 0, {}, ())),
    ],
    "candidates": lambda: [
        candidates.waiting([Candidate(MEMORY, VAULT, PATH, *seen, "d", b"") for seen in SIGHTINGS]),  # type: ignore[arg-type]
        candidates.waiting([]),
        candidates.proposals("Done", PROPOSED, refused=1),
    ],
    "recall": lambda: [
        recall.answered(ANSWER, "skip", explain=True),
        recall.answered(UNSURE, "skip", waiting=2),
        recall.answered(UNSURE, "skip", advice=recall.TERMINAL),
        recall.answered(Answer(Confidence.MEDIUM, (TALK,), semantic=True), "retries", most=20),
        recall.answered(Answer(Confidence.NONE, (), semantic=True), HOSTILE),
        recall.answered(Answer(Confidence.NONE, (), semantic=True), HOSTILE, waiting=2),
        recall.cited(CitedAnswer("", (), (HIT, TALK), "There is no key."), "skip"),
        recall.cited(CitedAnswer(f"Skip it [webhook-1].\n{HOSTILE}", ("webhook-1",), (HIT,)), "skip"),
        recall.cited(CitedAnswer("", (), ()), "skip"),
    ],
    "draft_outcome": lambda: [
        Shown(draft_outcome.note(outcome))
        for outcome in (
            DraftOutcome(Action.REPLACE, "new", superseded=("old",)),
            DraftOutcome(
                Action.REPLACE, "new", superseded=("old", HOSTILE), shadowed=("one",), uncovered=("up",)
            ),
            DraftOutcome(
                Action.ADD, "new", later=("old",), unmoved=("never-was", "a quote"), elsewhere=("far",)
            ),
            DraftOutcome(Action.ADD, "new", several={"a quote": ("a", "b")}, kept=("old",), waiting=("no",)),
            DraftOutcome(
                Action.ADD, "new", near=(Near("old", HOSTILE, "2026-11-20", "numbers"),), apart=("one",)
            ),
            DraftOutcome(Action.KNOWN, "new", successor="heir", unlike=("env: prod",)),
            DraftOutcome(Action.RESTORE, "new", successor="heir"),
            DraftOutcome(Action.KNOWN, "new"),
        )
    ],
    "sessions": lambda: [
        sessions.listed(
            [EPISODE, replace(EPISODE, id="other", short="", forgotten=1, topic="")], {EPISODE.id: COST}
        ),
        sessions.listed([], {}),
        sessions.session(
            SessionReport(EPISODE, {"note": 2}, 3, 1, (ReadSoFar("/t.jsonl", 2000, 1000, 500),), COST),
            [ONE],
            [Given("g", HOSTILE, 2, 1)],
        ),
        sessions.memories(EPISODE, [ONE], [Given("webhook-2", HOSTILE, 2, 1)]),
        sessions.patterns(Patterns((Again("shop/webhook-1", HOSTILE, 2, 3),), (Again("net", "", 2, 4),))),
        sessions.patterns(Patterns((), ())),
        sessions.forgotten(
            ForgottenSession(
                "8d7cabcd-1111",
                False,
                "r",
                ENTRIES,
                {"webhook-2": ("revised", "confirmed"), "webhook-3": ("confirmed",)},
                [NotMade(OLDER_ENTRY, "it is gone")],
            )
        ),
        sessions.forgotten(ForgottenSession("8d7cabcd-1111", True)),
    ],
    "upkeep": lambda: [
        upkeep.tidied(TIDIED),
        upkeep.tidied(Tidied("run-1", entries=TIDIED.entries, calls=1, spent=0.0004)),
        upkeep.tidied(Tidied("run-1")),
        upkeep.cleaned(
            Cleaned(False, TIDIED, [Trashed(PATH, "shop/webhook-1", 1200)], [PATH], [PATH])  # type: ignore[arg-type, list-item]
        ),
        upkeep.cleaned(Cleaned(True, Tidied("run-1", True))),
        upkeep.steps([MaintenanceStep("check", result, 2_000_000, 1_000_000, 0.5) for result in RESULTS]),
    ],
    "deeds": lambda: [
        deeds.history([TitledDeed(deed(*deed_values), HOSTILE) for deed_values in DEEDS]),
        deeds.history([]),
    ],
    "figures": lambda: [
        figures.stats(
            Stats(
                3,
                Counts({"shop": 3}, {"knowledge": 3}, {}, {"active": 3}, {"net": 1}, 2048),
                4096,
                5,
                1,
                "minilm-l6",
                (),
            )
        ),
        figures.metrics(
            Metrics(
                Stats(3, Counts({}, {"knowledge": 3}, {}, {}, {}, 2048), 4096, 5, 1, "minilm-l6", ()),
                "2026-11-01",
                {"recalled": 2},
                {"recalled": 5},
                Size(10**6, 10**6, 0, 0, 10**5, 0),
                Quality(30, 4, 1, 3, (), (), 2, 5),
                Capture("auto", False, False, 2, 1, 3000, "", False, 0),
                SPENDING,
            )
        ),
        figures.embedding(
            Progress("multilingual", 5, 1, "It cannot be loaded."),
            [ListedModel("multilingual", 384, 118, "50 languages", "slow", True, False)],
            "It cannot be loaded.",
        ),
    ],
    "state": lambda: [
        state.status(
            BUSY,
            project="shop",
            settings=DEFAULTS,
        ),
        state.status(STATE, project="", settings=DEFAULTS),
        state.status(STATE, project="shop", settings=DEFAULTS._replace(plan_calls=True, model_calls=False)),
        state.where(
            Project("shop-1a2b", "shop", HOME / "shop", "its remote", "https://example.org/shop"),
            (VAULT, VAULT._replace(level=Level.USER, adopted=False)),
            store=HOME / "memory",
            index=HOME / "memory" / "memory.db",
            refused=Rejected("The vault in the repository is a link.", "Delete it."),
            git=GitTrouble("/usr/bin/git", (2, 30, 1)),
            may_be=(Former("old-1a2b", HOME / "old"), Former("shop-9f9f", HOME / "shop", here=True)),
        ),
        state.where(None, (), store=HOME / "memory", index=HOME / "memory.db"),
        state.synced(
            SyncReport(1, 2, 3, [Problem("/vault/bad.md", 3, "no such key"), Problem("/b.md", 0, "empty")])
        ),
    ],
    "memory": lambda: [
        memory.whole(FOUND, STALE),
        rows.listed(Listing((ONE, OTHER), 7, {1: "webhook-9"}), 2),
        rows.listed(Listing((), 7), 9),
        rows.listed(Listing((), 0), 0),
        memory.saved_session(FOUND, Since(("ab12 Retry",), ("src/app.py",), "main", GitTrouble())),
        memory.saved_session(FOUND, Since((), (), "")),
        memory.conversation(FOUND, [Turn("user", HOSTILE, "12:00"), Turn("assistant", "Yes.")], 1),
        memory.conversation(FOUND, [Turn("user", "Why?")], 4),
    ],
    "history": lambda: [
        history.changes(History("webhook-1", PATH, (EARLIER,))),  # type: ignore[arg-type]
        history.changes(History("webhook-1", PATH, tuple(replace(EARLIER, others=by) for by in ByOthers))),  # type: ignore[arg-type]
        history.changes(History("webhook-1", PATH, ())),  # type: ignore[arg-type]
        history.version(EARLIER, f"---\nid: webhook-1\n---\n{HOSTILE}"),
        history.undone(Undone("run-1", ["webhook-1", "key-1"], [("webhook-2", "it is gone")], ["key-1"])),
        history.undone(Undone("")),
    ],
}
