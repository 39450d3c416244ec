"""The server as an administrator runs it: real processes before a real PostgreSQL."""

import random
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.errors import NotAllowed, StorageUnavailable
from mcp_server.core.search.query import Query
from mcp_server.core.team.team import Role
from tests.patience import PATIENCE
from tests.team_server.asking import post
from tests.team_server.processes import Server, environment, issued, serving, team
from tests.team_server.test_roles import memory

postgres = pytest.importorskip("tests.postgres")


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.empty_database() as url:
        yield url


def client(server: Server, token: str, deadline: float = PATIENCE) -> TeamClient:
    return TeamClient(server.address, token, deadline=deadline)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end(tmp_path: Path, url: str, number: int) -> None:
    token = issued(tmp_path, url, "carla", "curator")
    with serving(tmp_path, url, "--name", "The Quaggas") as server:
        assert "It is searched by words only" in server.said
        assert "the team 'The Quaggas' is served on http://127.0.0.1:" in server.said
        carla = client(server, token)
        about_team = carla.team()
        assert (about_team.name, about_team.member, about_team.role, about_team.curators) == (
            "The Quaggas", "carla", Role.CURATOR, ("carla",)
        )  # fmt: skip
        carla.confirm("webhook", digest=carla.save(memory()).digest)
        assert carla.search(Query("body parsing")).results[0].stored.confirmed_by == "carla"
        server.process.send_signal(number)
        printed, _ = server.process.communicate(timeout=PATIENCE)
        assert printed == "The server has ended.\n"
        assert server.process.returncode == 0


def test_a_token_is_withdrawn_while_it_serves(tmp_path: Path, url: str) -> None:
    token = issued(tmp_path, url, "anna", "writer")
    assert "anna    writer" in team(tmp_path, url, "token", "list").stdout
    with serving(tmp_path, url) as server:
        client(server, token).save(memory())
        second = issued(tmp_path, url, "anna", "reader")
        with pytest.raises(NotAllowed, match="does not know this token"):
            client(server, token).load("webhook")
        with pytest.raises(NotAllowed):
            client(server, second).save(memory("another"))
        assert "no longer works" in team(tmp_path, url, "token", "withdraw", "anna").stdout
        assert post(server.address, second).status_code == 401
    assert team(tmp_path, url, "token", "withdraw", "anna").returncode == 3
    assert "Nobody has a token yet." in team(tmp_path, url, "token", "list").stdout


def test_what_keeps_it_from_starting_is_one_sentence(tmp_path: Path, url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = str(occupied.getsockname()[1])
        for address, words, code, sentence in [
            ("", (), 2, "No database is named."),
            ("nonsense", (), 2, "The address of the team's database cannot be read."),
            ("postgresql://127.0.0.1:1/team?connect_timeout=1", (), 15, "no PostgreSQL answers on port 1."),
            (url, ("--port", port), 2, f"Port {port} of 127.0.0.1 is taken."),
            (url, ("--bind", "no.such.host.invalid"), 2, "Other machines could reach no.such.host.invalid"),
            (url, ("--bind", "0.0.0.0"), 2, "nobody has a token yet."),
        ]:
            process = team(tmp_path, address, "serve", *words)
            assert (process.returncode, process.stdout) == (code, ""), process.stderr
            first, hint = process.stderr.strip().splitlines()
            assert first.startswith("daybook: ")
            assert sentence in first
            assert hint.strip()


def test_beyond_this_machine_it_needs_a_token_and_a_name(tmp_path: Path, url: str) -> None:
    token = issued(tmp_path, url, "anna", "reader")
    process = team(tmp_path, url, "serve", "--bind", "0.0.0.0")
    assert (process.returncode, "no host name is set" in process.stderr) == (2, True)
    with serving(tmp_path, url, "--bind", "0.0.0.0", "--host-name", "team.example.org") as server:
        local_address = server.address.replace("0.0.0.0", "127.0.0.1")
        assert post(local_address, token, host="team.example.org").status_code == 200
        assert post(local_address, token, host="evil.example").status_code == 421
        assert post(local_address, "wrong", host="team.example.org").status_code == 401


def test_without_the_packages_it_says_how_to_get_them(tmp_path: Path) -> None:
    import subprocess

    hidden = "import sys; sys.modules['psycopg'] = None; sys.argv = ['daybook', 'team', 'token', 'list'];"
    process = subprocess.run(
        [sys.executable, "-c", f"{hidden} from mcp_server.doors.cli import main; main()"],
        env=environment(tmp_path, "postgresql://localhost/team"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert process.returncode == 2
    assert "a package that is not installed: psycopg" in process.stderr
    assert "setup-environment -r requirements-team.txt" in process.stderr


KILLS = 4
WRITERS = 4


def test_of_two_servers_that_are_killed_at_random_nothing_acknowledged_is_lost(
    tmp_path: Path, url: str
) -> None:
    tokens = [issued(tmp_path, url, f"writer-{number}", "writer") for number in range(WRITERS)]
    servers = [Server(tmp_path, url), Server(tmp_path, url)]
    acknowledged: dict[str, str] = {}
    is_over = threading.Event()
    saves = threading.Semaphore(0)
    chance = random.Random(20)

    def write(number: int) -> None:
        turn = 0
        while not is_over.is_set():
            turn += 1
            new = memory(f"memory-{number}-{turn}")
            server = servers[turn % 2]
            try:
                stored = client(server, tokens[number]).save(new)
                acknowledged[new.id] = stored.digest
                if turn % 3 == 0:
                    changed = replace(new, text=f"Changed {turn}.")
                    stored = client(server, tokens[number]).save(changed, replaces=stored.digest)
                    acknowledged[new.id] = stored.digest
                saves.release()
            except StorageUnavailable:  # not acknowledged: it may be there or not
                acknowledged.pop(new.id, None)

    try:
        with ThreadPoolExecutor(WRITERS) as threads:
            writing = [threads.submit(write, number) for number in range(WRITERS)]
            for _ in range(KILLS):
                for _ in range(chance.randint(5, 15)):
                    assert saves.acquire(timeout=PATIENCE)
                victim = chance.randrange(2)
                servers[victim].end()
                servers[victim] = Server(tmp_path, url)
            is_over.set()
            for writer_thread in writing:
                writer_thread.result()
        reader = client(servers[0], tokens[0])
        assert len(acknowledged) > KILLS
        for memory_id, digest in acknowledged.items():
            assert reader.load(memory_id).digest == digest
    finally:
        is_over.set()
        for server in servers:
            server.end()


def test_a_database_that_goes_away_comes_back_without_a_restart(tmp_path: Path, url: str) -> None:
    token = issued(tmp_path, url, "anna", "writer")
    with serving(tmp_path, url) as server:
        anna = client(server, token)
        stored = anna.save(memory())
        name = postgres.conninfo.conninfo_to_dict(url)["dbname"]
        with postgres.administrator() as db:
            db.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
            with pytest.raises(StorageUnavailable, match="cannot be reached"):
                anna.load("webhook")
            db.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        for _ in range(20):  # the pool tries again within a second or so, while a call waits for it
            try:
                assert anna.load("webhook") == stored
                break
            except StorageUnavailable:
                continue
        else:
            pytest.fail("the database is back, and the server did not notice")
