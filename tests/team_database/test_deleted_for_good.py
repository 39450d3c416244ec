"""What docs/team.md tells an administrator to do leaves nothing of a memory."""

import re

import psycopg
import pytest

from mcp_server.core.errors import NotFound
from tests.live import ROOT
from tests.team_database.teams import Opened, memory

DOCUMENT = (ROOT / "docs/team.md").read_text(encoding="utf-8")
(STATEMENTS,) = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)


def test_a_memory_goes_with_all_its_versions_and_the_others_stay(opened: Opened) -> None:
    anna = opened.by["anna"]
    first = anna.save(memory("webhook", "The password is quagga."))
    anna.save(memory("webhook", "It is in the vault."), replaces=first.digest)
    anna.save(memory("invoices", "They are numbered per year."))

    with psycopg.connect(opened.url, autocommit=True) as db:
        db.execute(STATEMENTS.replace("ID", "webhook"))
        tables = db.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'daybook'"
        ).fetchall()
        for (table,) in tables:
            rows = db.execute(f"SELECT t::text FROM daybook.{table} t").fetchall()
            assert not [row for row in rows if "quagga" in str(row) or "vault" in str(row)], table

    with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(opened.url) as db:
        db.execute("DELETE FROM daybook.changes")  # only the statements may
    with pytest.raises(NotFound):
        opened.by["cleo"].history("webhook")
    assert [stored.memory.id for stored in anna.page()] == ["invoices"]
    assert anna.save(memory("webhook", "Ask the owner.")).memory.text == "Ask the owner."
