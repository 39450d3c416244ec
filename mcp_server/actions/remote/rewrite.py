"""rewrite: replace the history of the remote by its present files, without what was deleted for good."""

from mcp_server.actions.remote.commits import ALONE, cut_history, without_past
from mcp_server.actions.remote.exchange import (
    REWRITTEN,
    Exchanged,
    alone,
    exchange,
    remote_of,
    repository_of,
    slower,
)
from mcp_server.adapters.remote.repository import HEAD
from mcp_server.core.errors import RemoteUnavailable
from mcp_server.store import Store


def rewrite_history(store: Store, *, timeout: float, patience: float) -> Exchanged:
    """
    Exchange, then replace the remote's history by one commit with its present files.

    Other machines follow at their next exchange. Raises Rejected without a remote, RemoteUnavailable, Held.
    """
    result = exchange(store, timeout=timeout, patience=patience)
    if result.trouble:
        raise RemoteUnavailable(result.trouble, "Nothing was removed.")
    remote = remote_of(store)
    with alone(store, patience=patience):
        repository = repository_of(store)
        head = repository.ref(HEAD)
        if head:
            new = without_past(store, repository, head, f"{REWRITTEN} {head}")
            if not repository.push(remote.url, new, timeout=timeout, instead_of=head):
                raise slower(repository, remote.url)
            repository.set_ref(HEAD, new)
            repository.drop(ALONE)
            cut_history(store, repository)
            repository.prune_remote(remote.url)
    return result
