"""The command line, as a process of its own where the process matters, else in this one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mcp_server.doors.cli import GROUPS

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(memory_dir: Path, project: Path) -> Run:
    """Run `daybook` with the words given; EMBEDDING_MODEL=none unless told otherwise."""

    def run_(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "MEMORY_DIR": str(memory_dir),
            "EMBEDDING_MODEL": "none",
            "PYTHONPATH": str(ROOT),
            **environment,
        }
        return subprocess.run(
            [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words],
            cwd=project,
            env={**os.environ, **settings},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
        )

    return run_


def said(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_remember_and_recall_from_the_shell(run: Run) -> None:
    stored = json.loads(
        said(run("remember", "Webhook | Skip body parsing.", "--type", "gotcha", "--tags", "a,b", "--json"))
    )
    found = json.loads(said(run("recall", "body", "parsing", "--json", "--explain")))

    assert Path(stored["path"]).is_file()
    assert found["verdict"] == "high"
    (hit,) = found["hits"]
    assert {"id", "title", "type", "level", "path", "score", "reasons", "text"} <= hit.keys()
    assert (hit["id"], hit["type"], hit["level"]) == (stored["id"], "gotcha", "project")
    assert hit["explain"]["total"] == pytest.approx(hit["score"], abs=1e-6)


def test_meaning_is_searched_from_the_shell(run: Run) -> None:
    said(run("remember", "Webhook | The payment provider's signature needs the raw body."))

    found = json.loads(
        said(run("recall", "verifying callbacks of stripe", "--json", EMBEDDING_MODEL="minilm-l6"))
    )

    assert "meaning" in " ".join(found["hits"][0]["reasons"])


def test_an_edit_by_hand_is_seen_by_the_next_command(run: Run) -> None:
    stored = json.loads(said(run("remember", "Deploys | We deploy from main.", "--json")))
    path = Path(stored["path"])
    path.write_text(path.read_text(encoding="utf-8").replace("main", "release"), encoding="utf-8")

    assert "We deploy from release." in said(run("recall", "deploy"))


def test_a_session_is_saved_and_restored_from_the_shell(run: Run) -> None:
    said(run("save-session", "Retries", "--context", "Half done.", "--task", "backoff", "--var", "PORT=80"))

    assert "- [ ] backoff" in said(run("restore-session"))
    assert json.loads(said(run("restore-session", "--json")))["title"] == "Retries"


def test_a_conversation_is_saved_and_loaded_from_the_shell(run: Run) -> None:
    messages = [{"role": "user", "content": "why?"}]
    saved = said(run("save-conversation", "Talk", stdin=json.dumps(messages)))

    memory_id = saved.split()[2].rstrip(",")
    assert json.loads(said(run("load-conversation", memory_id, "--json")))["messages"][0]["content"] == "why?"


def test_a_memory_is_revised_forgotten_and_restored_from_the_shell(run: Run) -> None:
    memory_id = json.loads(said(run("remember", "Deploys | From main.", "--json")))["id"]

    assert memory_id in said(run("revise", memory_id, "--text", "-", "--pin", stdin="From release.\n"))
    assert "pinned: true" in said(run("read", memory_id))
    assert "Forgot" in said(run("forget", memory_id))
    assert "No memories yet" in said(run("list"))
    assert "Restored" in said(run("restore", memory_id))
    assert json.loads(said(run("list", "--json")))["total"] == 1


def test_where_tells_the_project_and_why(run: Run, project: Path) -> None:
    assert f"the folder {project}, which is in no git repository" in said(run("where"))
    assert json.loads(said(run("where", "--json")))["project"]["name"] == "shop"


def test_status_and_stats_and_brief_of_an_empty_store(run: Run) -> None:
    assert "0 memories for shop" in said(run("status"))
    assert json.loads(said(run("stats", "--json")))["memories"] == 0
    assert "Nothing yet" in said(run("brief"))
    assert "No memories yet" in said(run("list"))
    assert "No memory matches" in said(run("recall", "anything"))


def test_the_doctor_tries_every_part(run: Run) -> None:
    checks: list[dict[str, Any]] = json.loads(said(run("doctor", "--json", EMBEDDING_MODEL="minilm-l6")))

    assert all(check["well"] for check in checks)
    assert {"store", "index", "embedding model", "round trip", "hooks"} <= {check["name"] for check in checks}
    assert "No memories yet" in said(run("list"))


def test_a_broken_file_is_named_with_its_line(run: Run, memory_dir: Path) -> None:
    said(run("remember", "A | fact", "--level", "user"))
    (memory_dir / "knowledge" / "bad.md").write_text("---\ntitle: a\ntitle: b\n---\n", encoding="utf-8")

    done = run("sync")

    assert "bad.md:3:" in done.stderr
    assert "1 files cannot be read" in said(run("status"))


def test_the_index_is_made_anew_on_demand(run: Run) -> None:
    said(run("remember", "A | fact about carts"))

    assert "1 added" in said(run("sync", "--rebuild"))
    assert "fact about carts" in said(run("recall", "carts"))


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("remember",), 4, "There is nothing to remember."),
        (("remember", "a | b", "--type", "idea"), 4, "'idea' is not a type"),
        (("read", "nope"), 3, "No memory has the id 'nope'."),
        (("recall", "x", "--limit", "99"), 4, "A limit of 99 cannot be used."),
        (("recall", "x", "--since", "soon"), 4, "'soon' is not a date."),
        (("recall",), 2, "Missing argument"),
        (("nonsense",), 2, "No such command"),
        (("save-conversation", "t"), 4, "not JSON"),
        (("share",), 4, "no memories in its repository"),
    ],
)
def test_a_mistake_gets_one_sentence_and_its_exit_code(
    run: Run, words: tuple[str, ...], code: int, sentence: str
) -> None:
    done = run(*words)

    assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"EMBEDDING_MODEL": "gpt"}, "EMBEDDING_MODEL is 'gpt'"),
        ({"MEMORY_DIR": "relative"}, "not an absolute path"),
        ({"HOT_CACHE_MAX_ITEMS": "many"}, "HOT_CACHE_MAX_ITEMS is 'many'"),
        ({"MEMORY_DIR": "/etc/passwd"}, "not a folder"),
    ],
)
def test_a_setting_that_does_not_parse_is_named(run: Run, environment: dict[str, str], sentence: str) -> None:
    done = run("list", **environment)

    assert done.returncode == 2
    assert sentence in done.stderr


def test_init_share_and_trust_from_the_shell(run: Run, project: Path) -> None:
    said(run("remember", "A | fact about carts"))

    assert "1 memories moved" in said(run("init", "--repository"))
    assert "Git sees" in said(run("share"))
    (project / ".claude-memory" / "knowledge" / "other.md").write_text(
        "From a colleague.\n", encoding="utf-8"
    )
    assert "1 wait." in said(run("trust", "--list"))
    assert "1 accepted." in said(run("trust"))
    assert "Nothing waits" in said(run("trust"))


def test_every_command_is_in_the_list_of_its_module() -> None:
    for module, names in GROUPS.items():
        found = import_module(f"mcp_server.doors.cli.{module}").COMMANDS

        assert tuple(command.name for command in found) == names
