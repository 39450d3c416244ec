"""
Damage a copy of a filled store's index and ask it twice, each time with a process of its own:

    damaged_index.py SEED COUNT [--meaning] [--harm NAME] [--folder FOLDER]

COUNT kinds of damage, from SEED on: bits flipped, pages of zeros, of noise, of another place, the file cut or
replaced, in memory.db, its log or its shared memory. Each must end with the same answers, at once or when
asked again, and with no traceback. Prints JSON: how many were right at once, the second time, and never.
"""

import argparse
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_server.actions.memory.forget import forget
from mcp_server.actions.memory.remember import remember
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.model.embed import embed_pending
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from tests.opened import opened_at
from tests.patience import PATIENCE

PAGE = 4096
ASKED = Path(__file__).with_name("asked.py")
ROOT = Path(__file__).resolve().parents[3]
WORDS = (
    "stripe webhook raw body postgres mysql window cart state server tag commit subject retry queue backoff"
    " deploy cluster kernel parser token vector passage lock fsync rename"
).split()
Harm = Callable[[Path, random.Random], None]


def flip(path: Path, rng: random.Random) -> None:
    """Change one to sixteen bytes."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 2, 16))):
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    path.write_bytes(data)


def flip_schema(path: Path, rng: random.Random) -> None:
    """Change bytes where the tables are named."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 2, 4))):
        data[rng.randrange(min(len(data), 8 * PAGE))] = rng.randrange(256)
    path.write_bytes(data)


def _on_a_page(fill: Callable[[bytearray, random.Random], bytes]) -> Harm:
    def harm(path: Path, rng: random.Random) -> None:
        data = bytearray(path.read_bytes())
        at = rng.randrange(max(1, len(data) // PAGE)) * PAGE
        data[at : at + PAGE] = fill(data, rng)[: len(data) - at]
        path.write_bytes(data)

    return harm


def other_page(data: bytearray, rng: random.Random) -> bytes:
    at = rng.randrange(max(1, len(data) // PAGE)) * PAGE
    return bytes(data[at : at + PAGE])


def cut(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def replaced(path: Path, rng: random.Random) -> None:
    path.write_bytes(rng.choice((b"", b"no database\n" * 900, bytes(3 * PAGE), rng.randbytes(3 * PAGE))))


def schema_that_is_no_text(path: Path, rng: random.Random) -> None:
    """Change two bytes so that SQLite's own message about them is not UTF-8."""
    del rng
    data = bytearray(path.read_bytes())
    at = data.index(b"CREATE TABLE passages")
    data[data.rindex(b"passages", 0, data.rindex(b"passages", 0, at))] = 0xFA
    data[at] = 1
    path.write_bytes(data)


def search_page_of_zeros(path: Path, rng: random.Random) -> None:
    """Fill with zeros the postings of one leaf of a search table, where SQLite itself checks nothing."""
    index = sqlite3.connect(path)
    table = rng.choice(("passages_fts_data", "memories_fts_data"))
    row, block = rng.choice(index.execute(f"SELECT id, block FROM {table} WHERE id > 10").fetchall())
    middle = len(block) // 2
    changed = block[:middle] + bytes(min(64, len(block) - middle)) + block[middle + 64 :]
    index.execute(f"UPDATE {table} SET block = ? WHERE id = ?", (changed, row))
    index.commit()
    index.close()


HARMS: dict[str, Harm] = {
    "flip": flip,
    "flip schema": flip_schema,
    "zeros": _on_a_page(lambda data, rng: bytes(PAGE)),
    "noise": _on_a_page(lambda data, rng: rng.randbytes(PAGE)),
    "other page": _on_a_page(other_page),
    "cut": cut,
    "replaced": replaced,
    "no text": schema_that_is_no_text,
    "search page": search_page_of_zeros,
}


def fill(place: Path, *, meaning: bool) -> None:
    """Fill the store below *place* with sixty memories, some revised, superseded or forgotten."""
    rng = random.Random(20)
    (place / "shop").mkdir(parents=True)
    model = {"EMBEDDING_MODEL": ""} if meaning else {}
    morning = datetime(2026, 11, 20, 9, tzinfo=UTC)
    opened = opened_at(place / "memory", place / "shop", clock=lambda: morning, **model)
    store = opened.store()
    for number in range(60):
        title = f"{' '.join(rng.choices(WORDS, k=4))} {number}"
        text = "\n\n".join(" ".join(rng.choices(WORDS, k=60)) for _ in range(2))
        level = rng.choice((Level.USER, Level.PROJECT))
        memory_id = remember(
            store, Draft(title, text, type="gotcha", tags=(rng.choice("ab"),), level=level)
        ).memory.id
        if number % 7 == 0:
            revise(store, memory_id, Revision(text=f"{text} at last"))
        elif number % 7 == 2:
            forget(store, memory_id)
    if meaning:
        embed_pending(store)
    opened.database.close()


def ask(place: Path, *, meaning: bool) -> tuple[dict[str, Any], str]:
    """Return what a process of its own answers, and what went wrong with it."""
    model = {} if meaning else {"EMBEDDING_MODEL": "none"}
    process = subprocess.run(
        [sys.executable, str(ASKED), str(place / "memory"), str(place / "shop")],
        env={**os.environ, "PYTHONPATH": str(ROOT), **model},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    wrong = process.stderr.strip()[-800:] if process.returncode or "Traceback" in process.stderr else ""
    return (json.loads(process.stdout) if not process.returncode else {}), wrong


def damage(place: Path, seed: int, harm: str = "") -> str:
    """Damage the index of the store at *place*, in the way of that name or in any; return how."""
    rng = random.Random(seed)
    name = harm or rng.choice(list(HARMS))
    sides = [path for path in sorted((place / "memory").glob("memory.db*")) if path.stat().st_size > 0]
    own = name in ("no text", "search page", "flip schema")
    path = place / "memory" / "memory.db" if own or rng.random() < 0.7 else rng.choice(sides)
    HARMS[name](path, rng)
    return f"{name} in {path.name}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--folder", help="where the store is made, by default where temporary files go")
    parser.add_argument("--meaning", action="store_true", help="search by meaning as well")
    parser.add_argument("--harm", choices=HARMS, default="", help="only damage of this kind")
    options = parser.parse_args()
    report: dict[str, Any] = {"at once": 0, "next": 0, "failed": []}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        place = Path(folder) / "now"
        fill(place, meaning=options.meaning)
        right = [ask(place, meaning=options.meaning)[0]["said"] for _ in range(2)][-1]
        shutil.copytree(place / "memory", Path(folder) / "sound")
        for number in range(options.seed, options.seed + options.count):
            _one(place, Path(folder) / "sound", number, options, right, report)
    print(json.dumps(report, indent=1))


def _one(
    place: Path, sound: Path, number: int, options: argparse.Namespace, right: object, report: dict[str, Any]
) -> None:
    """Ask a damaged copy up to twice, and count when it was right."""
    shutil.rmtree(place / "memory")
    shutil.copytree(sound, place / "memory")
    if number % 3 == 0:  # with a log and shared memory that a killed process left
        _leave_a_log(place)
    how = damage(place, number, options.harm)
    first, wrong = ask(place, meaning=options.meaning)
    if not wrong and first["said"] == right:
        report["at once"] += 1
        return
    second, again = ask(place, meaning=options.meaning)
    if not wrong and not again and second["said"] == right:
        report["next"] += 1
        return
    noticed = first.get("damaged")
    report["failed"].append({"seed": number, "how": how, "wrong": wrong or again, "noticed": noticed})


def _leave_a_log(place: Path) -> None:
    program = (
        "import os, sqlite3, sys; index = sqlite3.connect(sys.argv[1]);"
        "index.execute(\"INSERT OR REPLACE INTO facts VALUES ('left', '1')\"); index.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program, str(place / "memory" / "memory.db")], check=True)


if __name__ == "__main__":
    main()
