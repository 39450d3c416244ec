"""What is done to a store while it is killed: one command each, and what the store may say afterwards."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attack.facts import GONE, LIVE, TRASH, WAITS, Fact, allow, signed
from benchmarks.attack.kill_world import World, message

_DONE = re.compile(
    r"^\S+: (?:remembered|revised|moved|forgotten|restored|deleted|session|conversation)\b.*\n"
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A command that may be killed: its words, folder and input, and what to do when it says it is done."""

    words: tuple[str, ...]
    folder: Path
    touched: tuple[Fact, ...] = ()
    stdin: bytes = b""
    done: Callable[[], None] = lambda: None


def acknowledged(out: str) -> bool:
    """Tell whether a command said that it is done, although it was killed."""
    return bool(_DONE.match(out))


def _any(world: World) -> Path:
    return world.rng.choice(world.projects)


def _having(world: World, state: str) -> Fact | None:
    facts = [fact for fact in world.facts.values() if fact.id and fact.is_(state) and fact.pending is None]
    return world.rng.choice(facts) if facts else None


def _folder(world: World, fact: Fact) -> Path:
    return world.owns.get(fact.name) or _any(world)


def remember(world: World) -> Attempt:
    project, level = _any(world), world.rng.choice(("project", "project", "user"))
    fact = world.expected(world.rng.randrange(9))
    if level == "project":
        world.owns[fact.name] = project
    words = f"Fact {fact.name} | {signed(fact.name, fact.version)}"
    type_ = world.rng.choice(("decision", "gotcha", "note"))
    return Attempt(("remember", words, "--level", level, "--type", type_), project, (fact,))


def revise(world: World) -> Attempt | None:
    fact = _having(world, LIVE)
    if not fact:
        return None
    version = fact.version + 1
    fact.pending = allow(version, LIVE)
    return Attempt(("revise", fact.id, "--text", signed(fact.name, version)), _folder(world, fact), (fact,))


def change_level(world: World) -> Attempt | None:
    fact = _having(world, LIVE)
    if not fact:
        return None
    fact.pending, folder = allow(fact.version, LIVE), _folder(world, fact)
    world.owns[fact.name] = folder  # it may be that project's now
    level = world.rng.choice(("project", "user"))
    return Attempt(("revise", fact.id, "--level", level), folder, (fact,))


def forget(world: World) -> Attempt | None:
    fact = _having(world, LIVE)
    if not fact:
        return None
    fact.pending = allow(fact.version, TRASH)
    return Attempt(("forget", fact.id), _folder(world, fact), (fact,))


def forget_forever(world: World) -> Attempt | None:
    fact = _having(world, world.rng.choice((LIVE, TRASH)))
    if not fact:
        return None
    fact.pending = allow(fact.version, GONE)

    def done() -> None:
        fact.deleted = True

    return Attempt(("forget", fact.id, "--forever"), _folder(world, fact), (fact,), done=done)


def restore(world: World) -> Attempt | None:
    fact = _having(world, TRASH)
    if not fact:
        return None
    fact.pending = allow(fact.version, LIVE)
    return Attempt(("restore", fact.id), _folder(world, fact), (fact,))


def link(world: World) -> Attempt | None:
    fact = _having(world, LIVE)
    if not fact:
        return None
    target, links = f"src/{world.rng.randrange(99)}.py", fact.links
    return Attempt(("link", fact.id, target), _folder(world, fact), done=lambda: links.add(target))


def save_session(world: World) -> Attempt:
    fact = world.expected(world.rng.randrange(9))
    project = world.owns[fact.name] = _any(world)
    context = signed(fact.name, fact.version)
    return Attempt(("save-session", f"Work {fact.name}", "--context", context), project, (fact,))


def save_conversation(world: World) -> Attempt:
    fact = world.expected(world.rng.randrange(9))
    project = world.owns[fact.name] = _any(world)
    return Attempt(("save-conversation", f"Talk {fact.name}"), project, (fact,), message(fact, fact.version))


def block(world: World) -> Attempt:
    return Attempt(("init", "--file", world.rng.choice(("CLAUDE.md", "CLAUDE.md", "none"))), _any(world))


def into_repository(world: World) -> Attempt:
    project = _any(world)
    world.moving.add(project)
    return Attempt(("init", "--repository"), project, done=lambda: world.moving.discard(project))


def take_in(world: World) -> Attempt:
    """Import a folder of notes, a new one or one whose import was cut short."""
    project = _any(world)
    source = world.folder / f"notes-{project.name}-{world.rng.randrange(4)}"
    facts = _sourced(world, source, project)
    for fact in facts:
        note = f"# Note {fact.name}\n\n{signed(fact.name, fact.version)}\n"
        (source / f"{fact.name}.md").write_text(note, encoding="utf-8")
    return Attempt(("import", "notes", str(source), "--level", "user"), project, facts, done=_taken_in(facts))


def seed(world: World) -> Attempt:
    project = _any(world)
    source = project / f"seeds-{world.rng.randrange(4)}"
    facts = _sourced(world, source, project)
    path = source / "seeds.md"
    if not path.exists():
        sections = (f"## Seed {fact.name}\n\n{signed(fact.name, fact.version)}\n" for fact in facts)
        path.write_text("\n".join(sections), encoding="utf-8")
    return Attempt(("seed", str(path)), project, facts, done=_taken_in(facts))


def _sourced(world: World, source: Path, project: Path) -> tuple[Fact, ...]:
    """Return three facts that stand in *source*, new ones when there is none."""
    if not source.exists():
        source.mkdir()
        names = [world.expected(1).name for _ in range(3)]
        (source / ".facts").write_text(" ".join(names), encoding="utf-8")
    names = (source / ".facts").read_text(encoding="utf-8").split()
    missing = [world.facts[name] for name in names if not world.facts[name].id]
    for fact in missing:  # what was taken in before and then edited or forgotten stays so
        world.owns[fact.name] = project
        fact.pending, fact.sourced = allow(1, LIVE), True
    return tuple(missing)


def _taken_in(facts: tuple[Fact, ...]) -> Callable[[], None]:
    """Return what notes that *facts* are known to come from their source, and may be forgotten now."""

    def done() -> None:
        for fact in facts:
            fact.sourced = False

    return done


def backfill(world: World) -> Attempt:
    for _ in range(world.rng.randrange(1, 4)):
        world.speak()

    def done() -> None:
        world.turns.update(dict.fromkeys(turns, True))

    turns = list(world.turns)
    return Attempt(("backfill",), _any(world), done=done)


def judge(world: World) -> Attempt | None:
    """Approve or reject a candidate."""
    waiting = [fact for fact in world.facts.values() if fact.is_(WAITS) and fact.pending is None]
    if not waiting:
        return None
    fact, approved = world.rng.choice(waiting), world.rng.random() < 0.7
    fact.pending = allow(fact.version, LIVE if approved else TRASH)
    verdict = "--approve" if approved else "--reject"
    return Attempt(("candidates", verdict, f"candidate-{fact.name}"), world.owns[fact.name], (fact,))


def tidy(world: World) -> Attempt:
    return Attempt(("tidy",), _any(world))


def sync(world: World) -> Attempt:
    world.edit()
    return Attempt(("sync",), _any(world))


def rebuild(world: World) -> Attempt:
    return Attempt(world.rng.choice((("maintain", "rebuild"), ("maintain", "all"))), _any(world))


VERBS: dict[str, tuple[Callable[[World], Attempt | None], int]] = {  # and how often each comes
    "remember": (remember, 6),
    "revise": (revise, 5),
    "revise --level": (change_level, 3),
    "forget": (forget, 3),
    "forget --forever": (forget_forever, 2),
    "restore": (restore, 3),
    "link": (link, 2),
    "save-session": (save_session, 1),
    "save-conversation": (save_conversation, 1),
    "init --file": (block, 2),
    "init --repository": (into_repository, 1),
    "import": (take_in, 2),
    "seed": (seed, 2),
    "backfill": (backfill, 2),
    "candidates": (judge, 2),
    "tidy": (tidy, 2),
    "sync": (sync, 2),
    "rebuild": (rebuild, 2),
}
