"""The curation commands in a terminal: tables for people, JSON for programs, one sentence for errors."""

import json
from pathlib import Path

from tests.doors.shell import Run


def remembered(run: Run, words: str) -> str:
    return str(json.loads(run("remember", words, "--type", "decision", "--json").stdout)["id"])


def test_links_are_made_listed_and_taken_back(run: Run) -> None:
    proxy, cache = remembered(run, "Proxy | It buffers."), remembered(run, "Cache | It keeps wheels.")

    run("link", proxy, cache, "--rel", "refines")
    (listed_link,) = json.loads(run("related", cache, "--json").stdout)["links"]
    assert (listed_link["from"], listed_link["rel"], listed_link["to"]) == (proxy, "refines", cache)
    assert proxy in run("related", cache).stdout
    run("unlink", proxy, cache)
    assert json.loads(run("related", cache, "--json").stdout)["links"] == []
    refused = run("link", proxy, "nothing-here")
    assert (refused.returncode, refused.stderr.count("\n")) == (3, 2)


def test_what_was_so_already_is_said_to_be(run: Run) -> None:
    proxy = remembered(run, "Proxy | It buffers.")

    revised = [run("revise", proxy, "--text", "It buffers.", "--tags", "web").stdout for _ in range(2)]
    archived = [run("archive", proxy).stdout for _ in range(2)]

    heads = [answer.partition("\n")[0] for answer in (*revised, *archived)]
    assert heads == [
        f"{proxy}: revised.",
        f"{proxy}: not changed; it says all of that already.",
        "Archived: 1 memory; 'daybook restore ID' brings it back.",
        "Nothing new to archive; 'daybook restore ID' brings it back.",
    ]


def test_a_contradiction_is_found_and_settled(run: Run, typed: Run) -> None:
    one = remembered(run, "Upload timeout of the proxy | It is 30 seconds.")
    other = remembered(run, "Limit of the proxy | Upload timeout is 60 seconds.")

    (pair,) = json.loads(run("contradictions", "--find", "--json").stdout)
    found = run("contradictions", "--find").stdout
    assert "daybook contradictions --mark" in found and "Ask the person" not in found
    assert pair["why"] == "numbers"
    assert run("contradictions", "--resolve", one, other).returncode == 4
    assert run("contradictions", "--mark", one, other).stdout.startswith(
        f"{one} contradicts {other}: linked."
    )
    again = json.loads(run("contradictions", "--mark", one, other, "--json").stdout)
    assert (again["source"], again["changed"]) == (one, False)
    assert other in run("contradictions").stdout
    assert "Pairs that may contradict each other: 1 question; 'daybook review'" in run("status").stdout
    assert "contradicts" in run("recall", "upload timeout").stdout
    settled = typed("contradictions", "--resolve", one, other, "--how", "delete")
    assert "in the trash" in settled.stdout
    assert json.loads(run("contradictions", "--find", "--json").stdout) == []


def test_output_is_logged_from_a_pipe_and_mined(run: Run) -> None:
    output_line = "This project uses the Next.js app router for every page.\n"

    assert "56 bytes logged" in run("mine", "--log", "-", stdin=output_line).stdout
    assert "1 output and 0 conversations read, 1 new" in run("mine").stdout
    assert json.loads(run("mine", "--status", "--json").stdout)["waiting"] == 1
    assert "output log" in run("mine", "--status").stdout
    assert len(json.loads(run("candidates", "--json").stdout)) == 1
    assert run("mine", "--log", "missing.txt").returncode == 4


def test_documents_become_memories(run: Run, project: Path) -> None:
    (project / "README.md").write_text("# Shop\n\nSells bicycles and their parts.\n")

    assert "1 would be taken" in run("bootstrap", "--dry-run").stdout
    assert "1 taken" in run("bootstrap").stdout
    (source,) = json.loads(run("bootstrap", "--json").stdout)["sources"]
    assert [item["outcome"] for item in source["items"]] == ["unchanged"]
    assert "1 taken" in run("seed", "-", "--name", "wiki", stdin="Deploys need approval.\n").stdout
    assert "1 unchanged" in run("seed", "README.md").stdout
    refused = run("seed", "missing.md")
    assert (refused.returncode, refused.stdout) == (4, "")


def test_what_carries_a_tag_is_listed_without_an_empty_line(run: Run) -> None:
    remembered = json.loads(run("remember", "Heron port | It is 8000.", "--tags", "ports", "--json").stdout)

    listed = run("related", "--tags", "ports").stdout

    assert listed.startswith("With such a tag: 1 memory\n") and remembered["id"] in listed
    (tagged,) = json.loads(run("related", "--tags", "ports", "--json").stdout)["tagged"]
    assert tagged["id"] == remembered["id"]
