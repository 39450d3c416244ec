"""What a session left has its vectors before the next one starts."""

import subprocess
import sys
from pathlib import Path

from mcp_server.actions.model.embed import pending
from mcp_server.actions.recall.recall import recall
from mcp_server.core.memory_parts import Kind
from mcp_server.core.search.query import Filter, Mode, Query
from tests.actions.work.worked import ended
from tests.conftest import Open
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.recorded import Recorded

WORKER = """
import sys
from mcp_server.actions.upkeep.work import work
from mcp_server.bootstrap import Opened
opened = Opened()
print(work(lambda folder: opened.store(folder=folder)).kept, "onnxruntime" in sys.modules)
"""


def worker(memory_dir: Path, project: Path, model: str) -> str:
    """Run a worker as a process; return how many turns it kept, and whether it loaded an embedding model."""
    environment = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": model, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", WORKER],
        env={**environment, "HOME": str(project), "PATH": "/usr/bin:/bin"},
        cwd=project, capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    return process.stdout.strip()


def test_what_was_kept_is_found_by_meaning_without_a_server(
    open_here: Open, recorded: Recorded, memory_dir: Path, project: Path
) -> None:
    opened = open_here(EMBEDDING_MODEL="minilm-l6")
    recorded.user("The physician prescribed rest to the patient")
    ended(opened.store(), recorded)

    assert worker(memory_dir, project, "minilm-l6") == "1 True"

    store = opened.store()
    assert pending(store) == 0
    only = Filter(kinds=(Kind.CONVERSATION,))
    answer = recall(store, Query("what did the doctor tell the sick man", mode=Mode.SEMANTIC, filter=only))
    assert answer.semantic and [hit.id for hit in answer.hits] == [recorded.session]
    assert worker(memory_dir, project, "minilm-l6") == "0 False"


def test_a_worker_without_a_model_loads_none(
    open_here: Open, recorded: Recorded, memory_dir: Path, project: Path
) -> None:
    recorded.user("The physician prescribed rest to the patient")
    ended(open_here().store(), recorded)

    assert worker(memory_dir, project, "none") == "1 False"
