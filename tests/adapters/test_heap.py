import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.adapters.index.database.database import CACHE, Database
from mcp_server.store import Store

ARENAS = """
import ctypes, sys, threading
from mcp_server.adapters.heap import share_one_arena

if sys.argv[1] == "one":
    share_one_arena()
libc = ctypes.CDLL(None) if sys.platform == "linux" else None
if not hasattr(libc, "malloc_info"):
    sys.exit("not glibc")
libc.malloc.restype = ctypes.c_void_p
libc.fdopen.restype = ctypes.c_void_p
together = threading.Barrier(4)


def allocate():
    together.wait()
    libc.malloc(ctypes.c_size_t(1000))
    together.wait()


threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


def arenas(how: str) -> int:
    """Return how many arenas four threads at once had."""
    process = subprocess.run(
        [sys.executable, "-c", ARENAS, how], capture_output=True, encoding="utf-8", check=False
    )
    if process.stderr.strip() == "not glibc":
        pytest.skip("the C library is not glibc")
    assert process.returncode == 0, process.stderr
    return process.stdout.count("<heap nr=")


def test_threads_share_one_arena_where_they_would_have_several() -> None:
    assert arenas("several") > 1
    assert arenas("one") == 1


FREED = """
import ctypes, sys
from pathlib import Path

if sys.argv[1] == "give_back":
    from mcp_server.adapters.heap import give_back as gives_back
else:
    from mcp_server.bootstrap import Opened
    from mcp_server.doors.server import load_model

    opened = Opened({"MEMORY_DIR": sys.argv[2], "EMBEDDING_MODEL": "none"}, wait_for_model=False)

    def gives_back():
        load_model(opened)

libc = ctypes.CDLL(None) if sys.platform == "linux" else None
if not hasattr(libc, "malloc_trim"):
    sys.exit("not glibc")
libc.malloc.restype = ctypes.c_void_p
blocks = []
for _ in range(400):  # of 100 KB, each kept from the next by a small one that stays
    blocks.append(ctypes.c_void_p(libc.malloc(100_000)))
    ctypes.memset(blocks[-1], 1, 100_000)
    libc.malloc(1000)
for block in blocks:
    libc.free(block)


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])


before = resident()
gives_back()
print((before - resident()) * 4096)
"""


@pytest.mark.parametrize("by", ["give_back", "load_model"])
def test_what_was_freed_between_used_blocks_is_given_back(by: str, tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", FREED, by, str(tmp_path)], capture_output=True, encoding="utf-8", check=False
    )
    if process.stderr.strip() == "not glibc":
        pytest.skip("the C library is not glibc")

    assert process.returncode == 0, process.stderr
    assert int(process.stdout) > 20_000_000


@pytest.mark.parametrize("read_only", [False, True])
def test_a_connection_keeps_little_of_the_index(store: Store, read_only: bool) -> None:
    store.database.connection()  # makes the index
    database = Database(store.database.path, read_only=read_only)

    (kept,) = database.connection().execute("PRAGMA cache_size").fetchone()
    database.close()

    assert kept == -CACHE
