"""A team's database of an older schema is brought up to date with all that is in it; a newer is refused."""

from pathlib import Path

import psycopg
import pytest

from mcp_server.adapters.team import upgrades
from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import SettingsError
from mcp_server.core.search.query import Query
from mcp_server.core.storage.port import ChangeKind
from mcp_server.core.team.team import Member, Role
from tests.postgres import administrator

SCHEMA_1 = Path(__file__).parent.parent / "data" / "team-schema-1.sql"
ANNAS = "vJdS_aOFCrJFVbdjhpDwApga3fOLK3Vwg3_T930uT9M"  # the token that anna had then
ROLES = ("daybook_reader", "daybook_writer", "daybook_curator")


@pytest.fixture
def old(url: str) -> str:
    """The address of a database as schema 1 left it."""
    with administrator() as db:
        for role in ROLES:
            if not db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                db.execute(f"CREATE ROLE {role} NOLOGIN".encode())
        db.execute("GRANT daybook_reader TO daybook_writer; GRANT daybook_writer TO daybook_curator")
    with psycopg.connect(url) as db:
        db.execute(SCHEMA_1.read_text(encoding="utf-8").encode())
    return url


def test_an_upgrade_keeps_every_word_and_makes_it_searchable(old: str) -> None:
    with open_database(old) as team:
        anna = team.member_of(ANNAS)
        assert anna == Member("anna", Role.WRITER)
        assert team.name == "Billing"
        assert [member.name for member in team.members()] == ["anna", "bert", "cleo"]
        storage = team.storage_for(anna)
        webhook = storage.load("webhook-raw-body")
        assert webhook.memory.touches == ("src/pay.ts:42",)
        assert (webhook.author, webhook.confirmed_by) == ("anna", "cleo")
        assert [change.kind for change in storage.history("webhook-raw-body")] == [
            ChangeKind.CREATED,
            ChangeKind.REVISED,
            ChangeKind.CONFIRMED,
        ]
        assert storage.restore("old-port").memory.text == "The port was 8081."
        results = storage.search(Query("which step of the deploy waits for the migration?")).results
        assert results[0].stored.memory.id == "deploys"
        assert "waits for the migration" in results[0].passage
        assert storage.search(Query("prices net")).results[0].passage.startswith("Prices")
    with open_database(old) as team:  # once more changes nothing
        assert team.member_of(ANNAS) == Member("anna", Role.WRITER)


def test_an_upgrade_that_fails_leaves_everything_as_it_was(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = [*upgrades.scripts(), "CREATE TABLE daybook.more (); SELECT 1 / 0"]
    monkeypatch.setattr(upgrades, "scripts", lambda: scripts)
    with pytest.raises(Exception, match="division by zero"), open_database(old):
        pass
    with psycopg.connect(old) as db:
        assert db.execute("SELECT max(number) FROM daybook.upgrades").fetchall() == [(1,)]
        assert db.execute("SELECT to_regclass('daybook.passages')").fetchall() == [(None,)]


def test_a_database_of_a_newer_daybook_is_refused_in_one_sentence(url: str) -> None:
    with open_database(url):
        pass
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO daybook.upgrades (number) VALUES (99)")
    with pytest.raises(SettingsError, match="has schema 99, of a newer Daybook"), open_database(url):
        pass
