"""Why a team's database cannot be used is told apart, without a word of the password."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import DaybookError, SettingsError, StorageUnavailable
from tests.postgres import administrator, empty_database, server
from tests.team_server.processes import team

PASSWORD = "hunter2-quagga"
_numbers = itertools.count(1)


@pytest.fixture
def login() -> Iterator[str]:
    """The name of a login that the server asks for its password, which is PASSWORD."""
    name = f"asked_{next(_numbers)}"
    with administrator() as db:
        db.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(name), PASSWORD))
        rules = Path(db.execute("SHOW hba_file").fetchall()[0][0])
        before = rules.read_text()
        rules.write_text(f"local all {name} scram-sha-256\n{before}")
        db.execute("SELECT pg_reload_conf()")
        yield name
        rules.write_text(before)
        db.execute("SELECT pg_reload_conf()")
        db.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())


@pytest.fixture
def url() -> Iterator[str]:
    with empty_database() as url:
        yield url


def refusal(url: str, **changed: str) -> DaybookError:
    """Return why the database at *url*, with what is *changed* of it, cannot be opened."""
    with pytest.raises(DaybookError) as refused, open_database(make_conninfo(url, **changed)):
        pass
    assert PASSWORD not in f"{refused.value}{refused.value.hint}"
    return refused.value


def test_no_server_there() -> None:
    error = refusal("postgresql://anna@127.0.0.1:1/team", password=PASSWORD)
    assert isinstance(error, StorageUnavailable)
    assert "no PostgreSQL answers on port 1" in str(error)


def test_a_wrong_password_and_none_are_told_of_the_login(login: str, url: str) -> None:
    wrong = refusal(url, user=login, password=f"not-{PASSWORD}")
    assert isinstance(wrong, SettingsError)
    assert f"refuses the login '{login}'" in str(wrong)
    assert "Correct the name or the password" in wrong.hint
    assert "It asks for a password" in refusal(url, user=login).hint
    assert "refuses the login 'nobody'" in str(refusal(url, user="nobody"))
    nowhere = refusal(url, user=login, password=f"not-{PASSWORD}", dbname="nowhere")
    assert "refuses the login" in str(nowhere), "a stranger is not told which databases there are"


def test_a_missing_database_is_told_with_what_makes_it(login: str, url: str) -> None:
    error = refusal(url, user=login, password=PASSWORD, dbname="nowhere")
    assert isinstance(error, SettingsError)
    assert "has no database 'nowhere'" in str(error)
    assert "createdb nowhere" in error.hint


def test_a_login_that_may_not_connect_is_told_what_to_grant(login: str, url: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    with administrator() as db:
        db.execute(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC".encode())
        error = refusal(url, user=login, password=PASSWORD)
        assert "may not connect to the database" in str(error)
        db.execute(error.hint.partition(" says: ")[2].encode())
    assert "may not make the roles" in str(refusal(url, user=login, password=PASSWORD))


def test_a_database_that_takes_nobody_is_no_fault_of_the_login(url: str) -> None:
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    with administrator() as db:
        db.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        error = refusal(url)
    assert isinstance(error, StorageUnavailable)
    assert "takes no connection at present" in str(error)


def test_a_login_without_rights_to_the_schema_is_told_whose_it_is(login: str, url: str) -> None:
    with open_database(url):
        pass
    error = refusal(url, user=login, password=PASSWORD)
    assert isinstance(error, SettingsError)
    assert f"The login '{login}' has no right to the team's schema" in str(error)
    assert "Use the login 'postgres'" in error.hint
    with administrator() as db:
        db.execute(error.hint.partition(" say: ")[2].encode())
    with open_database(make_conninfo(url, user=login, password=PASSWORD)) as opened:
        assert opened.members() == ()
    with administrator() as db:
        db.execute(f"REVOKE postgres FROM {login}".encode())


def test_a_schema_in_which_the_login_may_make_nothing_is_told(login: str, url: str) -> None:
    with open_database(url):  # the roles of members are there now
        pass
    with empty_database() as other, administrator(psycopg.conninfo.conninfo_to_dict(other)["dbname"]) as db:
        db.execute("CREATE SCHEMA daybook")
        for role in ("reader", "writer", "curator"):
            db.execute(f"GRANT daybook_{role} TO {login}".encode())
        error = refusal(other, user=login, password=PASSWORD)
        assert "may not make tables in the schema 'daybook'" in str(error)
        db.execute(error.hint.partition(" says: ")[2].encode())
        with open_database(make_conninfo(other, user=login, password=PASSWORD)) as opened:
            assert opened.members() == ()


def test_the_command_says_one_sentence_and_what_to_do(tmp_path: Path, login: str, url: str) -> None:
    host = server().get_uri()
    for changed, sentence in (
        ({"user": login, "password": f"not-{PASSWORD}"}, "refuses the login"),
        ({"dbname": "nowhere"}, "has no database 'nowhere'"),
    ):
        process = team(tmp_path, make_conninfo(host, **changed), "serve", "--port", "0")
        assert (process.returncode, process.stdout) == (2, "")
        first, hint = process.stderr.strip().splitlines()
        assert sentence in first
        assert hint
        assert PASSWORD not in process.stderr
