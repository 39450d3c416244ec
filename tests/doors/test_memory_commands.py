"""Memories, sessions and conversations from the shell."""

import json
from pathlib import Path

import pytest

from tests.doors.shell import Run, output_of


@pytest.mark.feature("A-01")
def test_remember_and_recall_from_the_shell(run: Run) -> None:
    stored = json.loads(
        output_of(
            run("remember", "Webhook | Skip body parsing.", "--type", "gotcha", "--tags", "a,b", "--json")
        )
    )
    answer = json.loads(output_of(run("recall", "body", "parsing", "--json", "--explain")))

    assert Path(stored["path"]).is_file()
    assert answer["verdict"] == "high"
    (hit,) = answer["hits"]
    assert {"id", "title", "type", "level", "path", "score", "reasons", "text"} <= hit.keys()
    assert (hit["id"], hit["type"], hit["level"]) == (stored["id"], "gotcha", "project")
    assert hit["explain"]["total"] == pytest.approx(hit["score"], abs=1e-6)


def test_who_asks_by_meaning_without_a_model_is_told_that_words_were_searched(run: Run) -> None:
    output_of(run("remember", "A | fact about carts"))

    process = run("recall", "carts", "--mode", "semantic")

    assert "fact about carts" in process.stdout
    assert process.stderr == "Searched by words only: EMBEDDING_MODEL is none.\n"
    assert run("recall", "carts").stderr == ""


def test_meaning_is_searched_from_the_shell(run: Run) -> None:
    output_of(run("remember", "Webhook | The payment provider's signature needs the raw body."))

    answer = json.loads(
        output_of(run("recall", "verifying callbacks of stripe", "--json", EMBEDDING_MODEL="minilm-l6"))
    )

    assert "meaning" in " ".join(answer["hits"][0]["reasons"])


def test_of_a_long_memory_the_lines_that_answer_are_shown(run: Run) -> None:
    steps = "\n\n".join(f"Step {number} is to look at the lamps of rack {number}." for number in range(20))
    output_of(run("remember", f"Start of the lab | {steps}\n\nThe kettle is in the cupboard."))

    output = output_of(run("recall", "where is the kettle"))

    assert "   The kettle is in the cupboard." in output.splitlines()
    assert "Step 3 " not in output


def test_an_edit_by_hand_is_seen_by_the_next_command(run: Run) -> None:
    stored = json.loads(output_of(run("remember", "Deploys | We deploy from main.", "--json")))
    path = Path(stored["path"])
    path.write_text(path.read_text(encoding="utf-8").replace("main", "release"), encoding="utf-8")

    assert "We deploy from release." in output_of(run("recall", "deploy"))


def test_a_session_is_saved_and_restored_from_the_shell(run: Run) -> None:
    output_of(
        run("save-session", "Retries", "--context", "Half done.", "--task", "backoff", "--var", "PORT=80")
    )

    assert "- [ ] backoff" in output_of(run("restore-session"))
    assert json.loads(output_of(run("restore-session", "--json")))["title"] == "Retries"


def test_a_conversation_is_saved_and_loaded_from_the_shell(run: Run) -> None:
    messages = [{"role": "user", "content": "why?"}]
    saved = output_of(run("save-conversation", "Talk", stdin=json.dumps(messages)))

    memory_id = saved.partition(":")[0]
    assert (
        json.loads(output_of(run("load-conversation", memory_id, "--json")))["messages"][0]["content"]
        == "why?"
    )


def test_a_memory_is_revised_forgotten_and_restored_from_the_shell(run: Run) -> None:
    memory_id = json.loads(output_of(run("remember", "Deploys | From main.", "--json")))["id"]

    assert memory_id in output_of(run("revise", memory_id, "--text", "-", stdin="From release.\n"))
    output_of(run("pin", memory_id))
    assert "pinned: true" in output_of(run("read", memory_id))
    output_of(run("revise", memory_id, "--touches", "ci/deploy.yml:3, Makefile"))
    assert "touches: [ci/deploy.yml:3, Makefile]" in output_of(run("read", memory_id))
    output_of(run("revise", memory_id, "--touches", ""))
    assert "touches" not in output_of(run("read", memory_id))
    assert ": forgotten;" in output_of(run("forget", memory_id))
    assert "No memories yet" in output_of(run("list"))
    assert ": restored." in output_of(run("restore", memory_id))
    assert json.loads(output_of(run("list", "--json")))["total"] == 1


def test_what_is_revised_in_the_archive_is_told_to_be_there(run: Run) -> None:
    name = json.loads(output_of(run("remember", "Webhook | Skip parsing.", "--json")))["id"]
    assert "archived" not in output_of(run("revise", name, "--text", "Skip body parsing."))
    output_of(run("archive", name))
    assert "status   archived" in output_of(run("revise", name, "--text", "Skip it."))


def test_a_list_tells_an_empty_store_from_a_filter_that_fits_nothing(run: Run) -> None:
    assert output_of(run("list", "--type", "decision")).startswith("No memories yet.")
    identity = json.loads(output_of(run("remember", "Deploys | From main.", "--json")))["id"]

    assert output_of(run("list", "--type", "decision")).startswith("Of 1 memory none is listed so;")
    assert output_of(run("list", "--offset", "5")).startswith("Of 1 memory none is listed so;")
    output_of(run("archive", identity))
    assert "--include-archived" in output_of(run("list"))


@pytest.mark.parametrize(
    ("words", "stdin", "sentence"),
    [
        (("remember", "Caf\udce9 opens | at eight"), "", "'Caf? opens | at eight' is not UTF-8 text."),
        (("recall", "caf\udce9"), "", "'caf?' is not UTF-8 text."),
        (("remember", "-"), "Caf\udce9 opens | at eight", "Standard input is not UTF-8 text (byte 4)."),
        (("seed", "-", "--name", "hours"), "The caf\udce9 opens at eight.", "Standard input is not"),
        (("save-conversation", "t"), '[{"role": "user", "content": "\udce9"}]', "Standard input is not"),
        (("save-conversation", "t", "talk.json"), "", "talk.json is not UTF-8 text (byte 2)."),
    ],
)
def test_what_is_not_utf_8_is_refused_and_no_letter_of_it_dropped(
    run: Run, project: Path, words: tuple[str, ...], stdin: str, sentence: str
) -> None:
    (project / "talk.json").write_bytes(b"[\xe9]")

    process = run(*words, stdin=stdin, PYTHONUTF8="1")  # as bin/daybook sets it

    assert (process.returncode, sentence in process.stderr) == (4, True), process.stderr
    assert "No memories yet" in output_of(run("list"))


def test_a_question_is_answered_by_passages_without_a_model(run: Run) -> None:
    run("remember", "Invoices in Postgres | Invoices are kept in Postgres for the reports.")

    answer = run("ask", "where are invoices kept in Postgres").stdout
    assert "Invoices are kept in Postgres" in answer
    assert run("ask", "colour of the moon of Endor").stdout.startswith("Not known")
    assert json.loads(run("ask", "--json", "where are invoices kept in Postgres").stdout)["hits"]


def test_remembering_another_value_names_the_one_that_it_may_replace(run: Run) -> None:
    old = json.loads(run("remember", "--json", "Upload timeout | The upload timeout is 30 seconds.").stdout)[
        "id"
    ]

    output = run("remember", "Upload timeout | The upload timeout is 60 seconds.").stdout

    assert f"Near it: {old} (" in output
    assert "differs in numbers" in output
    assert "60 seconds" in run("recall", "upload timeout").stdout
    assert "30 seconds" in run("recall", "upload timeout").stdout


def test_notes_are_imported_and_exported_from_the_shell(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Retry rule.md").write_text("Retry thrice. #api\n", encoding="utf-8")

    would = output_of(run("import", "notes", str(notes), "--dry-run"))
    report = json.loads(output_of(run("import", "notes", str(notes), "--json")))
    again = output_of(run("import", "notes", str(notes)))
    exported = output_of(run("export", str(tmp_path / "out")))
    document = json.loads(output_of(run("export", "--format", "json", "-")))
    refused = run("export", str(tmp_path / "out"))
    missing = run("import", "memory-mcp")

    assert "1 would be taken" in would
    (source,) = report["sources"]
    assert [item["outcome"] for item in source["items"]] == ["taken"]
    assert "1 unchanged" in again
    assert "holds 1 memory now." in exported
    assert (tmp_path / "out" / "knowledge").is_dir()
    assert [memory["title"] for memory in document["memories"]] == ["Retry rule"]
    assert refused.returncode == 4
    assert "Daybook overwrites nothing" in refused.stderr
    assert missing.returncode == 4
    assert "There is no" in missing.stderr


def test_an_import_that_is_stopped_says_what_stays_and_is_done_by_the_next(
    run: Run, typed: Run, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(1500):  # more than are taken in before Ctrl-C comes
        (notes / f"{number}.md").write_text(f"# Lamp {number}\n\nIt hangs at door {number}.\n")

    stopped = typed("import", "notes", str(notes), answers=[(r"[2-9]\d%", "\x03")])

    assert stopped.returncode == 130
    assert "Stopped. What was imported until then stays; the same command imports the rest." in stopped.stdout
    before = json.loads(output_of(run("list", "--json")))["total"]
    assert 0 < before < 1500
    output_of(run("import", "notes", str(notes)))
    assert json.loads(output_of(run("list", "--json")))["total"] == 1500


def test_documents_that_are_taken_in_show_how_far_that_is_and_what_stays_when_it_is_stopped(
    run: Run, typed: Run, tmp_path: Path
) -> None:
    document = tmp_path / "doors.md"
    document.write_text("".join(f"# Lamp {n}\n\nIt hangs at door number {n}.\n\n" for n in range(450)))

    stopped = typed("seed", str(document), answers=[(r"[2-9]\d%", "\x03")])

    assert stopped.returncode == 130
    assert "Stopped. What was imported until then stays; the same command imports the rest." in stopped.stdout
    before = json.loads(output_of(run("list", "--json")))["total"]
    assert 0 < before < 450
    assert f"doors.md: {450 - before} taken, " in output_of(run("seed", str(document)))
    assert json.loads(output_of(run("list", "--json")))["total"] == 450
