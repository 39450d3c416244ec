"""Each module of commands is loaded by a process that has loaded nothing else, as a shell starts it."""

import subprocess
import sys

from tests.live import ROOT

FORKING = """
import os, sys
from importlib import import_module

failed = []
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        import_module(name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
print(*failed)
"""


def test_no_module_of_commands_needs_that_another_was_loaded_before() -> None:
    paths = sorted((ROOT / "mcp_server" / "doors" / "cli").glob("[!_]*.py"))
    names = [f"mcp_server.doors.cli.{path.stem}" for path in paths]

    process = subprocess.run(
        [sys.executable, "-c", FORKING, *names], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )

    assert len(names) > 20, "hardly a module was tried: the test tells nothing"
    assert process.stdout.split() == [], process.stderr
