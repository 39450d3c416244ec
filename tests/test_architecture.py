"""The architecture, as far as a machine can see it."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.store import Store
from tests.live import ROOT
from tests.patience import PATIENCE

PACKAGE = ROOT / "mcp_server"
LONGEST = 320  # lines, that nobody asks about
AT_MOST = 600  # lines of a module whose docstring says why
SAYING_NOTHING = set("utils util helpers helper manager service handler processor base common".split())
SLOW = set("anthropic click httpx2 mcp networkx numpy onnxruntime psycopg psycopg_pool pydantic".split())
SLOW |= {"sqlite_utils", "tokenizers", "watchdog", "yaml"}

MAY_USE = {  # floor or module: the third-party libraries that it may know
    "adapters.kinds": {"numpy"},
    "adapters.claude_model": {"anthropic"},
    "adapters.frontmatter_lines": {"frontmatter", "yaml"},
    "adapters.index": {"numpy", "sqlite_utils"},
    "adapters.layout": {"networkx"},
    "adapters.model_hub": {"huggingface_hub", "tqdm"},
    "adapters.onnx_embedder": {"numpy", "onnxruntime", "tokenizers"},
    "adapters.http_request": {"httpx2"},
    "adapters.team": {"numpy", "psycopg", "psycopg_pool"},
    "adapters.watcher": {"watchdog"},
    "doors.cli": {"click", "tabulate"},
    "doors.server": {"anyio", "mcp", "mcp_types", "pydantic"},
    "doors.http_headers": {"starlette"},
    "doors.team_server": {"anyio", "mcp", "mcp_types", "starlette", "uvicorn"},
    "doors.viewer": {"jinja2", "markdown_it", "markupsafe", "nh3", "starlette", "uvicorn"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imported(path: Path) -> Iterator[str]:
    """Yield the top names of everything that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module).partition(".")[0]


# The clock

COMPUTE_WITH_THE_CLOCK = {  # actions that may, because what they look for neither ages nor goes for it
    "actions.files.clock_check": "the one that the others ask",
    **dict.fromkeys(
        ["actions.context.compaction", "actions.context.late_brief"],
        "what was saved for minutes; nothing that was remembered goes with it",
    ),
    **dict.fromkeys(["actions.upkeep.consolidate", "actions.upkeep.maintain"], "what is too new"),
    **dict.fromkeys(
        [
            "actions.context.brief",
            "actions.context.hot",
            "actions.context.knowledge",
            "actions.recall.candidates",
            "actions.context.current",
        ],
        "order and labels",
    ),
    **dict.fromkeys(["actions.status.doctor", "actions.context.notice"], "what a worker should have done"),
    **dict.fromkeys(
        ["actions.graph.graph", "actions.graph.sync", "actions.upkeep.backfill", "actions.upkeep.work"],
        "which sessions go on",
    ),
    **dict.fromkeys(
        [
            "actions.capture.mine",
            "actions.memory.promote",
            "actions.sessions.quality",
            "actions.status.insight",
        ],
        "what is looked at",
    ),
    "actions.files.first_sight": "what the ledger notes once a day",
}


def test_what_puts_away_or_deletes_by_age_asks_whether_the_clock_is_believed() -> None:
    computes = re.compile(r"(?:\bnow|now\(\)|clock\(\))\s*-\s")
    modules = {
        module_name(path)
        for path in MODULES
        if module_name(path).startswith("actions") and computes.search(path.read_text(encoding="utf-8"))
    }

    assert modules == set(COMPUTE_WITH_THE_CLOCK), "ask actions.clock_check.old_before, or say here why not"


# Layers


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def verdicts(output: str) -> dict[str, str]:
    return dict(re.findall(r"^(.+) (KEPT|BROKEN)$", output, re.MULTILINE))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package's code and its contracts, to sin in."""
    shutil.copytree(PACKAGE, tmp_path / "mcp_server", ignore=shutil.ignore_patterns("models", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.feature("B-34")
def test_every_import_contract_is_kept(copied: Path) -> None:
    process = lint_imports(copied)

    assert process.returncode == 0, process.stdout
    assert set(verdicts(process.stdout).values()) == {"KEPT"}


def test_each_import_contract_notices_a_sin(copied: Path) -> None:
    contracts = verdicts(lint_imports(copied).stdout)
    for module, sin in (
        ("core/search/ranking.py", "import sqlite3"),
        ("core/worth/ratings.py", "from mcp_server.adapters import ledger"),
        ("actions/memory/forget.py", "import click"),
        ("actions/model/embed.py", "from mcp_server.adapters import onnx_embedder"),
        ("actions/memory/revise.py", "from mcp_server.adapters.team import database"),
        ("doors/cli/output.py", "from mcp_server.doors.server import replies"),
        ("doors/shown/review.py", "from mcp_server.doors.cli import person"),
        ("adapters/git.py", "from mcp_server.adapters.index import memories"),
        ("adapters/index/memories/memories.py", "from mcp_server.adapters import git"),
        ("core/text/words.py", "from mcp_server.core.search import query"),
        ("actions/files/load.py", "from mcp_server.actions.recall import recall"),
        ("adapters/index/events/replay.py", "from mcp_server.adapters.index.database import schema"),
    ):
        path = copied / "mcp_server" / module
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{sin}\n", encoding="utf-8")

    process = lint_imports(copied)

    assert process.returncode == 1
    assert len(contracts) >= 9
    assert verdicts(process.stdout) == dict.fromkeys(contracts, "BROKEN"), process.stdout


def test_a_new_folder_must_be_given_its_place_in_the_layers(copied: Path) -> None:
    (copied / "mcp_server/plumbing").mkdir()
    (copied / "mcp_server/plumbing/__init__.py").write_text("", encoding="utf-8")

    process = lint_imports(copied)

    assert process.returncode == 1
    assert "plumbing" in process.stdout


# What imports cannot say


def not_allowed(path: Path) -> set[str]:
    """Return the third-party libraries that a module imports and may not know."""
    name = module_name(path)
    foreign = {top for top in imported(path) if top not in sys.stdlib_module_names and top != "mcp_server"}
    allowed = [libraries for place, libraries in MAY_USE.items() if f"{name}.".startswith(f"{place}.")]
    return foreign.difference(*allowed)


def test_a_third_party_library_is_known_only_where_it_is_allowed() -> None:
    assert {module_name(path): foreign for path in MODULES if (foreign := not_allowed(path))} == {}


FOREIGN_SQL = "adapters.foreign.memory_mcp_database"  # another tool's database, which is only read
SQL = re.compile(r"\s*(SELECT .*\bFROM\b|INSERT |UPDATE \w+ SET |DELETE FROM |CREATE |PRAGMA )", re.DOTALL)


def test_sql_stands_only_in_the_adapters_of_databases() -> None:
    statements = [
        f"{module_name(path)}:{node.lineno}"
        for path in MODULES
        if not f"{module_name(path)}.".startswith(("adapters.index.", "adapters.team.", f"{FOREIGN_SQL}."))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
    ]

    assert statements == []


def test_a_module_is_short_or_says_why_not_and_its_name_says_what_is_in_it() -> None:
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        says_why = "It is long because" in " ".join((ast.get_docstring(ast.parse(source)) or "").split())
        assert len(source.splitlines()) <= (AT_MOST if says_why else LONGEST), path
        assert not SAYING_NOTHING & set(re.split(r"[._]", module_name(path))), path


def test_a_file_of_tests_is_short_too() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")}

    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_how_long_a_day_is_stands_once() -> None:
    modules = [path for path in MODULES if re.search(r"\b86_?400\b", path.read_text(encoding="utf-8"))]

    assert list(map(module_name, modules)) == ["core.memory_parts"]


def test_a_file_is_opened_with_its_encoding() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            keywords = {keyword.arg for keyword in node.keywords}
            if called.endswith((".read_text", ".write_text")):
                assert "encoding" in keywords, f"{path}:{node.lineno}"
            if called == "open":
                binary = len(node.args) > 1 and "b" in ast.unparse(node.args[1])
                assert binary or "encoding" in keywords, f"{path}:{node.lineno}"


# What a process loads


def loaded(*words: str, stdin: bytes = b"", **environment: str) -> tuple[set[str], bytes]:
    """Return which libraries and which of our modules a fresh interpreter imports, and what it prints."""
    process = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", *words],
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        timeout=PATIENCE,
    )
    assert process.returncode == 0
    names = re.findall(r"^import time: .*\| +(mcp_server[\w.]*|\w+)", process.stderr.decode(), re.MULTILINE)
    return {name.removeprefix("mcp_server.") for name in names}, process.stdout


@pytest.mark.parametrize("source", ["startup", "compact"])
def test_a_hook_tells_its_brief_and_loads_nothing_slow(store: Store, project: Path, source: str) -> None:
    remember(store, Draft("Postgres, not MySQL", "The reports need window functions.", type="decision"))
    remember(store, Draft("Short commit messages", "Below 60 characters.", type="preference"))

    names, printed = loaded(
        "-m", "mcp_server.doors.hooks", "SessionStart",
        stdin=json.dumps({"session_id": "s1", "source": source, "cwd": str(project)}).encode(),
        MEMORY_DIR=str(store.home),
        CLAUDE_PROJECT_DIR=str(project),
    )  # fmt: skip

    assert "window functions" in json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    assert "sqlite3" in names
    also_slow = {"logging", "shutil"} | ({"dataclasses"} if source == "startup" else set())
    assert names & (SLOW | also_slow) == set()


def test_a_search_by_words_loads_nothing_slow_when_no_file_changed(store: Store, project: Path) -> None:
    remember(store, Draft("Postgres, not MySQL", "The reports need window functions.", type="decision"))
    words = ("-m", "mcp_server.doors.cli", "recall", "postgres", "--mode", "keyword")
    where = {"MEMORY_DIR": str(store.home), "CLAUDE_PROJECT_DIR": str(project)}
    loaded(*words, **where)  # reads once more what was written a moment ago

    names, printed = loaded(*words, **where)

    assert b"Postgres" in printed
    assert names & (SLOW - {"click"}) == set()
    of_few_people = {
        "adapters.team_membership",
        "core.team.team",
        "core.graph.graph",
        "core.context.managed_block",
    }
    assert names & of_few_people == set()


def test_the_command_line_starts_without_what_only_recall_by_meaning_needs() -> None:
    names, _ = loaded("-c", "import mcp_server.doors.cli")

    assert "click" in names
    assert names & (SLOW - {"click", "yaml"}) == set()


def test_every_folder_says_what_is_in_it() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_a_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [name for name, times in names.items() if times > 1] == []
