"""
The schema of a team's database, in numbered upgrades: each is a file of SQL beside this one.

A server that starts upgrades the database to its own number, in one transaction. It refuses a database of a
newer server, because it cannot know that schema.
"""

import itertools
import re
from importlib import resources

import psycopg

from mcp_server.adapters.team import derived
from mcp_server.adapters.team.connections import Connection
from mcp_server.core.errors import SettingsError
from mcp_server.core.team.team import Role

_LOCK = 0x6461_7962_6F6F_6B  # "daybook": the advisory lock for upgrading
_DERIVING = (2,)  # upgrades that change the form of what is searched
_OLDEST = 15_00_00  # PostgreSQL, in the form of `server_version_num`


def scripts() -> list[str]:
    """Return the SQL of the upgrades, in the order of their numbers."""
    files = (file for file in resources.files(__package__).iterdir() if re.match(r"\d{4}-", file.name))
    return [file.read_text(encoding="utf-8") for file in sorted(files, key=lambda file: file.name)]


def upgrade(connected: Connection) -> int:
    """
    Upgrade the database to the schema of this server and return that schema's number.

    Raises SettingsError when the database is of a newer server, or the login may not make what is needed.
    """
    if connected.info.server_version < _OLDEST:
        raise SettingsError(
            f"The database is PostgreSQL {connected.info.server_version // 10_000}; a team needs 15.",
            "Upgrade PostgreSQL.",
        )
    upgrades = scripts()
    with connected.transaction():
        connected.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        current = _number(connected)
        if current > len(upgrades):
            raise SettingsError(
                f"The team's database has schema {current}, of a newer Daybook; this knows {len(upgrades)}.",
                "Update Daybook on this server.",
            )
        if current == 0:
            _make_roles(connected)
            _make_schema(connected)
        for number, script in enumerate(upgrades[current:], start=current + 1):
            connected.execute(script.encode())
            if number in _DERIVING:
                derived.fill(connected)
            connected.execute("INSERT INTO daybook.upgrades (number) VALUES (%s)", (number,))
    return len(upgrades)


def _number(connected: Connection) -> int:
    """Return the number of the newest upgrade that was run, 0 for a database without our schema."""
    owner = connected.execute(
        "SELECT pg_get_userbyid(relowner), pg_has_role(relowner, 'USAGE') FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'daybook' AND relname = 'upgrades'"
    ).fetchone()
    if not owner:
        return 0
    name, is_ours = owner
    if not is_ours:
        raise SettingsError(
            f"The login '{connected.info.user}' has no right to the team's schema 'daybook'.",
            f"Use the login '{name}', to which it belongs, or let an administrator of the database say:"
            f' GRANT "{name}" TO "{connected.info.user}";',
        )
    newest = connected.execute("SELECT coalesce(max(number), 0) FROM daybook.upgrades").fetchone()
    return int(newest[0]) if newest else 0


def _make_schema(connected: Connection) -> None:
    try:
        # An administrator may have made the schema for a login that may not.
        if not connected.execute("SELECT to_regnamespace('daybook') IS NOT NULL").fetchall()[0][0]:
            connected.execute("CREATE SCHEMA daybook")
    except psycopg.errors.InsufficientPrivilege:
        raise SettingsError(
            f"The login '{connected.info.user}' may not make a schema in the database.",
            f'An administrator of it says: GRANT CREATE ON DATABASE "{connected.info.dbname}"'
            f' TO "{connected.info.user}";',
        ) from None
    try:
        connected.execute(
            "CREATE TABLE daybook.upgrades"
            " (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
    except psycopg.errors.InsufficientPrivilege:
        raise SettingsError(
            f"The login '{connected.info.user}' may not make tables in the schema 'daybook'.",
            f'An administrator of it says: GRANT USAGE, CREATE ON SCHEMA daybook TO "{connected.info.user}";',
        ) from None


def _make_roles(connected: Connection) -> None:
    """Make the missing roles of members, and let the server's login take on each."""
    names = [f"daybook_{role.value}" for role in Role]
    try:
        for name in names:
            connected.execute(_MAKE_ROLE.format(name=name))
        for lesser, greater in itertools.pairwise(names):
            connected.execute(_GRANT_ROLE.format(role=lesser, to=greater))
        # From version 16 on, the login that makes a role may grant it, and needs a grant to take it on.
        right = "SET" if connected.info.server_version >= 16_00_00 else "MEMBER"
        for name in names:
            connected.execute(_TAKE_ON.format(role=name, right=right))
    except psycopg.errors.InsufficientPrivilege:
        raise SettingsError(
            f"The login '{connected.info.user}' may not make the roles of a team's members.",
            f'An administrator of the database says: ALTER ROLE "{connected.info.user}" CREATEROLE;'
            " or: CREATE ROLE daybook_reader NOLOGIN; CREATE ROLE daybook_writer NOLOGIN;"
            " CREATE ROLE daybook_curator NOLOGIN; GRANT daybook_reader TO daybook_writer;"
            " GRANT daybook_writer TO daybook_curator;"
            f' GRANT daybook_reader, daybook_writer, daybook_curator TO "{connected.info.user}";',
        ) from None


# Roles belong to all databases of a server: another team's server may make them at the same moment.
_MAKE_ROLE = """DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}') THEN CREATE ROLE {name} NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"""
_GRANT_ROLE = """DO $$ BEGIN
    IF NOT pg_has_role('{to}', '{role}', 'USAGE') THEN GRANT {role} TO {to}; END IF;
EXCEPTION WHEN unique_violation THEN NULL; END $$"""
_TAKE_ON = """DO $$ BEGIN
    IF NOT pg_has_role(current_user, '{role}', '{right}') THEN GRANT {role} TO CURRENT_USER; END IF;
EXCEPTION WHEN unique_violation THEN NULL; END $$"""
