"""
What a connection to a team's server costs: `python benchmarks/team_connection.py [--requests 200]`.

The same question is asked of a small team behind a proxy that does TLS, on loopback: by turns on a new
connection, and on the one that is kept. Server and proxy are another process.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click

from benchmarks.latency import machine, percentile
from mcp_server.adapters.http_request import Poster
from mcp_server.core.team.team import Role
from tests.certificate import Certificate, certified
from tests.team_server.asking import calling, headers
from tests.team_server.minimal_team import MinimalTeam
from tests.team_server.served import served
from tests.team_server.tls_proxy import behind_tls

WARM_UP = 20  # requests of each sort that are not measured


@click.command()
@click.option("--requests", default=200, show_default=True, help="Of each sort.")
def main(requests: int) -> None:
    """Print how long requests take, with and without a connection of their own."""
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        certificate = certified(Path(folder))
        os.environ["SSL_CERT_FILE"] = str(certificate.path)
        parent_end, child_end = multiprocessing.Pipe()
        server = multiprocessing.Process(target=_serve, args=(child_end, certificate), daemon=True)
        server.start()
        address, token = parent_end.recv()
        times = _measured(address, token, requests)
        parent_end.send("end")
        server.join()
    for name, seconds in times.items():
        p50, p95 = (percentile(seconds, share) * 1000 for share in (50, 95))
        print(f"{name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms")


def _serve(pipe: Connection, certificate: Certificate) -> None:
    team = MinimalTeam()
    token = team.issue("anna", Role.READER)
    with served(team, each_minute=1_000_000) as address, behind_tls(address, certificate) as proxy:
        pipe.send((proxy.address, token))
        pipe.recv()


def _measured(address: str, token: str, requests: int) -> dict[str, list[float]]:
    """Return what the requests of each sort took, in seconds."""
    poster = Poster(f"{address}/mcp", own_network=True, deadline=10.0, most=1 << 20)
    content = json.dumps(calling("recall", text="body parsing")).encode()
    times: dict[str, list[float]] = {"new connection": [], "kept connection": []}
    for turn in range(WARM_UP + requests):
        for name, seconds in times.items():
            start = time.perf_counter()
            answer = poster(content, headers(token, "recall"), repeatable=name.startswith("kept"))
            if turn >= WARM_UP:
                seconds.append(time.perf_counter() - start)
            assert answer.is_success, answer
    return times


if __name__ == "__main__":
    main()
