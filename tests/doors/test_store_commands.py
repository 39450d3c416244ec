"""The store from the shell: where it is, how it is, its settings, and mistakes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from mcp_server.actions.exchange.imports.formats import sources
from mcp_server.adapters.auto_memory_folder import WHAT as AUTO_MEMORY
from mcp_server.doors.cli import output
from mcp_server.doors.shown.recall import NOTHING_HERE
from mcp_server.store import Store
from tests.doors.shell import Run, output_of
from tests.live import ROOT
from tests.opened import run_daybook
from tests.patience import PATIENCE


def test_where_tells_the_project_and_why(run: Run, project: Path) -> None:
    assert f"the folder {project}, which is in no git repository" in output_of(run("where"))
    assert json.loads(output_of(run("where", "--json")))["project"]["name"] == "shop"


def test_status_and_stats_and_brief_of_an_empty_store(run: Run) -> None:
    assert "0 memories for shop" in output_of(run("status"))
    assert json.loads(output_of(run("stats", "--json")))["memories"] == 0
    assert "Nothing yet" in output_of(run("brief"))
    assert "No memories yet" in output_of(run("list"))
    assert output_of(run("recall", "anything")) == f"{NOTHING_HERE}\n"


def test_the_doctor_tries_every_part(run: Run) -> None:
    checks: list[dict[str, Any]] = json.loads(output_of(run("doctor", "--json", EMBEDDING_MODEL="minilm-l6")))

    assert all(check["well"] for check in checks)
    names = {"store", "index", "embedding model", "round trip", "hooks", "server"}
    assert names <= {check["name"] for check in checks}
    assert "No memories yet" in output_of(run("list"))


def test_the_doctor_says_why_no_server_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "none")  # no Python starts with that

    done = run("doctor")

    assert re.search(r"FAIL  server: a new one ended without an answer: .*Python", done.stdout)


def test_what_the_doctor_tries_is_in_no_history_and_does_not_stand_before_an_undo(run: Run) -> None:
    output_of(run("remember", "Deploys happen on Tuesday | The on-call is there."))
    before = output_of(run("history"))

    output_of(run("doctor", "--json"))

    assert output_of(run("history")) == before
    output_of(run("undo"))
    assert "No memories yet" in output_of(run("list"))


def test_a_broken_file_is_named_with_its_line(run: Run, memory_dir: Path) -> None:
    output_of(run("remember", "A | fact", "--level", "user"))
    (memory_dir / "knowledge" / "bad.md").write_text("---\ntitle: a\ntitle: b\n---\n", encoding="utf-8")

    process = run("sync")

    assert "bad.md:3:" in process.stdout
    assert "Not taken in: 1 file;" in output_of(run("status"))


def test_a_brief_without_the_memories_that_cannot_be_read_says_so(run: Run, memory_dir: Path) -> None:
    kept = json.loads(output_of(run("remember", "A | fact", "--level", "user", "--json")))
    assert "fact" in output_of(run("brief"))
    (memory_dir / "knowledge" / f"{kept['id']}.md").write_text(
        "---\ntitle: a\ntitle: b\n---\n", encoding="utf-8"
    )

    shown = output_of(run("brief"))

    assert "Nothing yet" not in shown
    assert "Not taken in: 1 file;" in shown


def test_the_index_is_made_anew_on_demand(run: Run) -> None:
    output_of(run("remember", "A | fact about carts"))

    assert "1 memory indexed again" in output_of(run("maintain", "rebuild"))
    assert "fact about carts" in output_of(run("recall", "carts"))


def test_the_help_of_import_says_of_each_kind_what_it_is(run: Run, store: Store) -> None:
    listed = output_of(run("import", "--help")).partition("WHAT is one of:")[2]

    named = {line.split()[0] for line in listed.splitlines() if len(line.split()) > 2}
    assert named == {AUTO_MEMORY, *sources(store)}


@pytest.fixture
def many(memory_dir: Path, tmp_path: Path) -> Path:
    """As many notes in a store without an index as are read in about a second, and a folder with another."""
    knowledge, others = memory_dir / "knowledge", tmp_path / "others"
    for folder in (knowledge, others):
        folder.mkdir(parents=True)
    for number in range(output.MANY):
        (knowledge / f"n{number}.md").write_text(f"note {number}\n", encoding="utf-8")
    (others / "cart.md").write_text("# The cart\nIt has wheels.\n", encoding="utf-8")
    return others


@pytest.mark.parametrize(
    "words",
    [["status"], ["recall", "note"], ["import", "notes", "OTHERS"], ["view", "--export", "OTHERS/page.html"]],
)
def test_who_waits_for_a_first_index_at_a_terminal_is_told_how_far_it_is(
    typed: Run, many: Path, words: list[str]
) -> None:
    screen = output_of(typed(*(word.replace("OTHERS", str(many)) for word in words)))

    assert re.search(r"Reading files +\[#.* 100%", screen)
    assert "%" not in screen.partition("Reading files")[0], "a bar in another one"


def test_a_program_is_told_nothing_of_how_far_a_first_index_is(run: Run, typed: Run, many: Path) -> None:
    assert json.loads(output_of(typed("status", "--json")))["stats"]["memories"] == output.MANY
    (many.parent / "memory" / "memory.db").unlink()
    assert run("status").stderr == ""


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("remember",), 4, "There is nothing to remember."),
        (("remember", "a | b", "--type", "idea"), 4, "'idea' is not a type"),
        (("read", "nope"), 3, "No memory has the id 'nope'."),
        (("recall", "x", "--limit", "99"), 4, "A limit of 99 cannot be used."),
        (("recall", "x", "--since", "soon"), 4, "'soon' is not a date."),
        (("recall", "x", "--since", "0001-01-01T00:00+23:00"), 4, "'0001-01-01T00:00+23:00' is not a date."),
        (("recall",), 2, "Missing argument"),
        (("nonsense",), 2, "There is no command 'nonsense'. 'daybook --help' lists them."),
        (("search", "x"), 2, "There is no command 'search'. Did you mean recall?"),
        (("review", "again"), 2, "There is no command 'again'. 'daybook review --help' lists them."),
        (("model", "lst"), 2, "There is no command 'lst'. Did you mean list?"),
        (("remote", "ad", "x"), 2, "There is no command 'ad'. Did you mean add?"),
        (("team", "token", "isue"), 2, "There is no command 'isue'. Did you mean issue?"),
        (("recal", "x"), 2, "There is no command 'recal'. Did you mean recall or read?"),
        (("save-conversation", "t"), 4, "not JSON"),
        (("forget-session", "s1", "--undo", "--dry-run"), 4, "Use only one of the two."),
        (("seed", "a.md", "--name", "notes"), 4, "--name is for standard input"),
        (("import", "notes", ".", "--mine"), 4, "--mine is for what 'daybook export' wrote."),
        (("contradictions", "--how", "weaken"), 4, "Add --resolve ID OTHER."),
        (("trust", "a", "--list"), 4, "Give ids or one of these."),
        (("patterns", "--limit", "51"), 4, "A limit of 51 cannot be used."),
        (("list", "--limit", "0"), 2, "Invalid value for '--limit': 0"),
        (("list", "--offset", "-1"), 2, "Invalid value for '--offset': -1"),
        (("export", "-"), 4, "Add --format json."),
        (("save-conversation", "t", "none.json"), 4, "There is no file none.json."),
        (("graph", "--mermaid", "/dev/null/g.mmd"), 4, "/dev/null/g.mmd cannot be written: Not a directory"),
        (("restore-session",), 3, "in a terminal 'daybook save-session'"),
        (("remember", "Key | AKIAIOSFODNN7EXAMPLQ"), 4, "in a terminal --keep-secrets"),
    ],
)
def test_a_mistake_gets_one_sentence_and_its_exit_code(
    run: Run, words: tuple[str, ...], code: int, sentence: str
) -> None:
    process = run(*words)

    assert (process.returncode, sentence in process.stderr) == (code, True), process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ('daybook_capture = "manual"', "Did you mean 'capture'?"),
        ('Capture = "manual"', "Did you mean 'capture'?"),
        ('[daybook]\ncapture = "manual"', "Take it out; there are embedding_model, "),
        ('hooks = "off"', "Take it out; there are embedding_model, "),
    ],
)
def test_a_wish_in_config_toml_that_nobody_would_hear_is_refused(
    run: Run, memory_dir: Path, line: str, hint: str
) -> None:
    memory_dir.mkdir()
    (memory_dir / "config.toml").write_text(line, encoding="utf-8")

    process = run("status")

    assert process.returncode == 2
    assert "which is not a setting." in process.stderr
    assert hint in process.stderr


def test_what_waits_to_be_accepted_is_listed_for_a_program(run: Run) -> None:
    output_of(run("seed", "-", stdin="# Lamps\n\nThey are lit at dusk, and put out at dawn.\n"))

    waiting = json.loads(output_of(run("trust", "--list", "--documents", "--json")))

    assert "lamps" in json.dumps(waiting)


def test_init_share_and_trust_from_a_terminal(run: Run, typed: Run, project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    output_of(run("remember", "A | fact about carts"))

    moved = output_of(typed("init", "--repository"))
    assert "1 memory moved" in moved
    assert "Git ignores it." in moved
    assert "Git sees" in output_of(typed("share"))
    again = output_of(typed("init", "--repository"))
    assert "Git sees what" in again
    assert "Git ignores" not in again
    (project / ".claude-memory" / "knowledge" / "other.md").write_text(
        "From a colleague.\n", encoding="utf-8"
    )
    assert "1 waits." in output_of(run("trust", "--list"))
    assert "1 accepted." in output_of(typed("trust"))
    assert "Nothing waits" in output_of(typed("trust"))


def test_in_a_folder_without_git_nothing_is_said_to_be_seen_or_ignored_by_it(
    run: Run, typed: Run, project: Path
) -> None:
    output_of(run("remember", "A | fact about carts"))

    without_git = "This folder is in no git repository; once it is, git"
    assert f"{without_git} ignores it." in output_of(typed("init", "--repository"))
    shared = output_of(typed("share"))
    assert (
        f"{without_git} sees {project / '.claude-memory' / 'knowledge'}." in shared and "commit" not in shared
    )


def test_tidying_is_shown_done_and_undone(run: Run, memory_dir: Path) -> None:
    assert run("tidy").stdout == "Nothing needs tidying.\n"
    paths = [memory_dir / "knowledge" / f"{name}.md" for name in ("one", "two")]
    paths[0].parent.mkdir(exist_ok=True)
    for path in paths:
        head = f"---\nid: {path.stem}\ntitle: Exports\nsource: extracted\n---\n"
        path.write_text(f"{head}Exports are written as parquet files.\n", encoding="utf-8")

    def superseded() -> int:
        return sum("status: superseded" in path.read_text(encoding="utf-8") for path in paths)

    assert "would do" in run("tidy", "--dry-run").stdout
    assert superseded() == 0
    answer = run("tidy").stdout
    assert superseded() == 1
    (name,) = re.findall(r"'daybook undo (\S+)' brings it back", answer)
    assert name in run("history").stdout
    assert name in {deed["run"] for deed in json.loads(run("history", "--json").stdout)}
    assert "as before" in run("undo", name).stdout
    assert superseded() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_an_answer_that_cannot_be_printed_is_no_failure_of_the_store(
    run: Run, memory_dir: Path, project: Path
) -> None:
    with open("/dev/full", "wb") as full:
        process = printing_to(full, memory_dir, project)

    assert process.returncode == 9
    assert process.stderr.splitlines() == [
        "daybook: The answer cannot be printed: No space left on device.",
        "         What was asked for is done.",
    ]
    assert "Deploys" in output_of(run("list"))


def test_a_closed_output_is_no_failure(run: Run, memory_dir: Path, project: Path) -> None:
    process = printing_to(None, memory_dir, project)

    assert (process.returncode, process.stderr) == (0, "")
    assert "Deploys" in output_of(run("list"))


def printing_to(
    output: BinaryIO | None, memory_dir: Path, project: Path
) -> "subprocess.CompletedProcess[str]":
    """Run `daybook remember` with that standard output; with None it is closed."""
    words = [sys.executable, "-P", "-m", "mcp_server.doors.cli", "remember", "Deploys | On Tuesday."]
    closing = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    return subprocess.run(
        words if output else [sys.executable, "-c", closing, *words],
        cwd=project,
        env={
            **os.environ, "MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT),
        },
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses such a name")
def test_in_a_folder_whose_name_is_not_utf8_memories_have_the_user_level(
    memory_dir: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()

    output_of(run_daybook(memory_dir, "remember", "Lamps | Lit at dusk.", cwd=folder))

    assert "Lamps" in output_of(run_daybook(memory_dir, "list", cwd=folder))
    assert list(memory_dir.glob("knowledge/lamps-*.md"))
    assert "not UTF-8" in output_of(run_daybook(memory_dir, "where", cwd=folder))
