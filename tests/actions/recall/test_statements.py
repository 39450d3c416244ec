"""What a recall costs in the index, counted by SQLite itself."""

import sqlite3

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Draft
from mcp_server.core.search.query import Query
from mcp_server.store import Store

TIMES = 5


def test_no_statement_is_prepared_anew_for_each_recall(store: Store) -> None:
    remember(store, Draft("Deploys", "Deploys run on Tuesdays."))
    for _ in range(TIMES):
        recall(store, Query("when do deploys run?"))

    with store.database.read() as db:
        try:
            rows = db.execute("SELECT sql, reprep FROM sqlite_stmt").fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite does not tell how often it prepares a statement")

    assert rows
    assert not [sql for sql, prepared_anew in rows if prepared_anew >= TIMES]
