"""
How soon a server answers its first hook: `python benchmarks/start.py [RUNS]`.

Of processes like those that Claude Code starts, over a store of 1,000 made-up memories: the processor's time
of all their threads, and the time on the clock, from the start of the process.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the environment that it makes has bytecode

from benchmarks import synthetic
from benchmarks.latency import command
from benchmarks.processor_time import of_process
from benchmarks.synthetic_store import make_index, open_empty, write_files

MEMORIES = 1_000
CLIENT = {"name": "benchmark", "version": "1"}
ASKED = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}),
    ("tools/list", {}),
)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory(prefix="daybook-start-") as folder:
        opened = open_empty(Path(folder))
        questions = synthetic.questions(write_files(opened, MEMORIES), runs + 1)
        make_index(opened)
        environment = {**os.environ, "MEMORY_DIR": str(opened.home), "HOME": folder}
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
        figures = [started(environment, opened.folder, question) for question in questions][1:]
    for name, values in zip(("processor", "clock"), zip(*figures, strict=True), strict=True):
        told = f"median {median(values):.0f}, most {max(values):.0f}"
        print(f"start to the first hook answer, ms of the {name}: {told}")


def started(environment: dict[str, str], project: Path, prompt: str) -> tuple[float, float]:
    """Start a server and return (ms of the processor, ms of the clock) until it answered a prompt's hook."""
    began = time.perf_counter()
    with subprocess.Popen(
        command("serve"), env=environment, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        hook = {"event": "UserPromptSubmit", "session_id": prompt[:9], "prompt": prompt}
        for number, (method, params) in enumerate(
            (*ASKED, ("tools/call", {"name": "hook", "arguments": hook}))
        ):
            say(server, {"id": number, "method": method, "params": params})
            assert server.stdout
            assert "result" in json.loads(server.stdout.readline())
            if number == 0:
                say(server, {"method": "notifications/initialized"})
        waited = time.perf_counter() - began
        spent = of_process(server.pid)
        server.stdin and server.stdin.close()
    return spent * 1000, waited * 1000


def say(server: "subprocess.Popen[bytes]", message: dict[str, object]) -> None:
    assert server.stdin
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


if __name__ == "__main__":
    main()
