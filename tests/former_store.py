"""
Makes a store with a bit of everything, by commands and tools only: `python tests/former_store.py FOLDER`.

It was run with the version before a change of the house; FOLDER becomes `tests/data/former`: the store's
files without the index, the documents that were taken in, and `answers.json`, what each reading command
of that version said of it. `tests/test_former_store.py` asks the present version the same.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CODE = Path(__file__).resolve().parent.parent
REMOTE = "https://example.org/acme/shop.git"
SETS = "core sessions curation graph admin"

NOTES = """\
# Ports

## The shop

The shop listens on 8080, since the proxy wants it so.

## The mailer

The mailer listens on 2525 in tests.
"""
TOPIC = "---\nname: release\ndescription: how we release\ntype: project\n---\nReleases go out on Tuesdays.\n"

READING: tuple[tuple[str, ...], ...] = (
    ("list", "--include-archived", "--limit", "200", "--json"),
    *(("recall", question, "--mode", "keyword", "--json") for question in (
        "postgres reports", "retry rule", "upload timeout", "which port has the shop", "releases on tuesdays",
        "webhook raw body", "état des paiements", "queue",
    )),
    ("stats", "--json"),
    ("contradictions", "--json"),
    ("candidates", "--json"),
    ("review", "--json"),
    ("graph", "--json"),
    ("sessions", "--json"),
    ("audit", "--limit", "200", "--json"),
)  # fmt: skip
OF_EACH = ("read", "history", "related", "trust-history")
"""What is asked of each memory. The hot set is not asked: what was promoted gets cold in two weeks."""
ASKING = """
import contextlib, io, json, sys
from mcp_server.doors.cli import main
answers = []
for words in json.load(sys.stdin):
    sys.argv[1:] = words
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        main()
    answers.append(printed.getvalue())
print(json.dumps(answers))
"""
FADING = re.compile(
    r"score|age|heat|currency|trust\b|believed|recency|helpful|seconds|spent|size|bytes|path|file$|folder|root|elapsed|took|days|since|ledger|index|database|label"
)
"""The keys whose values change with time or place."""


class Place:
    """A home, a store and a project in *folder*, used through the doors alone."""

    def __init__(self, folder: Path) -> None:
        """A project with a remote has the same key in every folder."""
        self.home, self.memory, self.project = folder / "home", folder / "memory", folder / "shop"
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        for words in (["init", "-q"], ["remote", "add", "origin", REMOTE]):
            subprocess.run(["git", *words], cwd=self.project, check=True, env=self.environment())

    def environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
        return inherited | {
            "HOME": str(self.home), "USERPROFILE": str(self.home), "MEMORY_DIR": str(self.memory),
            "EMBEDDING_MODEL": "none", "DAYBOOK_TOOLSETS": SETS, "PYTHONPATH": str(CODE),
            "PYTHONUTF8": "1", "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip

    def run(self, *words: str, stdin: str = "") -> str:
        """Return what `daybook` prints for *words*; it must not fail."""
        process = subprocess.run(
            [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words],
            cwd=self.project, env=self.environment(), input=stdin, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        assert process.returncode == 0, (words, process.stderr)
        return process.stdout

    def call(self, *calls: tuple[str, Mapping[str, object]]) -> list[str]:
        """Return what the server's tools answer, one after the other."""
        greeting = {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "claude-code", "version": "2.1.329"},
        }  # fmt: skip
        lines: list[dict[str, object]] = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "mcp_server"],
            cwd=self.project, env=self.environment() | {"CLAUDE_CODE_SESSION_ID": "former-session-1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
        )  # fmt: skip
        assert server.stdin
        assert server.stdout
        texts: list[str] = []
        for number, (name, arguments) in enumerate(calls, start=1):
            params = {"name": name, "arguments": arguments}
            lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            for line in lines:
                server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
            lines.clear()
            while (answer := json.loads(server.stdout.readline())).get("id") != number:
                pass
            assert not answer["result"].get("isError"), answer
            texts.append("".join(block.get("text", "") for block in answer["result"]["content"]))
        server.stdin.close()
        server.wait()
        return texts

    def answers(self, ids: Sequence[str]) -> dict[str, object]:
        """Return what the reading commands say, without what changes with time; one process asks them all."""
        commands = [*READING, *((verb, memory_id, "--json") for memory_id in ids for verb in OF_EACH)]
        process = subprocess.run(
            [sys.executable, "-P", "-c", ASKING], cwd=self.project, env=self.environment(),
            input=json.dumps(commands), capture_output=True, encoding="utf-8",
        )  # fmt: skip
        assert process.returncode == 0, process.stderr
        answers = [lasting(answer, self.memory.parent) for answer in json.loads(process.stdout)]
        return {" ".join(words): answer for words, answer in zip(commands, answers, strict=True)}


def lasting(printed: str, folder: Path) -> object:
    """Return *printed* without what depends on the moment and on where the store lies."""
    try:
        value = json.loads(printed)
    except ValueError:
        return re.sub(r"\d+ (second|minute|hour|day)s? ago", "", printed.replace(str(folder), ""))
    return _lasting(value)


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(nested) for key, nested in value.items() if not FADING.search(key)}
    if isinstance(value, list):
        return [_lasting(nested) for nested in value]
    return None if isinstance(value, float) else value


def fill(place: Place) -> None:
    """Do a bit of everything."""

    def remember(words: str, *more: str) -> str:
        return str(json.loads(place.run("remember", words, *more, "--json"))["id"])

    postgres = remember(
        "Postgres, not MySQL | The reports need window functions.",
        "--type",
        "decision",
        "--tags",
        "db,reports",
    )
    retry = remember("Retry rule | Wait thirty seconds, then retry thrice.", "--type", "pattern")
    newer = remember(
        "Retry rule, newer | Wait a minute, then retry twice.", "--supersedes", retry, "--type", "pattern"
    )
    webhook = remember(
        "Webhook needs the raw body | Skip body parsing for /hooks/stripe.",
        "--type",
        "gotcha",
        "--touches",
        "src/hooks.py:12",
    )
    first = remember("Upload timeout of the proxy | The proxy ends uploads after 30 seconds.")
    second = remember("Upload timeout of the gateway | The gateway ends uploads after 60 seconds.")
    mine = remember(
        "Short commit messages | Below 60 characters, please.", "--type", "preference", "--level", "user"
    )
    french = remember(
        "État des paiements | Les paiements en attente sont relancés chaque nuit.",
        "--category",
        "billing",
        "--meta",
        "owner=ada",
    )
    gone = remember("Old proxy | The old proxy is called heron.")
    put_away = remember("Passing thought | Perhaps the queue needs a second worker.", "--type", "note")
    linked = remember(f"Queue | Jobs wait in the queue, see [[{newer}]] and [[Webhook needs the raw body]].")

    place.run("revise", postgres, "--text", "The reports need window functions and arrays.")
    place.run("revise", webhook, "--tags", "stripe,http")
    place.run("pin", webhook)
    place.run("link", newer, "src/retry.py", "--rel", "implemented-in")
    place.run("link", linked, postgres, "--rel", "depends-on")
    place.run("contradictions", "--mark", first, second)
    place.run("forget", gone)
    place.run("archive", put_away)
    place.run("validate", postgres)
    place.run("invalidate", french, "--reason", "outdated")
    place.run("promote", linked)
    place.run("mark-used", webhook)
    place.run(
        "save-session",
        "Webhook retries",
        "--context",
        "The retry queue is half done.",
        "--files",
        "src/retry.py",
        "--task",
        "write the test",
        "--var",
        "BRANCH=retries",
    )
    talk = [
        {"role": "user", "content": "Why did we leave Heroku?"},
        {"role": "assistant", "content": "Because of the price of its Postgres."},
    ]
    place.run("save-conversation", "Why we left Heroku", "-", stdin=json.dumps(talk))
    notes = place.project / "notes"
    notes.mkdir()
    (notes / "ports.md").write_text(NOTES, encoding="utf-8")
    place.run("seed", "notes/ports.md", "--type", "reference")
    (notes / "ports.md").write_text(NOTES.replace("8080", "9090"), encoding="utf-8")
    place.run("seed", "notes/ports.md", "--type", "reference")
    elsewhere = place.project.parent / "home" / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lint.md").write_text("# Lint\n\nRun make lint before a commit.\n", encoding="utf-8")
    place.run("import", "notes", str(elsewhere))
    slug = re.sub(r"[^a-zA-Z0-9]", "-", str(place.project.resolve()))
    topics = place.home / ".claude" / "projects" / slug / "memory"
    topics.mkdir(parents=True)
    (topics / "release.md").write_text(TOPIC, encoding="utf-8")
    (topics / "MEMORY.md").write_text("- [release](release.md)\n", encoding="utf-8")
    place.run("import", "auto-memory")
    place.run("mine", "--log", "-", stdin="error: port 5433 is taken\n" * 4)
    place.run("mine")
    place.call(
        (
            "kg_put_node",
            {"level": "project", "id": "checkout", "gist": "checkout is a service", "notes": ["small"]},
        ),
        ("kg_put_node", {"level": "project", "id": "billing", "gist": "billing is a service"}),
        ("kg_put_edge", {"level": "project", "from": "checkout", "to": "billing", "rel": "calls"}),
        ("kg_put_edge", {"level": "project", "from": "checkout", "to": "billing", "rel": "hängt ab von"}),
        (
            "remember",
            {
                "title": "Claude noted this",
                "content": "The staging host is called heron-2.",
                "type": "reference",
            },
        ),
        ("recall", {"query": "postgres reports"}),
    )
    place.run("tidy")
    place.run("restore", gone)
    place.run("forget", mine)


def main(folder: Path) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        place = Place(Path(scratch))
        fill(place)
        listed = json.loads(place.run("list", "--include-archived", "--limit", "200", "--json"))
        ids = sorted(memory["id"] for memory in listed["memories"])
        shutil.copytree(
            place.memory,
            folder / "memory",
            ignore=shutil.ignore_patterns("*.db*", "*.lock", "*.log", "model*"),
        )
        shutil.copytree(place.home, folder / "home")
        shutil.copytree(place.project, folder / "shop", ignore=shutil.ignore_patterns(".git"))
        answers = {"ids": ids, "answers": place.answers(ids)}
        (folder / "answers.json").write_text(
            json.dumps(answers, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
