"""What waits for the person and what needs them, with a snapshot each."""

import errno
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from mcp_server.actions.context.inject import Fate
from mcp_server.actions.context.notice import (
    KeyOffered,
    MayBeFormer,
    NeedKind,
    NothingKept,
    Numbered,
    Vanished,
)
from mcp_server.actions.context.start import Instead
from mcp_server.actions.files.accepted import AcceptedBefore
from mcp_server.actions.files.size_limit import Size
from mcp_server.actions.judge.candidate import WaitsFor
from mcp_server.actions.review.entries import Entry, Sightings, Verdict
from mcp_server.actions.review.review import ORIGIN, Review
from mcp_server.actions.status.checks import (
    CapturedLate,
    Captures,
    CaughtEdits,
    Check,
    CheckedPart,
    ClaudeSettings,
    Finding,
    HookFails,
    LastExchange,
    Memories,
    Missing,
    NotExecutable,
    NotTakenIn,
    OpenedModel,
    PlanCalls,
    Plugin,
    ServerFails,
    StoreFolder,
    SwitchedOff,
    TeamSeen,
    Toolsets,
)
from mcp_server.actions.status.module_seen import ModuleSeen
from mcp_server.adapters.index.events.unread_reports import PutAway
from mcp_server.adapters.missing_projects import Former
from mcp_server.core.errors import Rejected
from mcp_server.core.provenance.origins import OriginDoubt, OriginReason
from mcp_server.core.remarks import (
    BlockBehind,
    FromFiles,
    GoneAccepted,
    GoneMemories,
    IndexBehind,
    NotArchived,
    NotRecorded,
    WordsRemain,
)
from mcp_server.core.worth.steady_clock import Doubt
from mcp_server.doors.shown import Shown, doctor, learning, needs, review, trouble, unasked
from tests.doors.shown_values import AT, HOME, HOSTILE, NOON

ORIGINS = [
    Entry(
        ORIGIN, f"webhook-{number}", "", "gotcha", HOSTILE, HOSTILE, ("tags: a, b",),
        OriginReason(doubt, "npm run x", "a web page"), "/x.md", NOON, "", (Verdict.ACCEPT, Verdict.LATER),
    )
    for number, doubt in enumerate([*OriginDoubt, "names 'x', as an earlier version wrote it"])
]  # fmt: skip
WAITING = [
    *(replace(ORIGINS[0], why=why, sightings=Sightings(1, 2)) for why in ("as the file says", *WaitsFor)),
    *(replace(ORIGINS[0], before=AcceptedBefore(kept, differs))
      for kept, differs in ((True, "tags +a"), (True, ""), (False, ""))),
]  # fmt: skip
FORMER, ELSEWHERE = Former("old", PurePosixPath("/old")), Former("old", PurePosixPath("/old"), elsewhere=True)  # type: ignore[arg-type]
HERE = FORMER._replace(here=True)
AT_START = [
    None, *(Numbered(kind, number, number - 1) for kind in NeedKind for number in (1, 2)),
    NothingKept(HOME, "is on a full disk"),
    Vanished((GoneMemories("/x", 1, 0, "/h"), GoneMemories("/y", 2, 1, "/h"))),
    Vanished((GoneAccepted("/x", ("a",)), GoneAccepted("/y", tuple("abcdef")))),
    PutAway(("run-1",), 3, AT), PutAway(("run-1", "run-2"), 1, AT),
    PutAway(tuple(f"run-{number}" for number in range(1, 6)), 9, AT),
    MayBeFormer((FORMER,)), MayBeFormer((ELSEWHERE, FORMER)), MayBeFormer((HERE,)), KeyOffered(0.2),
    Size(85 << 20, 0, 0, 0, 0, 100 << 20), Size(101 << 20, 0, 0, 0, 0, 100 << 20),
]  # fmt: skip
DOUBT = Doubt(AT, 2, AT - 40 * 86400)

part = CheckedPart
CHECKS = [
    (part.PYTHON, True, "3.13.1"), (part.SQLITE, False, sqlite3.OperationalError("no fts5")),
    (part.STORE, True, StoreFolder(HOME / "my store", open_to_others=True)),
    (part.STORE, True, StoreFolder(HOME, open_to_others=False, repository=HOME.parent)),
    (part.STORE, False, OSError(errno.ENOSPC, "No space left", "/disk")),
    (part.INDEX, True, HOME / "memory.db"), (part.INDEX, False, Rejected(HOSTILE, "Delete it.")),
    (part.FILES, True, Memories(2)), (part.FILES, False, NotTakenIn(1)),
    (part.EDITS, False, CaughtEdits((HOME / "a", HOME / "b"))),
    (part.EMBEDDING_MODEL, True, OpenedModel("minilm-l6", "")),
    (part.EMBEDDING_MODEL, True, OpenedModel("nomic", "http://ada:1")),
    *((part.ROUND_TRIP, finding is Finding.ROUND_TRIP, finding) for finding in Finding),
    (part.ROUND_TRIP, False, OSError(errno.ENOSPC, "No space left")),
    (part.HOOKS, True, Plugin(HOME)), (part.HOOKS, False, Missing(HOME / "bin")),
    (part.HOOKS, False, NotExecutable(HOME / "bin")), (part.HOOKS, False, HookFails("timed out")),
    (part.HOOKS, False, ClaudeSettings(HOME / "x", 3, 5, "Expecting value")),
    (part.HOOKS, False, ClaudeSettings(HOME / "x", 0, 0, "it holds no object")),
    (part.HOOKS, False, SwitchedOff(HOME / "x", "'disableAllHooks' is true")),
    (part.SERVER, True, Finding.SERVER_ANSWERS), (part.SERVER, False, ServerFails("does not run: x")),
    (part.MODULE, True, ModuleSeen("")), (part.MODULE, True, ModuleSeen("2.1", ("pane", "status"))),
    (part.MODULE, True, ModuleSeen("2.1")), (part.TOOLS, True, Toolsets(("core",), ("graph", "x"))),
    (part.TOOLS, True, Toolsets(("core", "graph"), ())), (part.CAPTURE, True, Captures("auto", AT, True)),
    (part.CAPTURE, True, Captures("auto", 0, False)), (part.CAPTURE, True, Captures("auto", 0, True)),
    (part.CAPTURE, False, CapturedLate(2)),
    (part.LANGUAGE_MODEL, True, PlanCalls(1, 20)),
    (part.REMOTE, True, LastExchange(HOSTILE, "", "")),
    (part.REMOTE, False, LastExchange("x", "", "No host.")),
    (part.TEAM, True, TeamSeen(HOSTILE, "ben", "writer")), (part.TEAM, False, "No host."),
]  # fmt: skip

REMARKS = [
    NotRecorded("remembered", "No space left"), NotRecorded("moved", "No space left", later=True),
    IndexBehind("It is held."), FromFiles("It is held.", 0), FromFiles("It is held.", 1200),
    WordsRemain("It is held."), BlockBehind("It is held."),
    NotArchived((("webhook-1", "It is held."),) * 7),
]  # fmt: skip

WAITING_FAMILIES: dict[str, Callable[[], list[Shown]]] = {
    "review": lambda: [
        review.waiting(Review(tuple(ORIGINS), {ORIGIN: len(ORIGINS) + 2})),
        review.waiting(Review(tuple(WAITING), {ORIGIN: len(WAITING)})),
        review.waiting(Review((), {})),
    ],
    "learning": lambda: [Shown(learning.OFFER), Shown(learning.REQUEST), Shown(learning.question(20))],
    "doctor": lambda: [doctor.checked(Check(*check)) for check in CHECKS],
    "remarks": lambda: [Shown(trouble.remark(remark)) for remark in REMARKS],
    "unasked": lambda: [
        *(Shown(unasked.WITH_PROMPT[fate]) for fate in Fate),
        *(Shown(unasked.AT_START[instead]) for instead in Instead),
    ],
    "needs": lambda: [Shown(sentence) for sentence in [*map(needs.notice, AT_START), needs.clock(DOUBT)]],
}
