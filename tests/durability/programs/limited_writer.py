"""
python limited_writer.py FOLDER: remember and revise while no file may grow beyond 4,000 bytes.

The limit does to a write what a quota does: a part is written, and only the next attempt fails.
Prints a JSON object: what was raised, and what the store says when the limit is gone.
"""

import json
import resource
import sys
from pathlib import Path

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.core.errors import DaybookError
from mcp_server.core.memory import Draft
from tests.opened import opened_at

store = opened_at(Path(sys.argv[1])).store()
memory_id = remember(store, Draft("known", "short")).memory.id
read(store, memory_id)
raised = []
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
for attempt in (
    lambda: remember(store, Draft("new", "long " * 2000)),
    lambda: revise(store, memory_id, Revision(text="long " * 2000)),
):
    try:
        attempt()
        raised.append("")
    except (OSError, DaybookError) as error:
        raised.append(type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
after = remember(store, Draft("after", "long " * 2000)).memory.id
print(
    json.dumps(
        {
            "raised": raised,
            "known": read(store, memory_id).memory.text,
            "after": len(read(store, after).memory.text),
            "files": sorted(path.name for path in (store.home / "knowledge").iterdir()),
            "ids": sorted((memory_id, after)),
        }
    )
)
