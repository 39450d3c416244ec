"""The remote at a host: over HTTPS with a password that git's helper knows, and over SSH with a key."""

import os
import random
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mcp_server.actions.files.read import read
from mcp_server.actions.memory.revise import Revision, revise
from mcp_server.actions.remote.exchange import exchange, repository_of
from mcp_server.actions.remote.rewrite import rewrite_history
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.adapters.remote import notes
from mcp_server.bootstrap import Opened
from mcp_server.core.errors import RemoteUnavailable
from mcp_server.environment import REACHING
from mcp_server.store import Store
from tests.actions.remote.histories import says
from tests.actions.remote.hosts import PASSWORD, Host, backend, https_host, lacks, no_sshd, ssh_host
from tests.memories import stored
from tests.opened import opened_at
from tests.patience import PATIENCE

GIVEN_UP = 5.0  # seconds that a host which never answers has

HTTPS = pytest.param(
    https_host,
    id="https",
    marks=[
        pytest.mark.skipif(bool(lacks("openssl")), reason="a certificate needs openssl, which is not here"),
        pytest.mark.skipif(not os.access(backend(), os.X_OK), reason="git-http-backend is not here"),
    ],
)
SSH = pytest.param(
    ssh_host, id="ssh", marks=pytest.mark.skipif(bool(no_sshd()), reason=no_sshd() or "sshd is here")
)


@pytest.fixture(params=[HTTPS, SSH])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    served: Callable[[Path], AbstractContextManager[Host]] = request.param
    folder = tmp_path / "host"
    folder.mkdir()
    with served(folder) as host:
        yield host


Open = Callable[[str, Path], Store]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Open]:
    """Opens the store of a machine with the HOME of its person."""
    opened: list[Opened] = []

    def open_store(name: str, home: Path) -> Store:
        own = {
            **dict.fromkeys(REACHING, ""),
            "HOME": str(home),
        }  # no proxy and no certificate of whoever runs this
        opened.append(opened_at(tmp_path / name, tmp_path, **own))
        return opened[-1].store()

    yield open_store
    for store in opened:
        store.database.close()


def joined(store: Store, host: Host) -> Store:
    report = add(store, look_ahead(store, host.url))
    assert not report.trouble, report.trouble
    return store


def test_machines_exchange_through_a_host(machine: Open, host: Host) -> None:
    desk, laptop = (joined(machine(name, host.home), host) for name in ("desk", "laptop"))
    memory_id = stored(desk, "The port is 8080.\n\nThe host is alpha.")
    chance = random.Random(7)
    for number in range(5):  # more than one packet
        stored(desk, f"Numbers {number}", " ".join(f"w{chance.randrange(10**6)}" for _ in range(8000)))
    for store in (desk, laptop):
        assert not exchange(store).trouble
    revise(desk, memory_id, Revision(text="The port is 9090.\n\nThe host is alpha."))
    revise(laptop, memory_id, Revision(text="The port is 8080.\n\nThe host is beta."))

    reports = [exchange(store) for store in (desk, laptop, desk)]

    assert not any(report.trouble for report in reports)
    assert says(desk) == says(laptop)
    assert read(desk, memory_id).memory.text == "The port is 9090.\n\nThe host is beta."
    assert not rewrite_history(desk, timeout=60, patience=0).trouble
    assert not exchange(laptop).trouble
    assert says(desk) == says(laptop)


def test_who_may_not_enter_is_told_so_and_asked_nothing(machine: Open, host: Host) -> None:
    stranger = machine("desk", host.stranger)

    with pytest.raises(RemoteUnavailable) as refused:
        look_ahead(stranger, host.url)

    by_ssh = host.url.startswith("ssh:")
    reason = "Permission denied" if by_ssh else "terminal prompts disabled"
    assert "could not be reached" in str(refused.value) and reason in str(refused.value)
    assert ("your ssh key" if by_ssh else "credential helper") in refused.value.hint
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("host", [HTTPS], indirect=True)
def test_an_address_with_a_password_is_shown_without_it(machine: Open, host: Host) -> None:
    url = host.url.replace("https://", f"https://me:{PASSWORD}@")
    desk = machine("desk", host.stranger)

    leaving = look_ahead(desk, url)
    add(desk, leaving)

    assert (PASSWORD in leaving.url, exchange(desk).trouble) == (False, "")


@pytest.mark.parametrize(
    ("host", "settings", "path", "advice"),
    [
        pytest.param(HTTPS.values[0], "", "", "Let git trust the host", marks=HTTPS.marks),
        pytest.param(SSH.values[0], "/no-", "", "Connect to the host once", marks=SSH.marks),
        pytest.param(HTTPS.values[0], None, "no-", "Correct the address", marks=HTTPS.marks),
        pytest.param(SSH.values[0], None, "no-", "Correct the address", marks=SSH.marks),
    ],
    indirect=["host"],
    ids=["certificate", "host-key", "https-nothing-there", "ssh-nothing-there"],
)
def test_what_the_person_can_do_is_said(
    machine: Open, host: Host, settings: str | None, path: str, advice: str
) -> None:
    git_settings = host.home / ".gitconfig"
    if settings is not None:  # nobody knows the certificate or the key of the host
        known = git_settings.read_text(encoding="utf-8")
        changed = known.replace("UserKnownHostsFile=/", f"UserKnownHostsFile={settings}") if settings else ""
        git_settings.write_text(changed, encoding="utf-8")

    with pytest.raises(RemoteUnavailable) as refused:
        look_ahead(machine("desk", host.home), host.url.replace("memory.git", f"{path}memory.git"))

    assert advice in refused.value.hint


@pytest.mark.parametrize("host", [HTTPS], indirect=True)
def test_a_host_that_gives_and_takes_nothing_is_read_from_and_what_is_here_waits(
    machine: Open, host: Host, tmp_path: Path
) -> None:
    desk, laptop = (joined(machine(name, host.home), host) for name in ("desk", "laptop"))
    known, waiting = stored(laptop, "The laptop knows this."), stored(desk, "The desk knows this.")
    exchange(laptop)
    served = ["git", f"--git-dir={tmp_path / 'host' / 'served' / 'memory.git'}"]
    subprocess.run([*served, "config", "http.receivepack", "false"], check=True)

    reports = [exchange(desk), exchange(desk)]

    assert [report.added for report in reports] == [(known,), ()]
    for report in reports:
        assert "The remote could not be written to" in report.trouble and "403" in report.trouble
        assert "read and write the repository" in report.trouble
    subprocess.run([*served, "config", "http.receivepack", "true"], check=True)
    assert not exchange(desk).trouble
    assert exchange(laptop).added == (waiting,)


@pytest.mark.parametrize("host", [HTTPS], indirect=True)
def test_why_a_host_refuses_changes_is_said_in_its_words(machine: Open, host: Host, tmp_path: Path) -> None:
    desk = joined(machine("desk", host.home), host)
    stored(desk, "The desk knows this.")
    hook = tmp_path / "host" / "served" / "memory.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'Your quota is used up.' >&2\nexit 1\n", encoding="ascii")
    hook.chmod(0o755)

    assert "refuses changes: pre-receive hook declined; Your quota is used up." in exchange(desk).trouble
    hook.unlink()
    assert not exchange(desk).trouble


def awaited(store: Store, *, every: float) -> float:
    """Return for how many times *every* seconds after the last exchange none is due in the background."""
    ended = (store.home / notes.FOLDER / notes.LAST).stat().st_mtime
    times = range(1, 100)
    return next(n for n in times if notes.is_due(store.home, every=every, now=ended + n * every))


@pytest.mark.parametrize("host", [HTTPS], indirect=True)
def test_a_host_that_refuses_is_asked_more_and_more_seldom(machine: Open, host: Host, tmp_path: Path) -> None:
    desk = joined(machine("desk", host.home), host)
    stored(desk, "The desk knows this.")
    served = tmp_path / "host" / "served" / "memory.git"
    hook = served / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    hook.chmod(0o755)

    waits = [awaited(desk, every=600) for _ in range(8) if exchange(desk).trouble]

    assert waits == [2, 4, 8, 16, 32, 32, 32, 32]
    served.rename(tmp_path / "away")
    assert "could not be reached" in exchange(desk).trouble
    assert awaited(desk, every=600) == 1  # to be offline is no refusal
    (tmp_path / "away").rename(served)
    hook.unlink()
    assert not exchange(desk).trouble
    assert awaited(desk, every=600) == 1


def test_a_host_that_lets_nobody_in_is_asked_more_seldom(machine: Open, host: Host) -> None:
    desk = joined(machine("desk", host.home), host)
    locked_out = machine("desk", host.stranger)

    waits = [awaited(desk, every=600) for _ in range(2) if exchange(locked_out).trouble]

    assert waits == [2, 4]


def test_a_host_that_says_nothing_is_given_up_together_with_what_asked_it(
    machine: Open, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE)
        repository = repository_of(machine("desk", tmp_path))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/memory.git"

        # However slow the machine is, this host never answers.
        with pytest.raises(RemoteUnavailable, match=f"did not finish within {GIVEN_UP:.0f} seconds"):
            repository.branches(url, timeout=GIVEN_UP)

        connection, _ = silent.accept()
        with connection:
            connection.settimeout(PATIENCE)
            while connection.recv(65536):  # ends when no process has the other end any more
                pass
