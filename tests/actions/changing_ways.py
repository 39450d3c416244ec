"""Every way in which a verb but an import changes, moves or removes the file of a memory that is there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcp_server.actions.capture.occasions import Group, take_answer
from mcp_server.actions.files.read import find, read
from mcp_server.actions.files.sync import sync
from mcp_server.actions.graph import kg
from mcp_server.actions.judge import contradiction
from mcp_server.actions.judge.candidate import approve, propose
from mcp_server.actions.judge.compare_and_store import compare_and_store
from mcp_server.actions.memory import promote, repository, trust
from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget, restore, to_trash
from mcp_server.actions.memory.link import link, unlink
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.review import review as reviewing
from mcp_server.actions.review.entries import Verdict
from mcp_server.actions.sessions import forget_session
from mcp_server.actions.upkeep.tidy import tidy
from mcp_server.core.budget import Reply
from mcp_server.core.memory import Draft, Link
from mcp_server.core.memory_parts import Level
from mcp_server.core.provenance.provenance import ASSISTANT, SEEDED
from mcp_server.store import Store
from tests.actions.tidy.knowledge import twins
from tests.conftest import Clock

Act = Callable[[], object]
USER, PROJECT = Level.USER, Level.PROJECT


@dataclass(frozen=True)
class Place:
    """A store, its clock, and a folder of the person's own."""

    store: Store
    clock: Clock
    folder: Path


def remembered(
    store: Store, title: str = "Retry rule", text: str = "Wait thirty seconds.", **more: object
) -> str:
    return remember(store, Draft(title, text, **{"level": USER, **more})).memory.id  # type: ignore[arg-type]


def _revised(revision: Revision) -> Callable[[Place], Act]:
    return _one(lambda store, memory_id: revise(store, memory_id, revision))


def _two(place: Place) -> tuple[str, str]:
    return remembered(place.store), remembered(place.store, "Cache rule", "Keep pages for an hour.")


def _linked(rel: str) -> Callable[[Place], Act]:
    def prepared(place: Place) -> Act:
        first, second = _two(place)
        return lambda: link(place.store, first, second, rel)

    return prepared


def _unlinked(rel: str) -> Callable[[Place], Act]:
    def prepared(place: Place) -> Act:
        first, second = _two(place)
        link(place.store, first, second, rel)
        return lambda: unlink(place.store, first, second)

    return prepared


def _resolved(how: str) -> Callable[[Place], Act]:
    def prepared(place: Place) -> Act:
        first, second = _two(place)
        link(place.store, first, second, "contradicts")
        return lambda: contradiction.resolve_contradiction(place.store, first, second, how)

    return prepared


def _node(place: Place, name: str = "alpha") -> str:
    kg.put_node(place.store, PROJECT, name, f"{name} is a service", notes=["small"])
    return name


def _edge(place: Place, rel: str = "calls") -> None:
    _node(place), _node(place, "beta")
    kg.put_edge(place.store, PROJECT, "alpha", "beta", rel)


def _put_node(place: Place) -> Act:
    _node(place)
    return lambda: kg.put_node(place.store, PROJECT, "alpha", "alpha is a queue", notes=["big"])


def _title_of_an_ordinary_memory(place: Place) -> Act:
    memory_id = remembered(place.store, level=PROJECT)
    return lambda: kg.put_node(place.store, PROJECT, memory_id, "Another title")


def _put_edge(place: Place, rel: str = "calls") -> Act:
    _node(place), _node(place, "beta")
    return lambda: kg.put_edge(place.store, PROJECT, "alpha", "beta", rel)


def _delete_edge(place: Place) -> Act:
    _edge(place, "supersedes")
    return lambda: kg.delete_edge(place.store, PROJECT, "alpha", "beta", "supersedes")


def _delete_node(place: Place) -> Act:
    _edge(place)
    return lambda: kg.delete_node(place.store, PROJECT, "beta")


def _aged(place: Place) -> str:
    """Store a memory in the archive, where it was not used for long."""
    memory_id = remembered(place.store, type="note", source="extracted", level=PROJECT)
    path = read(place.store, memory_id).path
    archived = path.parent.parent / "archive" / path.name
    archived.parent.mkdir(exist_ok=True)
    archived.write_bytes(path.read_bytes().replace(b"source:", b"status: archived\nsource:"))
    path.unlink()
    sync(place.store)
    return memory_id


def _recall_node(place: Place) -> Act:
    memory_id = _aged(place)
    return lambda: kg.recall_node(place.store, PROJECT, memory_id)


def _put_archived_node(place: Place) -> Act:
    memory_id = _aged(place)
    return lambda: kg.put_node(place.store, PROJECT, memory_id, "It is back")


def _restored(place: Place) -> Act:
    memory_id = _aged(place)
    return lambda: restore(place.store, memory_id)


def _back_from_the_trash(place: Place) -> Act:
    memory_id = remembered(place.store)
    forget(place.store, memory_id)
    return lambda: restore(place.store, memory_id)


def _reinstated(place: Place) -> Act:
    first, second = _two(place)
    link(place.store, first, second, "supersedes")
    return lambda: restore(place.store, second)


def _replaced(place: Place) -> Act:
    memory_id = remembered(place.store)
    return lambda: compare_and_store(
        place.store, Draft("Retry rule", "Wait an hour.", level=USER), supersedes=memory_id
    )


def _said_again(place: Place) -> Act:
    memory_id = remembered(place.store)
    memory = read(place.store, memory_id).memory
    again = Draft(memory.title, memory.text, level=USER, tags=("net",), links=(Link("uses", "src/net.py"),))
    return lambda: compare_and_store(place.store, again)


def _said_again_of_the_superseded(place: Place) -> Act:
    first, second = _two(place)
    link(place.store, first, second, "supersedes")
    return lambda: compare_and_store(place.store, Draft("Cache rule", "Keep pages for an hour.", level=USER))


def _remembered_as_taking_the_place(place: Place) -> Act:
    memory_id = remembered(place.store)
    draft = Draft("Another rule", "Never wait.", level=USER, supersedes=(memory_id,))
    return lambda: remember(place.store, draft)


def _tidied_twins(place: Place) -> Act:
    twins(place.store)
    place.clock.pass_days(1)
    return lambda: tidy(place.store)


def _tidied_aged(place: Place) -> Act:
    remembered(place.store, "A passing thought", type="note", source="extracted")
    place.clock.pass_days(120)
    return lambda: tidy(place.store)


def _forgotten_session(place: Place) -> Act:
    old = remembered(place.store)
    learned = remembered(place.store, "New rule", "Wait for ever.", session="bad", supersedes=(old,))
    assert learned
    return lambda: forget_session.forget_session(place.store, "bad", dry_run=False)


def _accepted(place: Place) -> Act:
    memory_id = remembered(place.store, source=SEEDED)
    return lambda: repository.trust(place.store, (memory_id,))


def _answered(verdict: Verdict) -> Callable[[Place], Act]:
    def prepared(place: Place) -> Act:
        remembered(place.store, "Uploads", "The gateway ends uploads after 30 seconds.")
        place.clock.pass_days(1)
        remembered(place.store, "Uploads", "The gateway ends uploads after 60 seconds.")
        (entry,) = reviewing.review(place.store).entries
        return lambda: reviewing.settle(place.store, entry, verdict)

    return prepared


def _approved(place: Place) -> Act:
    memory_id = remembered(place.store)
    draft = Draft("Retry rule", "Wait an hour, says the gateway.", level=USER, supersedes=(memory_id,))
    propose(place.store, draft, key="mined-1", confidence=0.5, why="waits for you")
    return lambda: approve(place.store, ["mined-1"])


def _one(act: Callable[[Store, str], object]) -> Callable[[Place], Act]:
    def prepared(place: Place) -> Act:
        memory_id = remembered(place.store)
        return lambda: act(place.store, memory_id)

    return prepared


OCCASIONS = Reply('[{"number": 1, "use_when": ["the gateway is slow"]}]', 0, 0, "")
WAYS: dict[str, Callable[[Place], Act]] = {
    "revise the text": _revised(Revision(text="Wait a minute.")),
    "revise the title": _revised(Revision(title="Another title")),
    "revise tags and type": _revised(Revision(tags=("net",), type="gotcha")),
    "revise by Claude": _one(
        lambda store, memory_id: revise(store, memory_id, Revision(text="Never."), source=ASSISTANT)
    ),
    "pin": _one(lambda store, memory_id: promote.pin(store, memory_id, pinned=True)),
    "validate": _one(trust.validate),
    "forget": _one(forget),
    "review reject": _one(lambda store, memory_id: to_trash(store, find(store, memory_id))),
    "archive": _one(lambda store, memory_id: archive(store, [memory_id])),
    "move to this project": _one(lambda store, memory_id: change_level(store, memory_id, PROJECT)),
    "restore from the archive": _restored,
    "restore from the trash": _back_from_the_trash,
    "restore the superseded": _reinstated,
    "replace": _replaced,
    "remember what takes the place": _remembered_as_taking_the_place,
    "say again with more": _said_again,
    "say again what was superseded": _said_again_of_the_superseded,
    "link": _linked("uses"),
    "link as superseding": _linked("supersedes"),
    "link as contradicting": _linked("contradicts"),
    "unlink": _unlinked("uses"),
    "unlink what supersedes": _unlinked("supersedes"),
    "resolve by superseding": _resolved("supersede"),
    "resolve by keeping both": _resolved("keep_both"),
    "resolve by deleting": _resolved("delete"),
    "put a node again": _put_node,
    "put a node of the archive": _put_archived_node,
    "put a node that is a memory": _title_of_an_ordinary_memory,
    "put an edge": _put_edge,
    "put an edge that supersedes": lambda place: _put_edge(place, "supersedes"),
    "delete an edge": _delete_edge,
    "delete a node": _delete_node,
    "recall a node": _recall_node,
    "tidy twins": _tidied_twins,
    "tidy what has aged": _tidied_aged,
    "add occasions": _one(
        lambda store, memory_id: take_answer(store, Group((read(store, memory_id),)), OCCASIONS)
    ),
    "forget a session": _forgotten_session,
    "review replaces": _answered(Verdict.REPLACES),
    "review merge": _answered(Verdict.MERGE),
    "accept what documents say": _accepted,
    "approve a candidate": _approved,
}
