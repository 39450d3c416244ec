"""Every way in which a verb changes or moves a conversation that a person saved or the worker wrote down."""

from collections.abc import Callable

from mcp_server.actions.memory.archive import archive
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.memory_parts import Kind
from mcp_server.core.provenance.provenance import MANUAL, TRANSCRIPT
from mcp_server.store import Store
from tests.actions.changing_ways import Act, Place, remembered


def _of(source: str, act: Callable[[Store, str], object]) -> Callable[[Place], Act]:
    """Do *act* with a conversation from *source*."""

    def prepared(place: Place) -> Act:
        memory_id = remembered(place.store, kind=Kind.CONVERSATION, source=source)
        return lambda: act(place.store, memory_id)

    return prepared


def _archived(store: Store, memory_id: str) -> object:
    return archive(store, [memory_id])


def _revised(**changes: str) -> Callable[[Store, str], object]:
    return lambda store, memory_id: revise(store, memory_id, Revision(**changes))  # type: ignore[arg-type]


OF_CONVERSATIONS: dict[str, Callable[[Place], Act]] = {
    "archive a saved conversation": _of(MANUAL, _archived),
    "archive a session written down": _of(TRANSCRIPT, _archived),
    "rename a session written down": _of(TRANSCRIPT, _revised(title="The night of the outage")),
    "change what was said": _of(TRANSCRIPT, _revised(text="Something else.")),
    "add to a saved conversation": _of(MANUAL, _revised(text="Wait thirty seconds.\n\nWhy?")),
}
