"""python every_verb.py FOLDER WORK: do everything that writes a file once."""

import sys
from pathlib import Path

from mcp_server.actions.files.sync import rebuild
from mcp_server.actions.memory.change_level import change_level
from mcp_server.actions.memory.forget import forget, restore
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.memory.session import save_session
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from mcp_server.core.search.query import Query
from tests.opened import opened_at

folder, work = sys.argv[1:]
store = opened_at(Path(folder), Path(work)).store()
remember(store, Draft("Of the project", "that is worth knowing"))
memory_id = remember(store, Draft("A thing", "that is worth knowing", level=Level.USER)).memory.id
revise(store, memory_id, Revision(text="changed"))
change_level(store, memory_id, Level.PROJECT)
change_level(store, memory_id, Level.USER)
recall(store, Query("thing"), given_to="s")
forget(store, memory_id)
restore(store, memory_id)
forget(store, memory_id)
save_session(store, "Work", "is half done", folder=Path(work))
rebuild(store)
