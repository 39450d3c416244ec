"""The outcome for a new memory that met known ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from mcp_server.actions.judge.draft_outcome import Action, DraftOutcome
from mcp_server.actions.recall.nearby import Near
from mcp_server.core.memory_parts import ID
from mcp_server.core.render import one_line

BECAME = {
    Action.ADD: "added",
    Action.REPLACE: "replaced another",
    Action.KNOWN: "known already",
    Action.RESTORE: "active again",
}


def summary(outcomes: Sequence[DraftOutcome]) -> str:
    """Return in one line how many drafts were stored, replaced another and so on."""
    counts = {action: sum(outcome.action is action for outcome in outcomes) for action in BECAME}
    return ", ".join(f"{number} {BECAME[action]}" for action, number in counts.items() if number) or "nothing"


def answered(outcome: DraftOutcome, new: str) -> str:
    """Return the outcome for the memory *new* after the person said how it relates to another."""
    if outcome.id != new:
        return f"{outcome.id} replaces both, {' and '.join(outcome.superseded)}."
    return note(outcome)


def beside(others: Sequence[str]) -> str:
    """Return the sentence that a memory is to be kept apart from *others*."""
    return f"It and {_all(others)} are both kept; the pair is not asked about again."


def near_note(memory_id: str, near: Sequence[Near]) -> str:
    """Return which memories are *near* a memory, and how Claude settles how they relate."""
    again = "call remember again with the same words and supersedes"
    return f"{_near(near)} If {memory_id} replaces one of them, {again}; if both are right, with distinct."


def near_command(memory_id: str, near: Sequence[Near]) -> str:
    """Return which memories are *near* a memory, and the command that settles how they relate."""
    command, old = f"daybook revise {memory_id}", near[0].id
    return (
        f"{_near(near)} If it replaces one: {command} --supersedes {old}; if both are right: --distinct {old}"
    )


def note(outcome: DraftOutcome, *, settling: Callable[[str, Sequence[Near]], str] = near_note) -> str:
    """Return the outcome for other memories, and what *settling* says of those near it, '' for nothing."""
    near = [settling(outcome.id, outcome.near)] if outcome.near else []
    return " ".join(filter(None, (*_put_away(outcome), *_replaced(outcome), *_unmoved(outcome), *near)))


def _put_away(outcome: DraftOutcome) -> Iterator[str]:
    if outcome.unlike:
        yield f"It stays as it was in: {_all(outcome.unlike)}; to change that, revise {outcome.id}."
    if outcome.action is Action.RESTORE:
        yield "It was archived or superseded before and is active again."
    if outcome.successor and outcome.action is Action.RESTORE:
        yield f"{outcome.successor} had replaced it and stays active; ask which one is right."
    elif outcome.successor:
        yield f"{outcome.successor} replaced it, so it stays superseded."
        yield f"Whether it is right again, the person decides: daybook restore {outcome.id}."


def _replaced(outcome: DraftOutcome) -> Iterator[str]:
    if outcome.superseded:
        which_is = "which is" if len(outcome.superseded) == 1 else "which are"
        yield f"It replaces {_all(outcome.superseded)}, {which_is} kept as superseded."
    if outcome.shadowed:
        yield f"It shadows {_all(outcome.shadowed)} in this project as long as it is active here;"
        yield "elsewhere nothing changes."
    if outcome.later:
        yield f"It replaces {_all(outcome.later)} once it is accepted."
    if outcome.apart:
        yield beside(outcome.apart)
    if outcome.uncovered:
        yield f"{_all(outcome.uncovered)} applies in this project again: no memory shadows it."
        yield f"If it is no longer right, revise {outcome.id} with supersedes."


def _unmoved(outcome: DraftOutcome) -> Iterator[str]:
    ids = [name for name in outcome.unmoved if ID.fullmatch(name)]
    quotes = [name for name in outcome.unmoved if name not in ids]
    if ids:
        yield f"No active memory has the id {_all(ids)}, so nothing was replaced."
        if outcome.hides_teams:
            yield "If it is the team's, recall leaves it out in this project."
    if quotes:
        yield f"No active memory contains “{'”, “'.join(map(_cut, quotes))}”, so nothing was replaced."
    for quote, matches in outcome.several.items():
        yield f"“{_cut(quote)}” is in {_all(matches)}: name the one you mean by its id."
    if outcome.elsewhere:
        yield f"{_all(outcome.elsewhere)} belongs to another project and can be replaced only from there."
    if outcome.kept:
        yield f"{_all(outcome.kept)} stays active: only the person can replace it."
        yield f"Ask which one is right; if it is the new one, revise {outcome.id} with supersedes asks them"
        yield f"in a dialog, or they type: daybook revise {outcome.id} --supersedes {outcome.kept[0]}."
    if outcome.waiting:
        yield f"No memory is called {_all(outcome.waiting)} yet; the link works once there is one."


def _near(near: Sequence[Near]) -> str:
    return f"Near it: {'; '.join(map(_neighbour, near))}."


def _neighbour(near: Near) -> str:
    differs = f", differs in {near.differs}" if near.differs else ""
    return f'{near.id} ({near.updated}) "{one_line(near.title, 80)}"{differs}'


def _all(names: Iterable[str]) -> str:
    return ", ".join(map(_cut, names))


def _cut(name: str) -> str:
    return one_line(name, 80)
