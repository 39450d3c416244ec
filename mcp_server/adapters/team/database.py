"""A team's database on its server: opening and upgrading it, its members and their tokens."""

import contextlib
import hashlib
import re
import secrets
from collections.abc import Iterator

from mcp_server.adapters.team import upgrades, vectors
from mcp_server.adapters.team.connections import Pool, connection, open_pool
from mcp_server.adapters.team.embedding import PassageEmbedding
from mcp_server.adapters.team.search import Searching
from mcp_server.adapters.team.storage import MemberStorage
from mcp_server.core.errors import NotFound, Rejected
from mcp_server.core.ports import Embedder
from mcp_server.core.team.team import Member, Role

TOKEN_BYTES = 32
_NAME = re.compile(r"[\w.@+-]{1,64}")


class PostgresTeam:
    """`core/team/team.TeamDatabase` in PostgreSQL, with what an administrator does; for many threads."""

    def __init__(self, pool: Pool, embedding: PassageEmbedding | None, searching: Searching) -> None:
        self._pool = pool
        self._embedding = embedding
        self._searching = searching

    @property
    def name(self) -> str:
        """The team's name: that of its database, unless it was given another."""
        with connection(self._pool) as db:
            return str(db.execute("SELECT name FROM daybook.team").fetchall()[0][0])

    def rename(self, name: str) -> None:
        """Give the team another name; raise Rejected for one that no line can hold."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise Rejected("A team's name has 1 to 100 characters, all printable.", "Choose another.")
        with connection(self._pool) as db:
            db.execute("UPDATE daybook.team SET name = %s", (name.strip(),))

    def member_of(self, token: str) -> Member | None:
        with connection(self._pool) as db:
            row = db.execute(
                "SELECT name, role FROM daybook.members WHERE token = %s", (_hash(token),)
            ).fetchone()
        return Member(row[0], Role(row[1])) if row else None

    def storage_for(self, member: Member) -> MemberStorage:
        return MemberStorage(self._pool, member, self._searching, self._wake)

    def issue(self, name: str, role: Role) -> str:
        """
        Return a new token for the member *name*, shown this once; only its hash is kept.

        A former token of theirs stops working, and their role becomes *role*. Raises Rejected.
        """
        if not _NAME.fullmatch(name):
            raise Rejected(
                f"'{name[:64]}' cannot be a member's name.",
                "It has 1 to 64 letters, digits and the signs . _ - @ +.",
            )
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with connection(self._pool) as db:
            db.execute(
                "INSERT INTO daybook.members (name, role, token) VALUES (%s, %s, %s) ON CONFLICT (name)"
                " DO UPDATE SET role = EXCLUDED.role, token = EXCLUDED.token, issued_at = now(),"
                " withdrawn_at = NULL",
                (name, role.value, _hash(token)),
            )
        return token

    def withdraw(self, name: str) -> None:
        """End the token of the member *name*; what they wrote stays. Raises NotFound."""
        with connection(self._pool) as db:
            row = db.execute(
                "UPDATE daybook.members SET token = NULL, withdrawn_at = now()"
                " WHERE name = %s AND token IS NOT NULL RETURNING name",
                (name.replace("\0", ""),),
            ).fetchone()
        if not row:
            raise NotFound(
                name,
                sentence=f"No member of the team is called '{name[:64]}'.",
                hint="'daybook team token list' names them.",
            )

    def members(self) -> tuple[Member, ...]:
        """Return who has a token, by name."""
        with connection(self._pool) as db:
            rows = db.execute(
                "SELECT name, role FROM daybook.members WHERE token IS NOT NULL ORDER BY name"
            ).fetchall()
        return tuple(Member(name, Role(role)) for name, role in rows)

    @property
    def semantic(self) -> bool:
        """Whether searches go by meaning: there is an embedder, and the database has pgvector."""
        return self._searching.embedder is not None

    def _wake(self) -> None:
        if self._embedding:
            self._embedding.wake()


@contextlib.contextmanager
def open_database(
    url: str, *, embedder: Embedder | None = None, embed_anew: bool = False
) -> Iterator[PostgresTeam]:
    """
    Yield the team's database at *url*, `postgresql://…`, upgraded to this Daybook's schema; then close it.

    Searches go by meaning with an *embedder*, if the database has pgvector. With *embed_anew*, vectors of
    another model are deleted. Raises SettingsError when it cannot be used, StorageUnavailable when it cannot
    be reached.
    """
    pool = open_pool(url)
    embedding = None
    try:
        with connection(pool) as db:
            upgrades.upgrade(db)
            db.execute("INSERT INTO daybook.team (name) VALUES (current_database()) ON CONFLICT DO NOTHING")
            if embedder and vectors.prepare(db, embedder, anew=embed_anew):
                embedding = PassageEmbedding(pool, embedder)
        searching = Searching(embedder if embedding else None)
        if embedding:
            embedding.start()
        yield PostgresTeam(pool, embedding, searching)
    finally:
        if embedding:
            embedding.stop()
        pool.close()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
