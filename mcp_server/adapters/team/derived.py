"""What a search in a team's database reads, derived from each memory: its words, and the keys of filters."""

from collections.abc import Iterable

from mcp_server.adapters.index.memories.writing import searched_texts
from mcp_server.adapters.index.search.tokens import Token, tokens
from mcp_server.adapters.team.connections import Connection
from mcp_server.adapters.team.rows import memory_of
from mcp_server.core.memory import Memory
from mcp_server.core.memory_parts import OCCASIONS
from mcp_server.core.sessions.passages import positioned
from mcp_server.core.text.words import index_parts

MOST_POSITIONS = 255  # of one word, as many as PostgreSQL keeps
LAST_POSITION = 16_383  # the same
AT_ONCE = 500  # memories that are read at a time
LONGEST_WORD = 2_000  # bytes of a lexeme, which may have 2,046


def put(db: Connection, row: int, memory: Memory) -> None:
    """Replace what is searched of *memory*; passages that stay the same keep their vectors."""
    words = tokens([*searched_texts(memory).values()])
    db.execute("DELETE FROM daybook.searched WHERE memory = %s", (row,))
    db.execute(
        "INSERT INTO daybook.searched (memory, length, type, status, category, updated, valid_from, valid_to,"
        " tags, touches, lexemes) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::tsvector)",
        (
            row,
            len(words),
            memory.type,
            memory.status.value,
            memory.category,
            memory.updated,
            memory.valid_from or memory.created,
            memory.valid_to,
            list(memory.tags),
            list(memory.touches),
            vector_of(words),
        ),
    )
    _put_passages(db, row, positioned(memory))


def _put_passages(db: Connection, row: int, passages: list[tuple[int, str]]) -> None:
    positions = [position for position, _ in passages if position != OCCASIONS]
    # The words of a text in one passage are those of the memory, and its occasions are no place in the text.
    among_several = {*positions} if len(positions) > 1 else set()
    unchanged = _unchanged(db, row, passages, among_several)
    for position, text in passages:
        if (position, text) in unchanged:
            continue
        words = tokens([text, " ".join(index_parts(text))])
        db.execute(
            "WITH added AS (INSERT INTO daybook.passages (memory, position, text, length, lexemes)"
            " VALUES (%s, %s, %s, %s, %s::tsvector) RETURNING row)"
            " INSERT INTO daybook.unembedded (passage) SELECT row FROM added",
            (row, position, text, len(words), vector_of(words) if position in among_several else None),
        )


def _unchanged(
    db: Connection, row: int, passages: list[tuple[int, str]], with_words: set[int]
) -> set[tuple[int, str]]:
    """
    Delete the memory's passages that are not among *passages*; return (position, text) of the others.

    Those at the positions *with_words* have their words, the others have none.
    """
    rows = db.execute(
        "SELECT row, position, text, lexemes IS NOT NULL FROM daybook.passages WHERE memory = %s", (row,)
    ).fetchall()
    stay = {
        number: (position, text)
        for number, position, text, has_words in rows
        if (position, text) in passages and has_words == (position in with_words)
    }
    if len(stay) < len(rows):
        gone = [number for number, *_ in rows if number not in stay]
        db.execute("DELETE FROM daybook.passages WHERE row = ANY(%s)", (gone,))
    return {*stay.values()}


def remove(db: Connection, row: int) -> None:
    """Take the memory *row* out of what is searched."""
    db.execute("DELETE FROM daybook.searched WHERE memory = %s", (row,))
    db.execute("DELETE FROM daybook.passages WHERE memory = %s", (row,))


def fill(db: Connection) -> None:
    """Derive what is searched of every memory again, after an upgrade that changed its form."""
    last = 0
    while rows := db.execute(
        "SELECT row, said FROM daybook.memories WHERE forgotten_at IS NULL AND row > %s"
        " ORDER BY row LIMIT %s",
        (last, AT_ONCE),
    ).fetchall():
        for row, value in rows:
            put(db, row, memory_of(value))
        last = rows[-1][0]


def vector_of(words: Iterable[Token]) -> str:
    """Return *words* in the notation of a `tsvector`: each once, with its positions, from 1."""
    places: dict[str, list[int]] = {}
    for word, position in words:
        places.setdefault(word, []).append(min(position + 1, LAST_POSITION))
    return " ".join(
        f"{quoted(word)}:{','.join(map(str, dict.fromkeys(positions[:MOST_POSITIONS])))}"
        for word, positions in places.items()
        if fits(word)
    )


def fits(word: str) -> bool:
    """Tell whether the database can keep *word* as a lexeme."""
    return len(word.encode()) <= LONGEST_WORD


def quoted(word: str) -> str:
    """Return *word* in the notation of a `tsvector` and a `tsquery`."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
