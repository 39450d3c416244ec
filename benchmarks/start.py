"""
How soon a server answers its first hook: `python benchmarks/start.py [RUNS]`.

Of processes like those that Claude Code starts, over a store of 1,000 made-up memories: the processor's time
of all their threads, and the time on the clock, from the start of the process.
"""

import os
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

from benchmarks import synthetic
from benchmarks.latency import command
from benchmarks.measured_server import started
from benchmarks.synthetic_store import make_index, open_empty, write_files

MEMORIES = 1_000


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory(prefix="daybook-start-") as folder:
        opened = open_empty(Path(folder))
        questions = synthetic.questions(write_files(opened, MEMORIES), runs + 1)
        make_index(opened)
        environment = {**os.environ, "MEMORY_DIR": str(opened.home), "HOME": folder}
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
        serve = command("serve")
        figures = [started(serve, environment, opened.folder, question) for question in questions][1:]
    for name, values in zip(("processor", "clock"), zip(*figures, strict=True), strict=True):
        figures_text = f"median {median(values):.0f}, most {max(values):.0f}"
        print(f"start to the first hook answer, ms of the {name}: {figures_text}")


if __name__ == "__main__":
    main()
