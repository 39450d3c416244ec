"""`daybook view` as it is typed by a person, and as a program starts it."""

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.opened import DAYBOOK, ROOT, run_daybook
from tests.patience import PATIENCE
from tests.terminal import type_in_terminal

CTRL_C = "\x03"


class FakeBrowser:
    """A browser that only writes down the address that it was given."""

    def __init__(self, folder: Path) -> None:
        self._pipe = folder / "address"
        os.mkfifo(self._pipe)
        self.program = folder / "browser"
        self.program.write_text(f'#!/bin/sh\necho "$1" >"{self._pipe}"\n', encoding="utf-8")
        self.program.chmod(0o700)

    def address(self) -> str:
        """Return the address; wait for it."""
        return self._pipe.read_text(encoding="utf-8").strip()


@pytest.fixture
def browser(tmp_path: Path) -> FakeBrowser:
    return FakeBrowser(tmp_path)


@pytest.fixture
def settings(memory_dir: Path, browser: FakeBrowser) -> Mapping[str, str]:
    own = {"MEMORY_DIR": str(memory_dir), "EMBEDDING_MODEL": "none", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **own, "BROWSER": f"{browser.program} %s"}


def entered(link: str) -> tuple[http.client.HTTPConnection, str, dict[str, str]]:
    """Use *link*; return a connection, the first page's path and the headers of a page of the viewer."""
    connection = http.client.HTTPConnection(urlsplit(link).netloc)
    connection.request("GET", urlsplit(link).path)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == HTTPStatus.SEE_OTHER
    cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]
    headers = {"Cookie": cookie, "Origin": f"http://{urlsplit(link).netloc}"}
    return connection, str(answer.getheader("Location")), headers


def status(link: str) -> dict[str, int]:
    """Return what the viewer answers to a look and to a change."""
    connection, path, headers = entered(link)
    answers = {}
    for method in ("GET", "POST"):
        connection.request(method, f"{path}nowhere" if method == "POST" else path, b"", headers)
        answer = connection.getresponse()
        answer.read()
        answers[method] = answer.status
    connection.close()
    return answers


@pytest.mark.parametrize(
    ("words", "posted"),
    [((), HTTPStatus.NOT_FOUND), (("--read-only",), HTTPStatus.FORBIDDEN)],  # let through, to no such page
    ids=["to change", "read-only"],
)
def test_a_person_sees_it_in_their_browser_and_ends_it_with_ctrl_c(
    tmp_path: Path,
    settings: Mapping[str, str],
    browser: FakeBrowser,
    words: tuple[str, ...],
    posted: HTTPStatus,
) -> None:
    statuses: dict[str, int] = {}

    def look() -> str:
        statuses.update(status(browser.address()))
        return CTRL_C

    ended = type_in_terminal(
        [*DAYBOOK, "view", *words], cwd=tmp_path, env=settings, answers=[("until Ctrl-C", look)]
    )

    assert statuses == {"GET": HTTPStatus.OK, "POST": posted}
    assert ended.returncode == 0
    assert "/open/" not in ended.stdout


def test_a_person_may_have_the_link_printed(tmp_path: Path, settings: Mapping[str, str]) -> None:
    ended = type_in_terminal(
        [*DAYBOOK, "view", "--no-open"], cwd=tmp_path, env=settings, answers=[("until Ctrl-C", CTRL_C)]
    )

    assert ended.returncode == 0
    assert "Open http://127.0.0.1:" in ended.stdout


def test_a_program_opens_it_for_looking_and_never_reads_the_link(
    tmp_path: Path, settings: Mapping[str, str], browser: FakeBrowser
) -> None:
    started = subprocess.Popen(
        [*DAYBOOK, "view"],
        cwd=tmp_path,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    statuses = status(browser.address())
    started.send_signal(signal.SIGINT)
    output, _ = started.communicate(timeout=PATIENCE)

    assert statuses == {"GET": HTTPStatus.OK, "POST": HTTPStatus.FORBIDDEN}
    assert started.returncode == 0
    assert "/open/" not in output
    assert "read-only" in output


def test_a_program_is_not_told_the_link(memory_dir: Path) -> None:
    refused = run_daybook(memory_dir, "view", "--no-open")

    assert refused.returncode == 4
    assert "/open/" not in refused.stdout + refused.stderr


@pytest.mark.parametrize("typed", [True, False])
def test_without_a_browser_one_sentence_says_what_to_do(memory_dir: Path, typed: bool) -> None:
    bare = {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": "", "PATH": "/nowhere"}
    refused = run_daybook(memory_dir, "view", typed=typed, **bare)

    assert refused.returncode == 4
    assert "--no-open" in refused.stdout + refused.stderr


@pytest.mark.parametrize("name", ["w3m", "lynx"])
def test_a_browser_inside_the_terminal_is_none(memory_dir: Path, tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    program.chmod(0o700)
    refused = run_daybook(memory_dir, "view", typed=True, BROWSER=str(program))

    assert refused.returncode == 4
    assert not (tmp_path / "ran").exists()


def test_a_repository_chooses_no_browser(memory_dir: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / ".claude").mkdir(parents=True)
    program = repository / "browser"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    program.chmod(0o700)
    named = {"BROWSER": str(program)}
    (repository / ".claude/settings.json").write_text(json.dumps({"env": named}), encoding="utf-8")
    refused = run_daybook(
        memory_dir, "view", cwd=repository, DISPLAY="", WAYLAND_DISPLAY="", PATH="/nowhere", **named
    )

    assert refused.returncode == 4
    assert not (tmp_path / "ran").exists()
