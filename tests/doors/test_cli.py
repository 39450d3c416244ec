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
from tests.recorded import Recorded

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


def transcript(folder: Path, project: Path) -> Path:
    """Record a session of *project* where Claude Code keeps them."""
    recorded = Recorded(folder / "projects" / "-shop", cwd=project)
    recorded.user("We decided to keep invoices in Postgres because of the reports.")
    recorded.claude("Noted.")
    return recorded.path


def test_past_sessions_are_counted_taken_in_and_found(run: Run, project: Path, tmp_path: Path) -> None:
    transcript(tmp_path / "claude", project)
    claude = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}

    assert run("backfill", "--dry-run", **claude).stdout.startswith("1 transcripts to take in")
    assert run("backfill", **claude).stdout == "1 transcripts taken in, 2 turns.\n"
    assert run("backfill", **claude).stdout.startswith("0 transcripts to take in")
    assert "keep invoices in Postgres" in run("recall", "invoices", "--kind", "conversation").stdout


def test_capture_can_be_switched_off(run: Run, memory_dir: Path) -> None:
    assert "capture is manual" in run("setup", "--capture", "manual").stdout
    assert (memory_dir / "config.toml").read_text(encoding="utf-8") == 'capture = "manual"\n'

    done = run("backfill")

    assert done.returncode == 4
    assert "Nothing is captured" in done.stderr


def test_setup_without_a_terminal_says_which_options_to_give(run: Run, memory_dir: Path) -> None:
    done = run("setup")

    assert done.returncode == 4
    assert "--model or --no-model" in done.stderr
    assert not (memory_dir / "config.toml").exists()


def test_setup_says_what_holds_and_what_is_missing(run: Run) -> None:
    said = run("setup", "--model", "--daily-usd", "0.05").stdout

    assert "at most $0.05 and 60 calls a day" in said
    assert "There is no API key yet" in said
    assert "you allowed model calls" not in run("status").stdout
    assert "FAIL  language model: it is allowed, but there is no API key" in run("doctor").stdout
    assert "never called" in run("setup", "--no-model").stdout


def test_candidates_are_listed_and_decided_on(run: Run, project: Path, tmp_path: Path) -> None:
    transcript(tmp_path / "claude", project)
    run("backfill", CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))

    (waiting,) = json.loads(run("candidates", "--json").stdout)
    assert waiting["text"].startswith("We decided to keep invoices")
    assert "We decided to keep invoices" in run("candidates").stdout
    assert run("candidates", "--approve", waiting["id"]).stdout == "Stored: 1 add.\n"
    assert run("candidates").stdout == "Nothing waits for you.\n"
    assert run("candidates", "--reject", "nope").returncode == 3


def test_a_question_is_answered_by_passages_without_a_model(run: Run) -> None:
    run("remember", "Invoices in Postgres | Invoices are kept in Postgres for the reports.")

    known = run("ask", "where are invoices kept in Postgres").stdout
    assert "The best passages are:" in known
    assert "Invoices are kept in Postgres" in known
    assert run("ask", "colour of the moon of Endor").stdout.startswith("Not known")
    assert json.loads(run("ask", "--json", "where are invoices kept in Postgres").stdout)["hits"]


def test_remembering_another_value_says_what_it_replaces(run: Run) -> None:
    old = json.loads(run("remember", "--json", "Upload timeout | The upload timeout is 30 seconds.").stdout)[
        "id"
    ]

    said = run("remember", "Upload timeout | The upload timeout is 60 seconds.").stdout

    assert f"It takes the place of {old}, which is kept as superseded." in said
    assert "60 seconds" in run("recall", "upload timeout").stdout
    assert "30 seconds" not in run("recall", "upload timeout").stdout


def test_tidying_is_shown_done_and_undone(run: Run, memory_dir: Path) -> None:
    assert run("tidy").stdout == "Nothing needs tidying.\n"
    written = [memory_dir / "knowledge" / f"{name}.md" for name in ("one", "two")]
    written[0].parent.mkdir(exist_ok=True)
    for path in written:
        head = f"---\nid: {path.stem}\ntitle: Exports\nsource: extracted\n---\n"
        path.write_text(f"{head}Exports are written as parquet files.\n", encoding="utf-8")

    def superseded() -> int:
        return sum("status: superseded" in path.read_text(encoding="utf-8") for path in written)

    assert "would do" in run("tidy", "--dry-run").stdout
    assert superseded() == 0
    assert "done" in run("tidy").stdout
    assert superseded() == 1
    assert "as before" in run("tidy", "--undo").stdout
    assert superseded() == 0


def test_work_says_what_it_did(run: Run, memory_dir: Path) -> None:
    assert run("work").stdout == "0 turns kept; memories: nothing\n"


def test_what_a_person_approves_in_a_terminal_is_accepted_as_it_is(
    run: Run, project: Path, tmp_path: Path
) -> None:
    recorded = Recorded(tmp_path / "claude" / "projects" / "-shop", cwd=project)
    recorded.user("We decided to always run make check before every commit of the shop.")
    run("backfill", CLAUDE_CONFIG_DIR=str(tmp_path / "claude"))
    (waiting,) = json.loads(run("candidates", "--json").stdout)
    assert "reads like an instruction" in waiting["why"]

    run("candidates", "--approve", waiting["id"])

    assert run("trust", "--list").stdout == "Nothing waits for you.\n"
    assert "always run make check" in run("brief").stdout


def test_notes_are_imported_and_exported_from_the_shell(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Retry rule.md").write_text("Retry thrice. #api\n", encoding="utf-8")

    would = said(run("import", "notes", str(notes), "--dry-run"))
    done = json.loads(said(run("import", "notes", str(notes), "--json")))
    again = said(run("import", "notes", str(notes)))
    exported = said(run("export", str(tmp_path / "out")))
    document = json.loads(said(run("export", "--format", "json", "-")))
    refused = run("export", str(tmp_path / "out"))
    missing = run("import", "memory-mcp")

    assert "1 taken" in would
    (source,) = done["sources"]
    assert [item["outcome"] for item in source["items"]] == ["taken"]
    assert "1 unchanged" in again
    assert "1 memories are in" in exported
    assert (tmp_path / "out" / "knowledge").is_dir()
    assert [memory["title"] for memory in document["memories"]] == ["Retry rule"]
    assert refused.returncode == 4
    assert "nothing is overwritten" in refused.stderr
    assert missing.returncode == 4
    assert "There is no" in missing.stderr
