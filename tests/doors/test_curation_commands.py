"""The curation commands in a terminal: tables for people, JSON for programs, one sentence for errors."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live import ROOT
from tests.patience import PATIENCE

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def daybook(memory_dir: Path, project: Path) -> Run:
    def run(*words: str, said: str = "") -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ, "MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-P", "-m", "mcp_server.doors.cli", *words],
            cwd=project, env=environment, input=said, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    return run


def remembered(daybook: Run, words: str) -> str:
    return str(json.loads(daybook("remember", words, "--type", "decision", "--json").stdout)["id"])


def test_links_are_made_listed_and_taken_back(daybook: Run) -> None:
    one, other = remembered(daybook, "Proxy | It buffers."), remembered(daybook, "Cache | It keeps wheels.")

    daybook("link", one, other, "--rel", "refines")
    (found,) = json.loads(daybook("related", other, "--json").stdout)["links"]
    assert (found["from"], found["rel"], found["to"]) == (one, "refines", other)
    assert one in daybook("related", other).stdout
    daybook("unlink", one, other)
    assert json.loads(daybook("related", other, "--json").stdout)["links"] == []
    refused = daybook("link", one, "nothing-here")
    assert (refused.returncode, refused.stderr.count("\n")) == (3, 2)


def test_a_contradiction_is_found_and_settled(daybook: Run, typed: Run) -> None:
    one = remembered(daybook, "Upload timeout of the proxy | It is 30 seconds.")
    other = remembered(daybook, "Limit of the proxy | Upload timeout is 60 seconds.")

    (pair,) = json.loads(daybook("contradictions", "--find", "--json").stdout)
    assert pair["why"] == "numbers"
    assert daybook("contradictions", "--resolve", one, other).returncode == 4
    assert daybook("contradictions", "--mark", one, other).stdout.startswith(
        f"{one} contradicts {other}: linked."
    )
    assert other in daybook("contradictions").stdout
    assert "Pairs that may contradict each other: 1 question; 'daybook review'" in daybook("status").stdout
    assert "contradicts" in daybook("recall", "upload timeout").stdout
    settled = typed("contradictions", "--resolve", one, other, "--how", "delete")
    assert "in the trash" in settled.stdout
    assert json.loads(daybook("contradictions", "--find", "--json").stdout) == []


def test_output_is_logged_from_a_pipe_and_mined(daybook: Run) -> None:
    said = "This project uses the Next.js app router for every page.\n"

    assert "56 bytes logged" in daybook("mine", "--log", "-", said=said).stdout
    assert "1 output and 0 conversations read, 1 new" in daybook("mine").stdout
    assert json.loads(daybook("mine", "--status", "--json").stdout)["waiting"] == 1
    assert "output log" in daybook("mine", "--status").stdout
    assert json.loads(daybook("candidates", "--type", "gotcha", "--json").stdout) == []
    assert daybook("mine", "--log", "missing.txt").returncode == 4


def test_documents_become_memories(daybook: Run, project: Path) -> None:
    (project / "README.md").write_text("# Shop\n\nSells bicycles and their parts.\n")

    assert "1 would be taken" in daybook("bootstrap", "--dry-run").stdout
    assert "1 taken" in daybook("bootstrap").stdout
    (source,) = json.loads(daybook("bootstrap", "--json").stdout)["sources"]
    assert [item["outcome"] for item in source["items"]] == ["unchanged"]
    assert "1 taken" in daybook("seed", "-", "--name", "wiki", said="Deploys need approval.\n").stdout
    assert "1 unchanged" in daybook("seed", "README.md").stdout
    refused = daybook("seed", "missing.md")
    assert (refused.returncode, refused.stdout) == (4, "")
