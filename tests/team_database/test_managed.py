"""A managed PostgreSQL: the server's login is no superuser, and is told in one sentence what it lacks."""

import itertools
from collections.abc import Iterator

import psycopg
import pytest

from mcp_server.adapters.team.connections import LONGEST, open_pool
from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import NotAllowed, SettingsError, StorageUnavailable
from mcp_server.core.search.query import Query
from tests.postgres import administrator, empty_database
from tests.team_database.teams import memory, storages

_numbers = itertools.count(1)


@pytest.fixture
def login() -> Iterator[str]:
    """The name of a login without any right of its own."""
    name = f"plain_{next(_numbers)}"
    with administrator() as db:
        db.execute("DROP ROLE IF EXISTS daybook_reader, daybook_writer, daybook_curator")
        db.execute(f"CREATE ROLE {name} LOGIN".encode())
    yield name
    with administrator() as db:
        db.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())


def test_a_login_that_may_make_roles_needs_no_superuser(login: str) -> None:
    with administrator() as db:
        db.execute(f"ALTER ROLE {login} CREATEROLE".encode())
    with empty_database(login=login) as url, open_database(url) as team:
        by = storages(team)
        by["anna"].save(memory("webhook", "The webhook needs the raw body."))
        assert by["rita"].search(Query("raw body of the webhook")).results
        with pytest.raises(NotAllowed):
            by["bert"].forget("webhook", digest=by["bert"].load("webhook").digest)


def test_roles_made_beforehand_are_enough_and_their_lack_is_said(login: str) -> None:
    with empty_database(login=login) as url:
        with pytest.raises(SettingsError, match="may not make the roles") as refusal, open_database(url):
            pass
        with administrator() as db:
            for statement in refusal.value.hint.partition(" or: ")[2].split("; "):
                db.execute(statement.encode())
        with open_database(url) as team:
            by = storages(team)
            stored = by["anna"].save(memory("webhook", "The webhook needs the raw body."))
            assert by["cleo"].confirm("webhook", digest=stored.digest).confirmed_by == "cleo"


def test_a_login_that_may_make_no_schema_is_told_what_to_grant(login: str) -> None:
    with empty_database() as url:
        own = psycopg.conninfo.make_conninfo(url, user=login)
        with administrator() as db:
            db.execute(f"ALTER ROLE {login} CREATEROLE".encode())
        with pytest.raises(SettingsError, match="may not make a schema") as refusal, open_database(own):
            pass
        with administrator() as db:
            db.execute(refusal.value.hint.partition(" says: ")[2].encode())
        with open_database(own) as team:
            assert team.members() == ()
            assert team.semantic is False
    with administrator() as db:
        db.execute("DROP ROLE IF EXISTS daybook_reader, daybook_writer, daybook_curator")


def test_a_connection_asks_for_nothing_that_a_pooler_refuses() -> None:
    with empty_database() as url, open_pool(url) as pool, pool.connection() as db:
        assert "options" not in db.info.get_parameters()
        assert db.execute("SHOW statement_timeout").fetchone() == (f"{LONGEST // 1000}s",)
        assert db.execute("SHOW search_path").fetchone() == ("pg_catalog, daybook",)


def test_what_cannot_be_reached_is_said_without_the_password() -> None:
    url = "postgresql://anna:hunter2@127.0.0.1:1/team"
    with pytest.raises(StorageUnavailable) as refusal, open_database(url):
        pass
    assert "127.0.0.1/team cannot be reached" in str(refusal.value)
    with pytest.raises(SettingsError) as wrong, open_database("postgresql://anna:hunter2@[half"):
        pass
    assert "hunter2" not in str(refusal.value) + refusal.value.hint + str(wrong.value) + wrong.value.hint
