"""
Connections to a team's database: a pool of them, and its errors as Daybook's own.

Each call is one transaction in the role of its member, so the database's own policies and grants decide,
whatever the server's login may do.
"""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from mcp_server.adapters.team.reaching import check_reachable, place_of
from mcp_server.core.errors import DaybookError, NotAllowed, Rejected, SettingsError, StorageUnavailable
from mcp_server.core.team.team import Member

Connection = psycopg.Connection[tuple[Any, ...]]
Pool = ConnectionPool[Connection]

MOST = 16  # connections of one server
PATIENCE = 5.0  # seconds that a call waits for a connection, and a connection for the database
LONGEST = 30_000  # milliseconds that one statement may take


def open_pool(url: str) -> Pool:
    """
    Return connections to the database at *url*, made when they are needed.

    Raises SettingsError or StorageUnavailable, with the reason, when it cannot be reached.
    """
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its text quotes the URL with the password
        raise SettingsError(
            "The address of the team's database cannot be read.",
            "Write it as postgresql://NAME:PASSWORD@HOST:5432/DATABASE.",
        ) from None
    check_reachable(url)  # the pool would only retry, and not say why
    pool = ConnectionPool(
        url,
        kwargs={
            "autocommit": True,
            "connect_timeout": int(PATIENCE),
            "application_name": "daybook",
        },
        min_size=1,
        max_size=MOST,
        timeout=PATIENCE,
        # Short, because after it each waiting call makes the pool retry at once.
        reconnect_timeout=1.0,
        check=ConnectionPool.check_connection,
        configure=_configure,
        open=False,
        name="team",
    )
    pool.open()
    return pool


def _configure(connected: Connection) -> None:
    # Not with the options of the connection: a pooler between here and the database refuses those.
    connected.execute(
        "SELECT set_config('statement_timeout', %s, false), set_config('search_path', %s, false)",
        (str(LONGEST), "pg_catalog, daybook"),
    )
    see_vectors(connected)


def see_vectors(connected: Connection) -> None:
    """Let *connected* find the types and operators of pgvector, wherever an administrator has put them."""
    connected.execute(
        "SELECT set_config('search_path', 'pg_catalog, ' || quote_ident(nspname), false)"
        " FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'"
    )


@contextlib.contextmanager
def connection(pool: Pool) -> Iterator[Connection]:
    """Give a connection as the server's own login; what fails is said in a sentence."""
    with own_errors(pool), pool.connection() as connected:
        yield connected


@contextlib.contextmanager
def transaction(pool: Pool, member: Member) -> Iterator[Connection]:
    """
    Give one transaction in which *member* may do what their role allows, and no more.

    Raises NotAllowed when they are no member any more, or not in that role.
    """
    with connection(pool) as connected, connected.transaction():
        known = connected.execute(_AS_MEMBER, (member.name, member.role.value)).fetchone()
        if not known:
            raise NotAllowed(
                f"{member.name} is no longer a {member.role.value} of this team.",
                "Ask its administrator for another token.",
            )
        yield connected


def array(rows: Iterable[int]) -> str:
    """Return *rows* as PostgreSQL reads a `bigint[]`: psycopg takes ten times as long to write a list."""
    return f"{{{','.join(map(str, rows))}}}"


def as_server(connected: Connection) -> None:
    """Go on in the same transaction as the server's own login, to derive what is searched."""
    connected.execute("SELECT set_config('role', 'none', true)")


@contextlib.contextmanager
def own_errors(pool: Pool) -> Iterator[None]:
    """Raise PostgreSQL's errors as Daybook's own; none of these quotes the address of the database."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise NotAllowed(f"The team does not allow this: {error.diag.message_primary}.") from error
    except psycopg.errors.ProgramLimitExceeded as error:
        raise Rejected(f"The team's database refused this: {error.diag.message_primary}.") from error
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise StorageUnavailable(
            f"The team's database at {place_of(str(pool.conninfo))} takes no changes: it is a replica, or was"
            " made read-only.",
            "Name the server that takes them; several: postgresql://HOST1,HOST2/DATABASE"
            "?target_session_attrs=read-write.",
        ) from error
    except (PoolTimeout, psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise StorageUnavailable(
            f"The team's database at {place_of(str(pool.conninfo))} {_why(error)}."
        ) from error
    except psycopg.DataError as error:
        raise Rejected(f"The team's database refused this: {error.diag.message_primary or error}.") from error
    except psycopg.Error as error:
        why = error.diag.message_primary or error
        raise DaybookError(f"The team's database refused this: {why}.") from error


def _why(error: Exception) -> str:
    match error:
        case psycopg.errors.QueryCanceled():
            return f"took longer than {LONGEST // 1000} seconds"
        case psycopg.errors.DiskFull():
            return "has no room left on its disk"
    return "cannot be reached"


_AS_MEMBER = """
    SELECT set_config('role', 'daybook_' || role, true), set_config('daybook.member', name, true)
    FROM daybook.members WHERE name = %s AND role = %s AND token IS NOT NULL
"""
