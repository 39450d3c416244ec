"""
Why a team's database cannot be used: no server is there, it refuses the login, or it has no such database.

A server tells in words alone, of its own language, why it refuses a connection. So it is looked at: whether
it answers at all, and whether the login is let into a database that every server has.
"""

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mcp_server.core.errors import DaybookError, SettingsError, StorageUnavailable

PATIENCE = 5  # seconds that each look takes at most
EVERYWHERE = ("postgres", "template1")  # databases that a server has unless somebody took them away


def check_reachable(url: str) -> None:
    """
    Connect to the database at *url*, once; raise why that cannot be done.

    SettingsError is for what the administrator has to change, StorageUnavailable for what may pass. Neither
    quotes the password or what the server said.
    """
    try:
        psycopg.connect(url, connect_timeout=PATIENCE).close()
    except psycopg.OperationalError as error:
        raise _why(url, error) from None


def place_of(url: str) -> str:
    """Return the host and the database that *url* names, without login and password."""
    given = conninfo_to_dict(url)
    return f"{given.get('host') or 'this machine'}/{given.get('dbname') or ''}"


def _why(url: str, error: psycopg.OperationalError) -> DaybookError:
    given = conninfo_to_dict(url)
    host, port = given.get("host") or "this machine", given.get("port") or "5432"
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
    asked = error.pgconn
    name = (asked.db.decode() if asked and asked.db else "") or str(given.get("dbname") or "")
    login = (asked.user.decode() if asked and asked.user else "") or str(given.get("user") or "")
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
    return SettingsError(f"PostgreSQL on {host} refuses the login '{login}'.", _about_login(asked))


def _state(url: str, name: str) -> str:
    """Return what the database *name* is: missing, closed (to the login), there; '' for a refused login."""
    for database in EVERYWHERE:
        try:
            with psycopg.connect(make_conninfo(url, dbname=database), connect_timeout=PATIENCE) as db:
                known = db.execute(
                    "SELECT has_database_privilege(oid, 'CONNECT') FROM pg_database WHERE datname = %s",
                    (name,),
                ).fetchone()
        except psycopg.OperationalError:
            continue
        return "missing" if known is None else "there" if known[0] else "closed"
    return ""


def _about_login(asked: pq.abc.PGconn | None) -> str:
    if asked and asked.needs_password:
        return "It asks for a password: postgresql://NAME:PASSWORD@HOST/DATABASE."
    if asked and asked.used_password:
        return "Correct the name or the password in the address."
    return "Is there a login of that name, and does the server's pg_hba.conf let it in from here?"
