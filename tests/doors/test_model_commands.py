"""`daybook model`, with a hub on the loopback."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_server.actions.memory.remember import remember
from mcp_server.core.memory import Draft
from mcp_server.core.memory_parts import Level
from tests.conftest import Open
from tests.doors.shell import daybook
from tests.durability.served import Served, eventually
from tests.live import ROOT
from tests.model_hub import hub
from tests.opened import run_daybook
from tests.patience import PATIENCE
from tests.terminal import type_in_terminal
from tests.tiny_model import make_model

NOWHERE = "http://127.0.0.1:9"  # nobody listens there


def surroundings() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run(home: Path, *words: str, fails: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
    process = daybook(home, *words, folder=home.parent, **{"EMBEDDING_MODEL": "", **environment})
    assert bool(process.returncode) is fails, process.stderr
    return process


def download(home: Path, *, fails: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `daybook model use multilingual` as a person in a terminal."""
    process = type_in_terminal(
        [sys.executable, "-m", "mcp_server.doors.cli", "model", "use", "multilingual"],
        env={**surroundings(), "MEMORY_DIR": str(home), **environment},
        cwd=home.parent,
    )
    assert bool(process.returncode) is fails, process.stdout
    return process


def status(home: Path, **environment: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(run(home, "model", "status", "--json", **environment).stdout)
    return report


def config(home: Path) -> str:
    path = home / "config.toml"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.feature("D-23")
def test_a_named_model_is_downloaded_once_and_answers(home: Path, tiny: Path, scratch_home: Path) -> None:
    with hub("multilingual", tiny) as (address, requests):
        process = download(home, HF_ENDPOINT=address)
        downloaded = len(requests)
        run(home, "model", "use", "minilm-l6", HF_ENDPOINT=address)
        download(home, HF_ENDPOINT=address)

    assert "multilingual answers" in process.stdout
    assert "Downloading multilingual" in process.stdout
    assert downloaded == len(requests) > 0
    assert not [line for line in requests if "pytorch" in line]
    model_status = status(home)
    assert (model_status["chosen"], model_status["embedded"], model_status["passages"]) == (
        "multilingual",
        1,
        1,
    )
    assert config(home) == 'embedding_model = "multilingual"\n'
    assert [path.name for path in (home / "models").iterdir()] == ["multilingual"]
    assert not (scratch_home / ".cache/huggingface").exists()


@pytest.mark.feature("D-26")
@pytest.mark.parametrize("command", ["recall quagga", "sync", "status", "doctor", "model status"])
def test_nothing_but_model_use_asks_the_hub(home: Path, tiny: Path, command: str) -> None:
    with hub("multilingual", tiny) as (address, requests):
        environment = {"EMBEDDING_MODEL": "multilingual", "HF_ENDPOINT": address, "HF_HUB_OFFLINE": "0"}
        # A process of its own: the library that asks a hub reads its address when it is loaded.
        process = run_daybook(home, *command.split(), **environment)

    assert bool(process.returncode) is (command == "doctor"), process.stderr
    assert requests == []
    if command != "sync":
        assert "'multilingual' is not on this machine" in process.stdout + process.stderr


def test_without_a_network_one_sentence_is_said_and_nothing_changes(home: Path) -> None:
    run(home, "model", "use", "minilm-l6")
    before = status(home)

    process = download(home, fails=True, HF_ENDPOINT=NOWHERE)

    (sentence,) = [line for line in process.stdout.splitlines() if line.startswith("daybook: ")]
    assert sentence.startswith(
        f"daybook: The embedding model 'multilingual' could not be downloaded from {NOWHERE}"
    )
    assert "Nothing was changed" in process.stdout
    assert status(home) == before
    assert config(home) == 'embedding_model = "minilm-l6"\n'


def test_who_forbids_the_network_is_obeyed(home: Path, tiny: Path) -> None:
    with hub("multilingual", tiny) as (address, requests):
        process = download(home, fails=True, HF_ENDPOINT=address, HF_HUB_OFFLINE="1")

    assert requests == []
    assert "could not be downloaded" in process.stdout
    assert config(home) == ""


@pytest.mark.parametrize("wrong", [{"lacking": "model_optimized.onnx"}, {"lacking": "tokenizer.json"}])
def test_a_hub_that_lacks_a_file_changes_nothing(home: Path, tiny: Path, wrong: dict[str, str]) -> None:
    with hub("multilingual", tiny, **wrong) as (address, _):
        process = download(home, fails=True, HF_ENDPOINT=address)

    assert f"has no {wrong['lacking']}" in process.stdout
    assert config(home) == ""
    assert not (home / "models" / "multilingual").exists()


PROGRESS = """
import sys
from pathlib import Path
from mcp_server.adapters.model_hub import download
from mcp_server.core.embedding_models import BY_NAME

told = []
folder = download(BY_NAME["multilingual"], Path(sys.argv[1]), endpoint=sys.argv[2], progress=told.append)
print(sum(told), sum(path.stat().st_size for path in folder.iterdir()))
"""


def test_a_download_that_is_no_model_is_deleted_and_can_be_done_again(
    home: Path, tiny: Path, tmp_path: Path
) -> None:
    garbage = shutil.copytree(tiny, tmp_path / "garbage")
    (garbage / "model.onnx").write_bytes(b"<html>Please log in to this network.</html>")
    with hub("multilingual", garbage) as (address, _):
        failed = download(home, fails=True, HF_ENDPOINT=address)
    assert [*(home / "models").iterdir()] == []
    with hub("multilingual", tiny) as (address, _):
        mended = download(home, HF_ENDPOINT=address)

    assert "cannot be loaded" in failed.stdout
    assert "the same command downloads it again" in failed.stdout
    assert "multilingual answers" in mended.stdout

    shutil.copy(garbage / "model.onnx", next((home / "models").rglob("*.onnx")))
    run(home, "model", "use", "minilm-l6")
    again = run(home, "model", "use", "multilingual", fails=True)
    assert "Delete that folder, and the same command downloads the model again." in again.stderr


def test_the_progress_of_a_download_is_told_in_bytes(home: Path, tiny: Path) -> None:
    with hub("multilingual", tiny) as (address, _):
        process = subprocess.run(
            [sys.executable, "-c", PROGRESS, str(home), address],
            env=surroundings(), capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    bytes_told, loaded = map(int, process.stdout.split())
    assert bytes_told == loaded > 1_000_000


KILLED = """
import os, signal, sys
from pathlib import Path
from mcp_server.adapters.model_hub import download
from mcp_server.core.embedding_models import BY_NAME

done = 0

def told(count):
    global done
    done += count
    if done > 1_000_000:
        os.kill(os.getpid(), signal.SIGKILL)

download(BY_NAME["multilingual"], Path(sys.argv[1]), endpoint=sys.argv[2], progress=told)
"""


def test_a_download_that_was_killed_leaves_no_model_and_is_done_again(home: Path, tiny: Path) -> None:
    with hub("multilingual", tiny) as (address, _):
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, str(home), address],
            env=surroundings(), timeout=PATIENCE,
        )  # fmt: skip
        assert killed.returncode == -signal.SIGKILL
        assert not (home / "models" / "multilingual").exists()
        assert status(home)["chosen"] == "minilm-l6"

        download(home, HF_ENDPOINT=address)

    assert status(home)["embedded"] == 1
    assert [path.name for path in (home / "models").iterdir()] == ["multilingual"]


def test_a_folder_is_used_where_it_lies(home: Path, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "mine")

    process = run(home, "model", "use", "./mine", HF_ENDPOINT=NOWHERE)

    assert f"{tmp_path / 'mine'} answers" in process.stdout
    assert config(home) == f'embedding_model = "{tmp_path / "mine"}"\n'
    assert status(home)["embedded"] == 1
    listed = json.loads(run(home, "model", "list", "--json").stdout)
    assert [model["name"] for model in listed if model["chosen"]] == [str(tmp_path / "mine")]
    assert str(tmp_path / "mine") in run(home, "model", "list").stdout


def test_what_is_not_found_without_a_model_is_said_to_be_searched_by_words_only(
    home: Path, tiny: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny, tmp_path / "mine")
    run(home, "model", "use", "./mine")
    shutil.rmtree(tmp_path / "mine")

    process = run(home, "recall", "zebras")

    assert process.stdout.startswith("No memory matches")
    assert process.stderr.startswith(
        f"Searched by words only: There is no embedding model in {tmp_path / 'mine'}"
    )


def test_a_variable_that_wins_is_told(home: Path, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "mine")

    process = run(home, "model", "use", "./mine", EMBEDDING_MODEL="minilm-l6")

    assert "EMBEDDING_MODEL is set to 'minilm-l6' and wins" in process.stderr
    assert status(home, EMBEDDING_MODEL="minilm-l6")["chosen"] == "minilm-l6"
    assert status(home)["chosen"] == str(tmp_path / "mine")


def test_a_name_that_nobody_knows_is_refused(home: Path) -> None:
    assert "minilm-l12" in run(home, "model", "use", "quagga", fails=True).stderr
    assert config(home) == ""


def test_none_searches_by_words_only(home: Path) -> None:
    assert "by words only" in run(home, "model", "use", "none").stdout
    assert "by words only" in run(home, "model", "status").stdout


def test_a_server_that_runs_computes_what_was_chosen_beside_it(
    home: Path, tiny: Path, project: Path, tmp_path: Path, open_here: Open
) -> None:
    make_model(tmp_path / "new", dimensions=12, seed=1)
    run(home, "model", "use", str(tiny))
    with Served(home, project, EMBEDDING_MODEL="") as server:
        server.greet()
        assert "extinct" in server.call("recall", query="quagga")
        with open(home / "config.toml", "w", encoding="utf-8") as handle:
            handle.write(f'embedding_model = "{tmp_path / "new"}"\n')
        remember(
            open_here().store(), Draft("Zebra", "The zebra is not.", level=Level.USER)
        )  # which the server sees, and then looks for work

        eventually(lambda: status(home)["embedded"] == 2, "both memories are embedded")
        assert "extinct" in server.call("recall", query="quagga")
