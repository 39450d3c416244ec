"""where: what the team's server has of a memory that is not here, and what can be done with it."""

import contextlib
from collections.abc import Callable

from mcp_server.actions.team.send import waiting_as
from mcp_server.adapters import team_membership
from mcp_server.core.errors import DaybookError, Elsewhere, NotFound, StorageUnavailable
from mcp_server.core.memory_parts import ID, typed_id
from mcp_server.core.storage.port import ChangeKind, Stored
from mcp_server.store import Store


def on_server(store: Store, memory_id: str) -> Stored | None:
    """Return the memory of that id on the server of the person's team, if any; raises StorageUnavailable."""
    name = typed_id(memory_id)
    team = store.team() if ID.fullmatch(name) else None
    with contextlib.suppress(NotFound):
        return team.load(name) if team else None
    return None


def told_where(open_store: Callable[[], Store], error: DaybookError) -> DaybookError:
    """
    Return *error*, or of a memory that is not here what can be done with it: the team's server has it, or it
    waits for that.

    Doors show an error so, because only the verbs of `memories` ask the team themselves.
    """
    if not isinstance(error, NotFound) or not ID.fullmatch(name := typed_id(error.memory_id)):
        return error
    store = open_store()
    if isinstance(error, Elsewhere) or not team_membership.has_team(store.home):
        return error
    if waiting_as(store, name):
        return NotFound(
            name,
            sentence=f"'{name}' waits here to be given to the team.",
            hint="By its id it can be read and revised; 'daybook team status' says why it waits.",
        )
    try:
        stored = on_server(store, name)
    except StorageUnavailable as unavailable:
        return unknown(error, unavailable)
    except DaybookError:
        return error
    if stored is None:
        return _forgotten_in_team(store, name) or error
    return NotFound(
        name,
        sentence=f"'{name}' is the team's, and only its server has it.",
        hint="By its id it can be read, revised and forgotten, for the whole team. "
        + (
            "'daybook team send' copies it here."
            if stored.confirmed_by
            else "It is copied here once a curator confirms it."
        ),
    )


def _forgotten_in_team(store: Store, memory_id: str) -> NotFound | None:
    team = store.team()
    with contextlib.suppress(DaybookError):
        forgotten = team.history(memory_id)[-1] if team else None
        if forgotten and forgotten.kind is ChangeKind.FORGOTTEN:
            return NotFound(
                memory_id,
                sentence=f"'{memory_id}' is the team's, and {forgotten.author} forgot it.",
                hint=f"'daybook restore {memory_id}' brings it back.",
            )
    return None


def unknown(missing: NotFound, error: StorageUnavailable) -> NotFound:
    """Return the error *missing* with the sentence that the team may have that memory: *error* says why."""
    return NotFound(missing.memory_id, sentence=f"{missing} The team may have it: {error}", hint=missing.hint)
