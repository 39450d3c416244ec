"""One part in a process of its own: `python -m benchmarks.attack.one NAME COUNT SEED FOLDER [planted]`."""

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.attack.outcome import Part, Round

# In the order of the table.
PARTS = (
    "kills", "server_kills", "races", "counters", "waits", "damage", "fuzz", "soak", "disk", "clock",
    "repository", "poison", "secrets", "growth", "canaries",
)  # fmt: skip


def part(name: str) -> Part:
    found: Part = importlib.import_module(f"benchmarks.attack.{name}").PART
    return found


def main() -> None:
    """Run the part; print its rows as JSON, and progress on stderr."""
    name, count, seed, folder, *planted = sys.argv[1:]
    given = Round(
        Path(folder),
        int(count),
        int(seed),
        lambda line: print(f"{name}: {line}", file=sys.stderr),
        bool(planted),
    )
    rows = part(name).run(given)
    print(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    main()
