"""
Vectors in a team's database, by pgvector: a table, an index of near neighbours (HNSW), and the search.

Numbers have half precision: two bytes each. The table is for one model; if the extension is missing and
cannot be made, the team searches by words, and says so.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import psycopg

from mcp_server.adapters.team.connections import Connection, array, see_vectors
from mcp_server.adapters.team.filters import Condition
from mcp_server.core.errors import SettingsError
from mcp_server.core.ports import Embedded, Embedder, Vector
from mcp_server.core.search.ranking import BEST_PASSAGES, Cosines

NEAREST = 200  # passages that are asked for; the index gives at most `hnsw.ef_search` of them, 40 by default
FEW = 20_000  # memories up to which all that a filter lets through are compared
MOST_DIMENSIONS = 4_000  # of a vector of halves that can be indexed
WAIT = "5 minutes"  # after which another server takes up passages that one has claimed


def prepare(db: Connection, embedder: Embedder, *, anew: bool) -> bool:
    """
    Make the table for the vectors of *embedder*; return whether there is one, which needs pgvector.

    With *anew*, vectors of another model are deleted, and all passages wait for new ones. Raises
    SettingsError when there are vectors of another model.
    """
    with db.transaction():
        db.execute("SELECT FROM daybook.team FOR UPDATE")
        model, dimensions = db.execute("SELECT model, dimensions FROM daybook.team").fetchall()[0]
        if model == embedder.model and dimensions == embedder.dimensions:
            return True
        if model and not anew:
            raise SettingsError(
                f"The team's vectors are those of {model}, and this server has {embedder.model}.",
                "Choose that model, or embed all memories again: daybook team serve --embed-anew.",
            )
        if embedder.dimensions > MOST_DIMENSIONS or not _has_extension(db):
            return False
        db.execute("DROP TABLE IF EXISTS daybook.vectors")
        db.execute(
            "CREATE TABLE daybook.vectors (passage bigint PRIMARY KEY REFERENCES daybook.passages (row)"
            " ON DELETE CASCADE, memory bigint NOT NULL,"
            f" embedding halfvec({int(embedder.dimensions)}) NOT NULL, signs bytea NOT NULL)"
        )
        db.execute("CREATE INDEX vectors_of_memory ON daybook.vectors (memory)")
        db.execute(_INDEX)
        db.execute("GRANT SELECT ON daybook.vectors TO daybook_reader")
        db.execute("TRUNCATE daybook.unembedded")
        db.execute("INSERT INTO daybook.unembedded SELECT row FROM daybook.passages")
        db.execute(
            "UPDATE daybook.team SET model = %s, dimensions = %s", (embedder.model, embedder.dimensions)
        )
    return True


def _has_extension(db: Connection) -> bool:
    """Tell whether the database has pgvector, which is added if it may be."""
    if db.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone():
        return True
    try:
        with db.transaction():
            db.execute("CREATE EXTENSION vector SCHEMA daybook")
    except (psycopg.errors.UndefinedFile, psycopg.errors.InsufficientPrivilege, psycopg.NotSupportedError):
        return False
    see_vectors(db)
    return True


def nearest(db: Connection, question: Vector, condition: Condition, few: Sequence[int] | None) -> list[int]:
    """
    Return the memories that have the passages nearest to *question*.

    *few* are all memories that *condition* lets through, when they are few enough to compare them all.
    """
    halves = _halves(question)
    if few is not None:
        rows = db.execute(
            # Without MATERIALIZED the index may be asked for the nearest of all, and few of these be left.
            "WITH these AS MATERIALIZED (SELECT memory, embedding <=> %s::halfvec AS distance"
            " FROM daybook.vectors WHERE memory = ANY(%s::bigint[]))"
            " SELECT memory FROM these ORDER BY distance LIMIT %s",
            (halves, array(few), NEAREST),
            binary=True,
        )
    elif condition.simple:
        rows = db.execute(
            f"SELECT memory FROM ({_BY_INDEX}) found JOIN daybook.searched USING (memory)"
            f" WHERE {condition.sql} ORDER BY distance",
            (halves, halves, NEAREST, *condition.values),
            binary=True,
        )
    else:
        db.execute("SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true)")
        rows = db.execute(
            "SELECT memory FROM daybook.vectors v WHERE EXISTS (SELECT FROM daybook.searched s"
            f" WHERE s.memory = v.memory AND {condition.sql}) ORDER BY embedding <=> %s::halfvec LIMIT %s",
            (*condition.values, halves, NEAREST),
            binary=True,
        )
    return [*dict.fromkeys(memory for (memory,) in rows.fetchall())]


def cosines(db: Connection, question: Vector, memories: Collection[int]) -> dict[int, Cosines]:
    """Return memory → how near it is to *question*, for those of *memories* that have vectors."""
    rows = db.execute(
        "SELECT memory, passage, 1 - (embedding <=> %s::halfvec) FROM daybook.vectors"
        " WHERE memory = ANY(%s::bigint[])",
        (_halves(question), array(memories)),
        binary=True,
    ).fetchall()
    of_memory: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for memory, passage, cosine in rows:
        of_memory[memory].append((cosine, passage))
    by_memory = {}
    for memory, of_passages in of_memory.items():
        best = sorted(of_passages, key=lambda entry: (-entry[0], entry[1]))[:BEST_PASSAGES]
        mean = sum(cosine for cosine, _ in best) / len(best)
        by_memory[memory] = Cosines(best[0][0], mean, [passage for _, passage in best])
    return by_memory


def signs(db: Connection, passages: Collection[int]) -> dict[int, bytes]:
    """Return passage → the signs of its tokens, as `maxsim.packed` makes them."""
    rows = db.execute(
        "SELECT passage, signs FROM daybook.vectors WHERE passage = ANY(%s::bigint[])",
        (array(passages),),
        binary=True,
    )
    return dict(rows.fetchall())


def claim(db: Connection, most: int) -> list[tuple[int, str]]:
    """Return at most *most* passages that wait for a vector, with their texts; no other server takes them."""
    return db.execute(
        "WITH taken AS (UPDATE daybook.unembedded SET claimed_at = now() WHERE passage IN ("
        " SELECT passage FROM daybook.unembedded WHERE claimed_at IS NULL"
        f" OR claimed_at < now() - interval '{WAIT}' ORDER BY passage DESC LIMIT %s FOR UPDATE SKIP LOCKED)"
        " RETURNING passage) SELECT row, text FROM daybook.passages JOIN taken ON row = passage",
        (most,),
    ).fetchall()


def put(db: Connection, made: Mapping[int, Embedded]) -> None:
    """Store the vectors of passages; a passage that was deleted meanwhile is left out."""
    from mcp_server.adapters.index.search.maxsim import packed

    with db.transaction(), db.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO daybook.vectors (passage, memory, embedding, signs)"
            " SELECT row, memory, %s::halfvec, %s FROM daybook.passages WHERE row = %s"
            " ON CONFLICT DO NOTHING",
            [
                (_halves(embedded.vector), packed(embedded.tokens, len(embedded.vector) // 4), passage)
                for passage, embedded in made.items()
            ],
        )
        cursor.execute("DELETE FROM daybook.unembedded WHERE passage = ANY(%s)", ([*made],))


def _halves(vector: Vector) -> str:
    """Return *vector* in the notation of pgvector."""
    return f"[{','.join(map(repr, np.frombuffer(vector, '<f4').astype(np.float16).tolist()))}]"


_INDEX = "CREATE INDEX vectors_near ON daybook.vectors USING hnsw (embedding halfvec_cosine_ops)"
_BY_INDEX = (
    "SELECT memory, embedding <=> %s::halfvec AS distance FROM daybook.vectors"
    " ORDER BY embedding <=> %s::halfvec LIMIT %s"
)
