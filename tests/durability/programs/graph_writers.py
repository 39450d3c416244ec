"""
python graph_writers.py FOLDER PROCESSES EACH: processes that put nodes and edges into one graph at once.

Every process puts EACH nodes of its own, puts one node that all of them put, and links both with each
other, beside the edges that begin at the one that all share. Prints one JSON object.
"""

import json
import sys
from pathlib import Path
from typing import Any

from competing_processes import at_once, opened

from mcp_server.actions.graph.kg import put_edge, put_node
from mcp_server.actions.graph.sync import register
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory_parts import Level

SHARED = "shared"


def work(folder: Path, number: int, each: int) -> dict[str, Any]:
    store, session = opened(folder), f"session-{number}"
    overwritten_gists: list[str] = []
    errors: list[str] = []
    register(store.in_session(session), folder=str(folder))
    for count in range(each):
        name = f"node-{number}-{count}"
        try:
            put_node(store.in_session(session), Level.USER, name, f"said by {number}, the {count}th")
            outcome = put_node(store.in_session(session), Level.USER, SHARED, f"{number} {count}")
            overwritten_gists += [outcome.overwritten.gist] if outcome.overwritten else []
            put_edge(store.in_session(session), Level.USER, SHARED, name, "holds")
            put_edge(store.in_session(session), Level.USER, name, SHARED, "belongs-to", notes=[str(count)])
        except DaybookError as error:
            errors.append(f"{type(error).__name__}: {error}")
    store.database.close()
    return {"errors": errors, "told": overwritten_gists}


if __name__ == "__main__":
    place, processes, puts = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    store = opened(place)
    put_node(store, Level.USER, SHARED, "the first")
    store.database.close()
    answers = at_once(processes, lambda number: work(place, number, puts))
    print(
        json.dumps(
            {
                name: [value for answer in answers for value in answer.get(name, [])]
                for name in ("errors", "told")
            }
        )
    )
