"""
Why a team's database cannot be used: no server is there, it refuses the login, or it has no such database.

A server says only in words of its own language why it refuses a connection. So this module tests whether it
answers at all, and whether the login may connect to a database that every server has.
"""

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mcp_server.core.errors import DaybookError, SettingsError, StorageUnavailable

PATIENCE = 5  # seconds that each test takes at most
EVERYWHERE = ("postgres", "template1")  # databases that a server has unless they were deleted


def check_reachable(url: str) -> None:
    """
    Connect to the database at *url*, once.

    Raises SettingsError for what the administrator has to change, StorageUnavailable for what may pass.
    Neither quotes the password or the server's words.
    """
    try:
        psycopg.connect(url, connect_timeout=PATIENCE).close()
    except psycopg.OperationalError as error:
        raise _why(url, error) from None


def place_of(url: str) -> str:
    """Return the host and the database that *url* names, without login and password."""
    parts = conninfo_to_dict(url)
    return f"{parts.get('host') or 'this machine'}/{parts.get('dbname') or ''}"


def _why(url: str, error: psycopg.OperationalError) -> DaybookError:
    """Return why the database at *url* cannot be used, as the error to raise."""
    parts = conninfo_to_dict(url)
    host, port = parts.get("host") or "this machine", parts.get("port") or "5432"
    unreachable = f"The team's database at {place_of(url)} cannot be reached"
    answer = pq.PGconn.ping(make_conninfo(url, connect_timeout=PATIENCE).encode())
    if answer == pq.Ping.REJECT:
        return StorageUnavailable(
            f"{unreachable}: PostgreSQL starts or ends there.",
            "Try again in a moment.",
        )
    if answer != pq.Ping.OK:
        return StorageUnavailable(
            f"{unreachable}: no PostgreSQL answers on port {port}.",
            f"Start PostgreSQL on {host}, or correct host and port in the address.",
        )
    connection = error.pgconn
    name = (connection.db.decode() if connection and connection.db else "") or str(parts.get("dbname") or "")
    login = (connection.user.decode() if connection and connection.user else "") or str(
        parts.get("user") or ""
    )
    state = _state(url, name)
    if state == "missing":
        return SettingsError(
            f"PostgreSQL on {host} has no database '{name}'.",
            f"Make it with 'createdb {name}', or name another.",
        )
    if state == "closed":
        return SettingsError(
            f"The login '{login}' may not connect to the database '{name}'.",
            f'An administrator of it says: GRANT CONNECT ON DATABASE "{name}" TO "{login}";',
        )
    if state == "there":
        return StorageUnavailable(
            f"{unreachable}: it takes no connection at present.",
            "Has it all the connections that it may have, or was it closed? Try again in a moment.",
        )
    return SettingsError(f"PostgreSQL on {host} refuses the login '{login}'.", _about_login(connection))


def _state(url: str, name: str) -> str:
    """Return what *name* is: missing, closed (to the login) or there; '' when the login is refused."""
    for database in EVERYWHERE:
        try:
            with psycopg.connect(make_conninfo(url, dbname=database), connect_timeout=PATIENCE) as db:
                privilege = db.execute(
                    "SELECT has_database_privilege(oid, 'CONNECT') FROM pg_database WHERE datname = %s",
                    (name,),
                ).fetchone()
        except psycopg.OperationalError:
            continue
        return "missing" if privilege is None else "there" if privilege[0] else "closed"
    return ""


def _about_login(connection: pq.abc.PGconn | None) -> str:
    if connection and connection.needs_password:
        return "It asks for a password: postgresql://NAME:PASSWORD@HOST/DATABASE."
    if connection and connection.used_password:
        return "Correct the name or the password in the address."
    return "Is there a login of that name, and does the server's pg_hba.conf let it in from here?"
