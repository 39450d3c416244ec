"""
A machine that is killed: `killed.py HOME NUMBER` remembers and exchanges until then, and prints each id when
it is acknowledged; `killed.py HOME` only exchanges, once.
"""

import sys
from pathlib import Path

from mcp_server.actions.memory.remember import remember
from mcp_server.actions.remote.exchange import exchange
from mcp_server.core.memory import Draft
from tests.opened import opened_at


def main() -> None:
    home = Path(sys.argv[1])
    store = opened_at(home).store()
    if len(sys.argv) == 2:
        exchange(store, patience=60)
        return
    start = int(sys.argv[2])
    for number in range(start, start + 1000):
        title = f"Fact {number} of {home.name}"
        print(remember(store, Draft(title, f"{title} holds.")).memory.id, flush=True)
        exchange(store, patience=60)


if __name__ == "__main__":
    main()
