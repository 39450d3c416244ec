"""
Open a store as a process of its own does, ask it, and print what it answers: `asked.py MEMORY_DIR PROJECT`.

The index is looked at afterwards as the command line does.
"""

import json
import os
import sys
from pathlib import Path

from mcp_server.actions.files.sync import sync_if_free
from mcp_server.actions.memory.list import list_memories
from mcp_server.actions.model.embed import embed_pending
from mcp_server.actions.recall.recall import recall
from mcp_server.bootstrap import Opened
from mcp_server.core.search.query import ANY_STATUS, Filter, Query
from mcp_server.doors.shown.trouble import remark

QUESTIONS = (
    "stripe webhook raw body", "postgres cart state", "window tag commit", "retry queue backoff deploy",
    "kernel parser token", "vector passage lock", "fsync rename", "server subject mysql",
)  # fmt: skip


def main() -> None:
    home, project = Path(sys.argv[1]), Path(sys.argv[2])
    opened = Opened({**os.environ, "MEMORY_DIR": str(home)}, folder=project)
    store = opened.store()
    sync_if_free(store)
    if store.settings.embedding_model != "none":
        embed_pending(store, replace=False)
    answers = {}
    for question in QUESTIONS:
        answer = recall(store, Query(question, limit=10))
        answers[question] = [[hit.id, hit.title, hit.text] for hit in answer.hits]
    listed = list_memories(store, Filter(statuses=ANY_STATUS), limit=50).rows
    answers["list"] = [[row.id, row.title, row.text] for row in listed]
    damaged = opened.look_is_due() and opened.finds_damage()
    print(json.dumps({"said": answers, "damaged": damaged, "remarks": [*map(remark, opened.remarks())]}))


if __name__ == "__main__":
    main()
