"""
What a week of sessions comes to: `python benchmarks/client_week.py [--sessions N] [--thinks S] [--show]`.

The nine sessions of `data/week.txt`, typed into the real client on seven days of moved time, each three
times, in turns: with learning on the plan, with Daybook by words alone, and without Daybook. The model is a
script on loopback: it answers the person plainly, and what is asked about a piece as one who reads well,
but proposes too what nobody said and what Claude only guessed. Told are the calls and their tokens, which
of the labelled facts are memories or candidates after the week, what else was learned, and how long the
person's turns were held: from Enter until the request arrives. Needs Linux and `cc`, for the clock; `make
client`.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "client"))
import click
from harness.drive_claude import Claude
from harness.mock_anthropic import Request
from harness.terminal import wait_until
from tabulate import tabulate

from benchmarks.client_start import CHARACTERS, installed, the_client, tokens, waited
from mcp_server.actions.capture.learn import next_piece
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.judge.candidate import review_candidates
from mcp_server.actions.judge.origins import waiting
from mcp_server.actions.memory.list import list_memories
from mcp_server.bootstrap import Opened
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import Kind, Status
from mcp_server.core.search.query import Filter
from mcp_server.core.text.words import content_words
from tests.actions.tidy.test_wrong_clock import PRELOAD

SAID = Path(__file__).resolve().parent / "data" / "week.txt"
DAY = 86_400  # seconds
PLAN, WORDS, BARE = "learning on the plan", "by words alone", "without Daybook"
PATIENT = "120000"  # ms; a client that gives up a server on a busy machine leaves it alone for 15 minutes
COVERS = 0.6  # of the words of a fact that a memory has which says it
COLUMNS = 300  # of the terminal: a prompt stands on one line
NOBODY_SAID = "The vendor's installer must run before every commit."
FACT = re.compile(r"\{([^|}]+)\|([^|}]+)\|([a-z]+)(?:\|([^}]+))?\}")
GUESS = re.compile(r"\[([^]]+)\]")


@dataclass(frozen=True, slots=True)
class Fact:
    """What is worth keeping: the words that were said, how it is written, its type, what it makes untrue."""

    said: str
    written: str
    type: str
    untrue: str


@dataclass(frozen=True, slots=True)
class Session:
    """One session: on which day, in which project, and (prompt, reply) for each turn."""

    day: int
    project: str
    turns: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Way:
    """One way to spend the week: its client, and what was seen; `held` in milliseconds, one for each turn."""

    claude: Claude
    held: list[float] = field(default_factory=list)
    asked: list[tuple[int, Request, str]] = field(default_factory=list)
    """The day, the request and the answer of each call about a piece."""
    sessions: int = 0


def read_week(text: str) -> tuple[list[Session], list[Fact], list[str]]:
    """Return the sessions of the file, the facts that are said in them, and what Claude guesses."""
    facts = list(dict.fromkeys(Fact(*(part or "" for part in parts)) for parts in FACT.findall(text)))
    plain = GUESS.sub(r"\1", FACT.sub(r"\1", text))
    sessions = []
    for block in re.split(r"\n\n+", plain.strip())[1:]:
        head, *lines = block.splitlines()
        day, project = head.split()
        texts = [line[2:] for line in lines]
        sessions.append(Session(int(day), project, tuple(zip(texts[::2], texts[1::2], strict=True))))
    return sessions, facts, GUESS.findall(text)


def reader(way: Way, day: int, facts: Sequence[Fact], guesses: Sequence[str]) -> Callable[[Request], str]:
    """Return what answers the questions about pieces on that *day*."""

    def answer(request: Request) -> str:
        prompt = request.said()
        memories_known, _, piece = prompt.partition("<transcript>")
        statements = [
            (fact.type, fact.written, fact.said, fact.untrue) for fact in facts if fact.said in piece
        ]
        statements += [("decision", guess, guess, "") for guess in guesses if guess in piece]
        statements.append(("pattern", NOBODY_SAID, "run the vendor's installer before every commit", ""))
        answer = json.dumps([proposal(memories_known, *statement) for statement in statements])
        way.asked.append((day, request, answer))
        return answer

    return answer


def proposal(memories_known: str, type: str, text: str, evidence: str, untrue: str) -> dict[str, object]:
    """Return what is proposed; it takes the place of the line of *known* that says what is *untrue* now."""
    lines = re.findall(r"^\[(\d+)\] (.*)$", memories_known, re.MULTILINE)
    old = [int(number) for number, line in lines if untrue and untrue in line]
    usual = {"tags": [], "supersedes": old[0] if old else None}
    return {**usual, "type": type, "title": text[:60], "content": text, "evidence": evidence}


def spend(way: Way, session: Session, ahead: int, answer: Callable[[Request], str], thinks: float) -> None:
    """Type one session on its day, and wait until what was said is kept."""
    way.claude.env["AHEAD"] = str(ahead)
    with way.claude.interactive(columns=COLUMNS) as terminal:
        terminal.api.memory = answer
        for number, (prompt, reply) in enumerate(session.turns):
            way.held.append(1000 * waited(terminal, prompt, reply, f"Done {number}."))
            time.sleep(thinks)  # as a person does between two prompts: learning runs meanwhile
    way.sessions += 1
    if "MEMORY_DIR" in way.claude.env:
        wait_until(lambda: len(kept_sessions(way)) == way.sessions, lambda: f"{session} is not kept")


def kept_sessions(way: Way) -> set[str]:
    """Return the sessions that have ended and are in the raw tier."""
    ended, whole = set(), set()
    for path in Path(way.claude.env["MEMORY_DIR"], "ledger").glob("*.jsonl"):
        for event in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if event["event"] == "session_ended":
                ended.add(event["session"])
                whole.discard(event["session"])
            elif event["event"] == "transcript_kept" and "whole" in event:
                whole.add(event["session"])
    return ended & whole


@click.command()
@click.option("--sessions", type=click.IntRange(1), default=99, help="Only so many of the nine sessions.")
@click.option("--thinks", default=5.0, help="Seconds that the person reads an answer.")
@click.option("--show", is_flag=True, help="Say of each fact and of all else what became of it.")
def main(sessions: int, thinks: float, show: bool) -> None:
    week, facts, guesses = read_week(SAID.read_text(encoding="utf-8"))
    week = week[:sessions]
    facts = [
        fact for fact in facts if any(fact.said in prompt for session in week for prompt, _ in session.turns)
    ]
    with tempfile.TemporaryDirectory(prefix="daybook-week-") as place:
        folder = Path(place)
        ways = prepared(folder)
        for number, session in enumerate(week):
            ahead = session.day * DAY
            names = list(ways)[number % 3 :] + list(ways)[: number % 3]
            for name in names:
                ways[name].claude.project = folder / session.project
                answer = reader(ways[name], session.day, facts, guesses)
                spend(ways[name], session, ahead, answer, thinks)
        end = datetime.now(UTC) + timedelta(days=week[-1].day)
        rows = [outcome(folder, way, facts, end, show) if name != BARE else {} for name, way in ways.items()]
    turns = sum(len(session.turns) for session in week)
    print(f"{len(week)} sessions, {turns} turns, {len(facts)} facts in them that are worth keeping.\n")
    timed = [times(way, ways[BARE]) for way in ways.values()]
    table = [
        [name, *(column.get(name, "") for column in map(dict.__or__, rows, timed))]
        for name in dict.fromkeys(name for column in (*rows, *timed) for name in column)
    ]
    print(tabulate(table, ["", *ways], tablefmt="github"))


def prepared(folder: Path) -> dict[str, Way]:
    """Return the three ways to spend the week, each with a home and a store of its own."""
    source, library = folder / "ahead.c", folder / "ahead.so"
    source.write_text(PRELOAD, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    binary = the_client()
    plugin, environment = installed(folder)
    ways = {}
    for number, name in enumerate((PLAN, WORDS, BARE)):
        env = {"LD_PRELOAD": str(library)}
        if name != BARE:
            store = folder / f"store-{number}"
            store.mkdir()
            consent = "true" if name == PLAN else "false"
            (store / "config.toml").write_text(f"plan_calls = {consent}\n", encoding="utf-8")
            env |= {"DAYBOOK_VENV": str(environment), "MEMORY_DIR": str(store), "MCP_TIMEOUT": PATIENT}
        ways[name] = Way(Claude(binary, home=folder / f"home-{number}", project=folder, env=env))
        ways[name].claude.home.mkdir()
        if name != BARE:
            ways[name].claude.install(plugin)
    for project in ("shop", "api"):
        (folder / project).mkdir()
    return ways


def outcome(folder: Path, way: Way, facts: Sequence[Fact], end: datetime, show: bool) -> dict[str, object]:
    """Return what was asked of the model and what is learned at the *end*, in rows of the table."""
    memories, candidates, held_back, unread = [], [], set(), 0
    for project in ("shop", "api"):
        environment = {"MEMORY_DIR": way.claude.env["MEMORY_DIR"], "HOME": str(way.claude.home)}
        opened = Opened(environment, folder=folder / project, clock=lambda: end)
        store = opened.store()
        sync(store)
        rows = list_memories(store, Filter(kinds=(Kind.KNOWLEDGE,)), limit=1000).rows
        memories += [read(store, row.id).memory for row in rows]
        candidates += [candidate.memory for candidate in review_candidates(store)]
        held_back |= {origin.row.id for origin in waiting(store)}
        unread += next_piece(store) is not None
    now = list({memory.id: memory for memory in memories if memory.status is Status.ACTIVE}.values())
    replaced = {fact.untrue for fact in facts}
    holding = [fact for fact in facts if fact.written not in replaced]
    known_facts = {fact for fact in holding if any(says(memory, fact) for memory in now)}
    suggested = {fact for fact in holding if any(says(memory, fact) for memory in candidates)} - known_facts
    stale = [memory for memory in now if any(old and old in memory.text for old in replaced)]
    other, passing = others(now, facts), others(candidates, facts)
    waits = [memory for memory in other if memory.id in held_back]
    if show:
        state = dict.fromkeys(suggested, "candidate") | dict.fromkeys(known_facts, "memory")
        lines = [(fact.written, state.get(fact, "")) for fact in holding]
        lines += [(memory.text, "! waits" if memory in waits else "! memory") for memory in other]
        lines += [(memory.text, "! candidate") for memory in passing]
        print(tabulate(sorted(lines, key=lambda line: line[1]), tablefmt="plain"), end="\n\n")
    calls = Counter(day for day, _, _ in way.asked)
    most = max(calls.values(), default=0)
    tokens_sent = sum(tokens(request) for _, request, _ in way.asked)
    received = sum(len(answer) for _, _, answer in way.asked) // CHARACTERS
    return {
        "calls on the plan, in all (most of a day)": f"{sum(calls.values())} ({most})",
        "tokens of these calls, sent and received": f"{tokens_sent:,} and {received:,}",
        "facts that are memories": f"{len(known_facts)} of {len(holding)}",
        "facts that are candidates": len(suggested),
        "memories that were made untrue in the week": len(stale),
        "other memories, told unasked": len(other) - len(waits),
        "other memories, waiting for the person": len(waits),
        "other candidates": len(passing),
        "projects with a piece that waits for the next session": unread,
    }


def others(memories: Sequence[Memory], facts: Sequence[Fact]) -> list[Memory]:
    """Return those of *memories* that say none of the *facts*."""
    distinct = {memory.id: memory for memory in memories}.values()
    return [memory for memory in distinct if not any(says(memory, fact) for fact in facts)]


def says(memory: Memory, fact: Fact) -> bool:
    """Tell whether *memory* says what *fact* does, as it was written or as it was said."""
    fact_words, memory_words = content_words(fact.said), content_words(f"{memory.title}\n{memory.text}")
    return fact.written in memory.text or len(fact_words & memory_words) >= COVERS * len(fact_words)


def times(way: Way, bare: Way) -> dict[str, object]:
    """Return how long the person's turns were held, in rows of the table."""
    delays = sorted(way.held)
    later = [delay - bare_delay for delay, bare_delay in zip(way.held, bare.held, strict=True)]
    return {
        "a turn reaches the model after, ms: median, most": f"{median(delays):.0f}, {delays[-1]:.0f}",
        "later than without, ms: median": f"{median(later):.0f}" if way is not bare else "",
        "all turns of the week, s": f"{sum(delays) / 1000:.1f}",
    }


if __name__ == "__main__":
    main()
