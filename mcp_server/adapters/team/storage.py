"""A team's memory for one member: saving, searching, forgetting, confirming, and the history of a memory."""

from collections.abc import Callable, Sequence
from functools import partial

import psycopg

from mcp_server.adapters.team import derived
from mcp_server.adapters.team.connections import Connection, Pool, as_server, connection, transaction
from mcp_server.adapters.team.rows import COLUMNS, json_of, memory_of, stored_of
from mcp_server.adapters.team.search import Searching, search
from mcp_server.core.errors import Conflict, NotAllowed, NotFound
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import ID
from mcp_server.core.search.query import Query, check_limit
from mcp_server.core.storage.port import PAGE, ChangeKind, ChangeRecord, Results, Stored
from mcp_server.core.team.team import Member, Role, Team

MOST_OF_PAGE = 1000


class MemberStorage:
    """`core/team/team.TeamStorage` for *member*; each call is one transaction of theirs."""

    def __init__(
        self, pool: Pool, member: Member, searching: Searching, on_change: Callable[[], None]
    ) -> None:
        self._pool = pool
        self._member = member
        self._searching = searching
        self._on_change = on_change

    def team(self) -> Team:
        with transaction(self._pool, self._member) as db:
            as_server(db)
            rows = db.execute(
                "SELECT t.name, t.model, coalesce((SELECT array_agg(name ORDER BY name) FROM daybook.members"
                " WHERE role = 'curator' AND token IS NOT NULL), '{}') FROM daybook.team t"
            )
            name, model, curators = rows.fetchall()[0]
        return Team(name, self._member.name, self._member.role, tuple(curators), model)

    def save(self, memory: Memory, *, replaces: str = "") -> Stored:
        value = json_of(memory)
        self._must_be(Role.WRITER)
        with transaction(self._pool, self._member) as db:
            current = db.execute(_THERE, (value, memory.id)).fetchone()
            row, living, digest, same = current or (0, False, "", False)
            if living and same:
                return _loaded(db, memory.id)
            if replaces and not living:
                raise NotFound(memory.id)
            if living and digest != replaces:
                raise _conflict(memory.id)
            if current:
                changed = db.execute(
                    "UPDATE daybook.memories SET said = %s, forgotten_at = NULL"
                    " WHERE row = %s AND digest = %s AND (forgotten_at IS NULL) = %s RETURNING row",
                    (value, row, digest, living),
                ).fetchone()
                if not changed:
                    raise self._refused(db, memory.id, digest)
            else:
                row = self._add(db, memory.id, value)
            stored = _loaded(db, memory.id)
            as_server(db)
            derived.put(db, row, memory)
        self._on_change()
        return stored

    def load(self, memory_id: str) -> Stored:
        with transaction(self._pool, self._member) as db:
            return _loaded(db, memory_id)

    def search(self, query: Query) -> Results:
        check_limit(query.limit)
        embedded = self._searching.embedded(query)
        counted = self._searching.statistics.of(partial(connection, self._pool))
        embedder = self._searching.embedder
        with transaction(self._pool, self._member) as db:
            return search(db, query, embedded, counted, embedder.model if embedder else "")

    def forget(self, memory_id: str, *, digest: str) -> None:
        self._must_be(Role.WRITER)
        with transaction(self._pool, self._member) as db:
            if _loaded(db, memory_id).digest != digest:
                raise _conflict(memory_id)
            changed = db.execute(
                "UPDATE daybook.memories SET forgotten_at = now()"
                " WHERE id = %s AND digest = %s AND forgotten_at IS NULL RETURNING row",
                (memory_id, digest),
            ).fetchone()
            if not changed:
                raise self._refused(db, memory_id, digest)
            as_server(db)
            derived.remove(db, changed[0])

    def restore(self, memory_id: str) -> Stored:
        self._must_be(Role.WRITER)
        _check(memory_id)
        with transaction(self._pool, self._member) as db:
            changed = db.execute(
                "UPDATE daybook.memories SET forgotten_at = NULL"
                " WHERE id = %s AND forgotten_at IS NOT NULL RETURNING row",
                (memory_id,),
            ).fetchone()
            if not changed:
                raise NotFound(memory_id)
            stored = _loaded(db, memory_id)
            as_server(db)
            derived.put(db, changed[0], stored.memory)
        self._on_change()
        return stored

    def history(self, memory_id: str) -> Sequence[ChangeRecord]:
        _check(memory_id)
        with transaction(self._pool, self._member) as db:
            rows = db.execute(
                "SELECT c.kind, c.at, c.author, c.before FROM daybook.changes c"
                " JOIN daybook.memories m ON m.row = c.memory WHERE m.id = %s ORDER BY c.number",
                (memory_id,),
            ).fetchall()
        if not rows:
            raise NotFound(memory_id)
        return tuple(
            ChangeRecord(ChangeKind(kind), at, author, memory_of(before) if before else None)
            for kind, at, author, before in rows
        )

    def page(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        return self._page("forgotten_at IS NULL", after, most)

    def confirm(self, memory_id: str, *, digest: str) -> Stored:
        self._must_be(Role.CURATOR)
        with transaction(self._pool, self._member) as db:
            current = _loaded(db, memory_id)
            if current.digest != digest:
                raise _conflict(memory_id)
            if current.confirmed_by:
                return current
            changed = db.execute(
                "UPDATE daybook.memories SET confirmed_by = %s, confirmed_digest = digest"
                " WHERE id = %s AND digest = %s AND forgotten_at IS NULL RETURNING row",
                (self._member.name, memory_id, digest),
            ).fetchone()
            if not changed:
                raise _conflict(memory_id)
            return _loaded(db, memory_id)

    def confirmed(self, *, after: str = "", most: int = PAGE) -> Sequence[Stored]:
        return self._page("confirmed_digest = digest AND forgotten_at IS NULL", after, most)

    def _page(self, condition: str, after: str, most: int) -> Sequence[Stored]:
        with transaction(self._pool, self._member) as db:
            rows = db.execute(
                f"SELECT {COLUMNS} FROM daybook.memories WHERE {condition} AND id > %s ORDER BY id LIMIT %s",
                (after.replace("\0", ""), min(most, MOST_OF_PAGE)),
            ).fetchall()
        return tuple(map(stored_of, rows))

    def _add(self, db: Connection, memory_id: str, value: str) -> int:
        try:
            added = db.execute(
                "INSERT INTO daybook.memories (id, said, author) VALUES (%s, %s, %s) RETURNING row",
                (memory_id, value, self._member.name),
            ).fetchone()
        except psycopg.errors.UniqueViolation:
            # Saved a moment ago, or forgotten by another author: this member does not see that row.
            raise Conflict(
                f"The team has, or had, another memory of the id '{memory_id}'.", "Give it another id."
            ) from None
        assert added
        return int(added[0])

    def _must_be(self, least: Role) -> None:
        """Raise NotAllowed, with a sentence, for what the grants of the database would refuse as well."""
        order = [*Role]
        if order.index(self._member.role) < order.index(least):
            raise NotAllowed(
                f"{self._member.name} is a {self._member.role.value}; this takes a {least.value}."
            )

    def _refused(self, db: Connection, memory_id: str, digest: str) -> Conflict | NotAllowed:
        """Return why no row was changed: its version is another one, or it is another member's."""
        if (current := _loaded(db, memory_id)).digest != digest or current.author == self._member.name:
            return _conflict(memory_id)
        return NotAllowed(f"'{memory_id}' was written by {current.author}; they and curators may change it.")


def _conflict(memory_id: str) -> Conflict:
    return Conflict(f"'{memory_id}' was changed meanwhile.")


def _check(memory_id: str) -> None:
    """Raise NotFound for what is no id; the database could not even compare some texts."""
    if not ID.fullmatch(memory_id):
        raise NotFound(memory_id)


def _loaded(db: Connection, memory_id: str) -> Stored:
    _check(memory_id)
    row = db.execute(
        f"SELECT {COLUMNS} FROM daybook.memories WHERE id = %s AND forgotten_at IS NULL", (memory_id,)
    ).fetchone()
    if not row:
        raise NotFound(memory_id)
    return stored_of(row)


_THERE = "SELECT row, forgotten_at IS NULL, digest, said = %s::jsonb FROM daybook.memories WHERE id = %s"
