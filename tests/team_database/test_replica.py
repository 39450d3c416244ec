"""A primary and its replica: which of them a server uses, and what it does when the primary is lost."""

import contextlib

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import StorageUnavailable
from mcp_server.core.storage.port import Stored
from mcp_server.core.team.team import TeamStorage
from tests.postgres import empty_database, replica, restarting
from tests.team_database.teams import memory, storages

WEBHOOK = memory("webhook", "The webhook needs the raw body.")


def test_a_replica_is_refused_and_the_address_of_both_is_named() -> None:
    with empty_database() as url:
        with open_database(url):
            pass
        with (
            replica(url) as following,
            pytest.raises(StorageUnavailable, match="takes no changes: it is a replica") as refusal,
            open_database(following),
        ):
            pass
        assert "target_session_attrs=read-write" in refusal.value.hint


def test_when_the_primary_is_lost_a_server_goes_on_with_the_replica_that_was_promoted() -> None:
    with empty_database() as url, replica(url) as following:
        hosts = ",".join(str(conninfo_to_dict(conninfo)["host"]) for conninfo in (following, url))
        address_of_both = make_conninfo(url, host=hosts, target_session_attrs="read-write")
        with open_database(address_of_both) as team:
            by = storages(team)
            stored = by["anna"].save(WEBHOOK)
            with restarting():
                with pytest.raises(StorageUnavailable, match="cannot be reached"):
                    by["anna"].load("webhook")
                with psycopg.connect(following, autocommit=True) as db:
                    db.execute("SELECT pg_promote()")
                assert _loaded(by["rita"]) == stored
                by["anna"].forget("webhook", digest=stored.digest)


def _loaded(storage: TeamStorage) -> Stored:
    """Return the memory once the server has found the new primary: each call waits some seconds for it."""
    for _ in range(60):
        with contextlib.suppress(StorageUnavailable):
            return storage.load("webhook")
    raise AssertionError("the server did not find the new primary")
