"""acts: what a person does with one memory or with many, and taking it back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcp_server.actions.changes import undo
from mcp_server.actions.context.open_questions import standing_beside
from mcp_server.actions.files.commit import new_name, one_change
from mcp_server.actions.files.load import MemoryFile
from mcp_server.actions.files.read import find, read
from mcp_server.actions.memory import promote
from mcp_server.actions.memory import trust as trusting
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.forget import forget, is_put_away, restore
from mcp_server.actions.memory.list_trash import find_trashed
from mcp_server.actions.memory.repository import trust
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.errors import Conflict, DaybookError, NotFound, Rejected
from mcp_server.core.memory import TAGS
from mcp_server.core.memory_parts import Kind, Level, Status, id_in, vault_in
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.worth.ratings import INVALIDATING
from mcp_server.doors.shown import Shown, cells, history, hot
from mcp_server.doors.shown import memory as shown
from mcp_server.doors.shown.origins import ACCEPTED
from mcp_server.doors.shown.trust import moved
from mcp_server.doors.viewer.levels import TO_PROJECT, TO_USER, levels_for, move_to, what_git_sees
from mcp_server.doors.viewer.page import Fields, form, page
from mcp_server.doors.viewer.page_query import MEMORY, Where, store_for
from mcp_server.store import Store

SAID = 10  # titles that a question names
BRINGS_BACK = "restore"  # the act for what is in the trash


@dataclass(frozen=True, slots=True)
class Act:
    """
    One thing that can be done with a memory: its label, its outcome as a hint, and the function that does it.

    `run` is given the store, the id and the word that a person typed for it; it returns what was done.
    `many` tells whether it is offered for many at once, `asks` the label of that word.
    """

    label: str
    hint: str
    run: Callable[[Store, str, str], Shown]
    many: bool = False
    danger: bool = False
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of many memories that were chosen: its reference, its title, and the store that it is seen from."""

    ref: str
    id: str
    title: str
    store: Store


def _archive(store: Store, memory_id: str, _: str) -> Shown:
    return shown.archived(archive(store, [memory_id]))


def _forget(store: Store, memory_id: str, _: str) -> Shown:
    return shown.forgotten(forget(store, memory_id))


def _restore(store: Store, memory_id: str, _: str) -> Shown:
    file = restore(store, memory_id)
    return shown.restored(file, standing_beside(store, file))


def _pin(store: Store, memory_id: str, _: str) -> Shown:
    outcome = promote.pin(store, memory_id, pinned=True)
    return hot.pinned(outcome, _taken_over(store, memory_id))


def _unpin(store: Store, memory_id: str, _: str) -> Shown:
    return hot.pinned(promote.pin(store, memory_id, pinned=False))


def _validate(store: Store, memory_id: str, _: str) -> Shown:
    return moved(trusting.validate(store, memory_id), _taken_over(store, memory_id))


def _invalidated(reason: str) -> Callable[[Store, str, str], Shown]:
    def run(store: Store, memory_id: str, _: str) -> Shown:
        return moved(trusting.invalidate(store, memory_id, reason=reason))

    return run


def _tag(store: Store, memory_id: str, word: str) -> Shown:
    tags = TAGS.cleaned(word.split(","))
    if not tags:
        raise Rejected("There is no tag to add.", "Type a word, or several with commas.")
    old_tags = read(store, memory_id).memory.tags
    if set(tags) <= set(old_tags):
        raise Rejected(f"'{memory_id}' has that tag already.")
    revise(store, memory_id, Revision(tags=(*old_tags, *tags)), source=MANUAL)
    return Shown(f"{memory_id}: tagged {', '.join(tag for tag in tags if tag not in old_tags)}.")


def _taken_over(store: Store, memory_id: str) -> str:
    """Accept a memory that waits, because the person just said something of it; return that, '' for none."""
    return ACCEPTED if trust(store, (memory_id,)) else ""


ACTS = {
    "pin": Act("Pin", "keeps it at hand in every session", _pin, many=True),
    "unpin": Act("Unpin", "keeps it at hand only while it is used", _unpin, many=True),
    "tag": Act("Add a tag", "adds a tag", _tag, many=True, asks="Tag, or several with commas"),
    TO_USER: Act("Move to user level", "makes it apply in every project", move_to(Level.USER), many=True),
    TO_PROJECT: Act(
        "Move to this project", "makes it apply in this project only", move_to(Level.PROJECT), many=True
    ),
    "archive": Act("Archive", "archives it; it is no longer shown", _archive, many=True),
    "restore": Act("Restore", "makes it active again", _restore, many=True),
    "forget": Act(
        "Forget", "moves it to the trash, from where it can be restored", _forget, many=True, danger=True
    ),
    "validate": Act("It is right", "raises the trust in it and counts as verified today", _validate),
    **{
        f"invalidate-{reason}": Act(
            f"It is {reason.replace('_', ' ')}", "lowers the trust in it", _invalidated(reason)
        )
        for reason in INVALIDATING
    },
}
"""What a person can do with a memory, by its name in a form."""


def for_many(store: Store) -> dict[str, Act]:
    """Return what can be done with many memories at once, seen from the project of *store*."""
    return {
        name: _with_hint(store, name)
        for name, act in ACTS.items()
        if act.many and (name != TO_PROJECT or store.of_project)
    }


def offered(store: Store, file: MemoryFile) -> dict[str, Act]:
    """Return what can be done with the memory now; nothing with the copy of a team's memory."""
    active = file.memory.status is Status.ACTIVE and not is_put_away(file)
    if file.vault.level is Level.TEAM or not active:
        return {name: ACTS[name] for name in ("restore", "forget") if not active}
    names = []
    if file.memory.kind is Kind.KNOWLEDGE:
        names = ["unpin" if file.memory.pinned else "pin", *levels_for(store, file)]
    return {name: _with_hint(store, name) for name in (*names, "archive", "forget")}


def _with_hint(store: Store, name: str) -> Act:
    """Return the act *name*; its hint says what leaves this machine by it."""
    leaves = what_git_sees(store) if name == TO_PROJECT else ""
    return replace(ACTS[name], hint=ACTS[name].hint + leaves)


def judged() -> dict[str, Act]:
    """Return what a person can say about whether a memory is true."""
    return {name: act for name, act in ACTS.items() if name.partition("-")[0] in ("validate", "invalidate")}


def act_on_one(request: Request, fields: Fields) -> Response:
    """Do with one memory what the form says, and return what was done; raise what the action raises."""
    store, memory_id = store_for(request), request.path_params["memory_id"]
    act, name = _act(fields.get("act", "")), new_name()
    chosen = _known_as(store, memory_id)
    with one_change(name):
        result = act.run(store, memory_id, fields.get("word", ""))
    rows = [" · ".join(cells(result, row)) for row in result.rows]
    lines = [result.head, *rows, *result.notes]
    return _answered(request, lines, change=name, memories=[_known_as(store, chosen.id)])


def ask_for_many(request: Request) -> Response:
    """Return the question whether that is to be done with the chosen memories, with their titles."""
    name = request.query_params.get("act", "")
    chosen = _chosen(request, request.query_params.getlist("id"))
    return page(
        request,
        "many.html",
        name=name,
        act=_act(name, many=True) and _with_hint(store_for(request), name),
        chosen=chosen,
        most=SAID,
    )


def act_on_many(request: Request, fields: Fields) -> Response:
    """
    Do with each chosen memory what the form says, as one change, and return what was done.

    A memory with which it cannot be done is named with the reason; the others are done all the same.
    """
    name = fields.get("act", "")
    act, change = _act(name, many=True), new_name()
    memories: list[Chosen] = []
    refused: list[tuple[str, str]] = []
    chosen = _chosen(request, fields.getlist("id"))
    with one_change(change):
        for memory in chosen:
            try:
                act.run(memory.store, memory.id, fields.get("word", ""))
                memories.append(_known_as(memory.store, memory.id))
            except (DaybookError, OSError) as error:
                refused.append((memory.title, str(error)))
    head = f"{act.label}: {len(memories)} of {len(chosen)} done."
    return _answered(request, [head], refused=refused, change=change, memories=memories)


def take_back(request: Request, fields: Fields) -> Response:
    """
    Take back the change that the form names; raise Conflict when another change came since.

    What was edited since is left alone, and named; where that is all, with the way to undo it anyway.
    """
    wanted = fields.get("change", "")
    for memory in _chosen(request, fields.getlist("id")):
        change = undo.last_undoable(memory.store, memory.id)
        if change and change.name == wanted:
            try:
                outcome = undo.undo(memory.store, change)
            except Conflict as error:  # its hint is for a terminal
                return page(
                    request,
                    "error.html",
                    HTTPStatus.CONFLICT,
                    sentence=str(error),
                    hint="",
                    compared=change.name,
                )
            result = history.undone(outcome)
            return _answered(request, [result.head], refused=outcome.skipped)
    raise undo.overtaken()


def _answered(
    request: Request,
    lines: Sequence[str],
    *,
    refused: Sequence[tuple[str, str]] = (),
    change: str = "",
    memories: Sequence[Chosen] = (),
) -> Response:
    """Return what was done with *memories*; its change can be taken back if the ledger has it."""
    last = undo.last_undoable(memories[0].store, memories[0].id) if memories else None
    return page(
        request,
        "done.html",
        lines=lines,
        refused=refused,
        change=change if last and last.name == change else "",
        refs=[memory.ref for memory in memories],
    )


def _chosen(request: Request, names: Sequence[str]) -> list[Chosen]:
    """Return the memories that a form names by `vault/id` or by their ids; raise Rejected for none."""
    where = Where(request, store_for(request))
    memories = [_memory_named(where, name) for name in dict.fromkeys(names)]
    if not memories:
        raise Rejected("No memory was chosen.", "Tick the ones you mean.")
    return memories


def _memory_named(where: Where, name: str) -> Chosen:
    vault, memory_id = vault_in(name), id_in(name)
    store = where.store(vault)
    chosen = _known_as(store, memory_id)
    if vault and not chosen.ref.startswith(f"{vault}/"):  # both levels have that id, and the farther is meant
        chosen = _known_as(store.scoped(place for place in store.vaults if place.key == vault), memory_id)
    return chosen


def _known_as(store: Store, memory_id: str) -> Chosen:
    """Return the memory with that id, which may lie in the trash; raise NotFound."""
    try:
        row = find(store, memory_id)
    except NotFound:
        trashed = find_trashed(store, memory_id)
        if trashed is None:
            raise
        return Chosen(trashed.ref, memory_id, trashed.title, store)
    return Chosen(row.ref, row.id, row.title, store)


def _act(name: str, *, many: bool = False) -> Act:
    act = ACTS.get(name)
    if act is None or (many and not act.many):
        raise Rejected("That cannot be done here.", "Use one of the buttons.")
    return act


ROUTES = (
    Route("/memories-many", ask_for_many, methods=["GET"]),
    Route("/memories-many", form(act_on_many), methods=["POST"]),
    Route("/memories-undo", form(take_back), methods=["POST"]),
    Route(f"{MEMORY}/act", form(act_on_one), methods=["POST"]),
)
