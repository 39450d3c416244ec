"""bin/daybook where Python, uv or the network are not as they should be: one sentence says what to do."""

import json
import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.machine import (
    POSES,
    PYTHON,
    UV,
    Machine,
    finish,
    half_made,
    own_index,
    start_until_ready,
    told_at_start,
    told_with_prompt,
    wait_until,
    wheel,
)

OLD = [*Path.home().glob(".pyenv/versions/*/bin/python"), *Path("/usr/bin").glob("python[23].[0-9]*")]

# What `uv python find` answers: nothing, or a Python that was brought when the person asked for it.
UV_WITH_PYTHON = UV.replace(
    '[ "$1" = venv ]',
    'if [ "$*" = "python find --system >=3.11" ]; then cat "$HOME/brought"; exit; fi\n[ "$1" = venv ]',
    1,
)


def is_old(python: Path) -> bool:
    process = subprocess.run(
        [python, "-c", "import sys; print(sys.version_info < (3, 11))"], capture_output=True, encoding="utf-8"
    )
    return process.stdout.strip() == "True"


def old_pythons() -> list[Path]:
    """Return the Pythons before 3.11 on this machine, and '' for one that poses as such."""
    return [Path(), *(python for python in OLD if os.access(python, os.X_OK) and is_old(python))]


def put_old(machine: Machine, real: Path) -> str:
    """Make *real*, or a Python that poses as 3.9, the machine's python3, and return its version."""
    if real.name:
        machine.put("python3", real)
        process = subprocess.run(
            [real, "-c", "import sys; print(sys.version.split()[0])"], capture_output=True
        )
        return process.stdout.decode().strip()
    machine.put("python3", POSES.format(python=PYTHON, version=(3, 9, 18), text="3.9.18"))
    return "3.9.18"


# No Python, or an old one


@pytest.mark.parametrize("real", old_pythons(), ids=lambda real: real.parent.parent.name or "poses")
def test_an_old_python_is_asked_and_named_once_and_a_new_one_is_taken_by_the_next_session(
    bare: Machine, real: Path
) -> None:
    version = put_old(bare, real)

    assert f"found python3, which is {version}, so" in told_at_start(bare)
    for event in ("UserPromptSubmit", "SubagentStart", "Stop", "PreCompact", "SessionEnd"):
        assert bare.run("hook", event) == (0, "", "")
    assert list(bare.home.iterdir()) == []

    bare.put("python3.12", Path(PYTHON))
    bare.put("uv", UV)
    start_until_ready(bare)


def ask(server: "subprocess.Popen[str]", **message: Any) -> dict[str, Any]:
    """Send *message*, and return the answer."""
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps({**message, "jsonrpc": "2.0"}, separators=(",", ":")) + "\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


def test_without_a_python_the_server_is_there_has_no_tools_and_says_why(bare: Machine) -> None:
    server = bare.start("serve", stdin=subprocess.PIPE)
    assert server.stdin

    greeted = ask(server, method="initialize", params={"protocolVersion": "2025-11-25"}, id=0)
    server.stdin.write('{"method":"notifications/initialized","jsonrpc":"2.0"}\n')
    listed = ask(server, id="a-1", method="tools/list")
    called = ask(server, id=2, method="tools/call", params={"name": "recall", "arguments": {}})
    pinged = ask(server, id=3, method="ping")

    assert (greeted["id"], greeted["result"]["protocolVersion"]) == (0, "2025-11-25")
    assert "Daybook needs Python 3.11 or newer and found nothing" in greeted["result"]["instructions"]
    assert (listed["id"], listed["result"]) == ("a-1", {"tools": []})
    assert "Daybook needs Python 3.11" in called["error"]["message"]
    assert (pinged["id"], pinged["result"]) == (3, {})
    assert finish(server) == (0, "", "")  # with the client


def test_uv_is_named_as_what_can_bring_a_python_and_downloads_none_by_itself(bare: Machine) -> None:
    bare.put("uv", UV_WITH_PYTHON)
    bare.put("python3", POSES.format(python=PYTHON, version=(3, 10, 1), text="3.10.1"))

    assert "uv is here: 'uv python install 3.13' in a terminal" in told_at_start(bare)
    assert set((bare.home / "uv.calls").read_text(encoding="utf-8").split()) == {"python"}

    (bare.home / "brought").write_text(f"{PYTHON}\n", encoding="utf-8")
    start_until_ready(bare)


# No venv, no compiler, no network, a proxy


def test_a_python_that_cannot_make_environments_is_told_when_a_session_starts_and_uv_helps(
    bare: Machine,
) -> None:
    answers = 'case "$*" in *ensurepip*) exit 1 ;; *realpath*) echo "$0" ;; *)'
    bare.put("python3", f'#!/bin/sh\n{answers} exec "{PYTHON}" "$@" ;; esac\n')

    assert "Install its venv package (python3-venv on Debian and Ubuntu), or uv." in told_at_start(bare)
    assert told_with_prompt(bare) == ""

    bare.put("uv", UV)
    start_until_ready(bare)


def test_a_package_that_would_need_a_compiler_is_told_as_such(bare: Machine) -> None:
    bare.put("python3", Path(PYTHON))
    source = bare.home.parent / "thing"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[project]\nname = "thing"\nversion = "1.0"\n[build-system]\nrequires = []\n'
        'build-backend = "backend"\nbackend-path = ["."]\n'
    )
    (source / "backend.py").write_text(
        "import subprocess\ndef build_wheel(*_): subprocess.run(['gcc', 'thing.c'])\n"
    )
    bare.requirements.write_text(f"thing @ {source.as_uri()}\n", encoding="utf-8")

    code, out, err = bare.run("where", **own_index(bare.home))

    assert (code, out) == (1, "")
    last = err.splitlines()[-1]
    assert (
        "could not be compiled. Install another Python, 3.11 to 3.13, and name it in DAYBOOK_PYTHON." in last
    )


def test_without_a_network_the_session_that_comes_next_says_so_once_and_the_one_after_it_works(
    bare: Machine, tmp_path: Path
) -> None:
    bare.put("python3", Path(PYTHON))
    bare.requirements.write_text("thing==1.0\n", encoding="utf-8")
    with socket.socket() as refusing:  # bound and not listening
        refusing.bind(("127.0.0.1", 0))
        index = f"http://127.0.0.1:{refusing.getsockname()[1]}/simple"
        env = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": index, "PIP_RETRIES": "1"}
        assert told_at_start(bare, **env) == ""  # nothing is known yet
        wait_until((bare.venv / ".daybook-failed").exists)
        wait_until(lambda: (bare.venv / ".daybook-failed").read_text(encoding="utf-8"))
        in_the_same_session = [told_with_prompt(bare), told_with_prompt(bare)]
        in_the_next = told_at_start(bare, **env)
        code, _, err = bare.run("setup-environment", **env)  # waits for that of the session

    assert in_the_same_session == [in_the_next, ""]
    assert in_the_next.startswith("the package index cannot be reached")
    assert code == 1
    assert "the package index cannot be reached" in err.splitlines()[-1]
    assert told_with_prompt(bare) == ""
    wait_until(lambda: half_made(bare.venv) == [])
    start_until_ready(bare, **own_index(wheel(tmp_path / "wheels")))


class Proxy:
    """A proxy on loopback that refuses, and keeps what it was asked; a context manager."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked: list[str] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                self.asked.append(client.recv(4096).decode().splitlines()[0])
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


def test_packages_are_asked_for_by_way_of_the_persons_proxy(bare: Machine) -> None:
    bare.put("python3", Path(PYTHON))
    bare.requirements.write_text("thing==1.0\n", encoding="utf-8")
    with Proxy() as proxy:
        env = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": "https://packages.test/simple",
            "PIP_RETRIES": "1",
        }
        code, _, err = bare.run("where", HTTPS_PROXY=proxy.url, **env)

    assert set(proxy.asked) == {"CONNECT packages.test:443 HTTP/1.1"} or set(proxy.asked) == {
        "CONNECT packages.test:443 HTTP/1.0"
    }
    assert code == 1
    assert "the proxy does not let its packages through. Correct HTTPS_PROXY" in err.splitlines()[-1]
    code, _, err = bare.run("where", ALL_PROXY="socks5://127.0.0.1:9", **env)
    assert code == 1
    assert (
        "names a SOCKS proxy, by which no packages can be downloaded. Set HTTPS_PROXY" in err.splitlines()[-1]
    )
