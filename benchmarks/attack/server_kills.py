"""kill -9 of the real MCP server while it remembers, revises, forgets and restores."""

import random
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.attack import commands
from benchmarks.attack.facts import GONE, LIVE, TRASH, Fact, allow, check, copies, signed
from benchmarks.attack.index_equals_files import differences
from benchmarks.attack.outcome import Part, Round, Row
from tests.durability.served import Served, environment

LONGEST_LIFE = 0.5  # seconds from its first answer


def run(round_: Round) -> list[Row]:
    """Start a server `count` times on one store, and kill it at a random moment while it is asked."""
    rng = random.Random(round_.seed)
    memory, project = round_.folder / "memory", round_.folder / "shop"
    project.mkdir(parents=True)
    facts: dict[str, Fact] = {}
    wrong: list[str] = []
    acknowledged = 0
    for number in range(round_.count):
        try:
            with Served(memory, project) as server:
                server.ready()
                die_at = time.monotonic() + rng.uniform(0.005, LONGEST_LIFE)
                while _done(server, facts, rng, die_at):
                    acknowledged += 1
        except AssertionError as error:
            wrong.append(f"start {number}: {error}")
        if round_.planted:
            _lose(memory.glob("projects/*/knowledge/*.md"))
        copies_held = copies([memory])
        for fact in facts.values():
            wrong += check(fact, copies_held.get(fact.name, []), most=1)
        if number % 10 == 9:
            round_.progress(f"{number + 1} of {round_.count} servers killed, {len(wrong)} wrong")
    commands.warm_up()
    wrong += differences(environment(memory, project), [project])
    figures = f"{acknowledged} answers before the kills, {len(facts)} memories"
    return [
        Row(
            "kill -9 of the MCP server: lost, torn, wrong text, brought back, index",
            round_.count,
            wrong,
            figures,
        )
    ]


def _done(server: Served, facts: dict[str, Fact], rng: random.Random, die_at: float) -> bool:
    """Ask for one change; return whether it was acknowledged before it was time to die."""
    facts_known = [fact for fact in facts.values() if fact.id]
    verb = rng.choice(("remember", "revise", "revise", "forget", "restore_memory"))
    wanted_state = TRASH if verb == "restore_memory" else LIVE
    having = [fact for fact in facts_known if fact.is_(wanted_state)]
    arguments: dict[str, object]
    if verb == "remember" or not having:
        fact = facts[f"s{len(facts)}"] = Fact(f"s{len(facts)}", allow(1, GONE))
        verb, fact.pending = "remember", allow(1, LIVE)
        arguments = {"title": f"Fact {fact.name}", "content": signed(fact.name, 1)}
    else:
        fact = rng.choice(having)
        version = fact.version + (verb == "revise")
        fact.pending = allow(version, TRASH if verb == "forget" else LIVE)
        arguments = {"id": fact.id}
        if verb == "revise":
            arguments["content"] = signed(fact.name, version)
    number = f"{fact.name} {time.monotonic()}"
    params = {"name": verb, "arguments": arguments}
    server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    while answer := server.next_line(die_at):
        if answer.get("id") == number:
            assert not answer.get("result", {"isError": True}).get("isError"), answer
            assert fact.pending
            fact.now, fact.pending = fact.pending, None
            return True
    return False


def _lose(paths: Iterable[Path]) -> None:
    """The planted fault: files go that were acknowledged."""
    for path in list(paths):
        path.unlink()


PART = Part(
    "server_kills",
    "kill -9 of the MCP server under remember, revise, forget and restore",
    count=50,
    quick=3,
    run=run,
)
