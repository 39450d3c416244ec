"""
How long a team's database takes: `python benchmarks/team_speed.py SIZE [--vectors random] [--clients 16]`.

It is filled with made-up memories (`synthetic.py`) past the server: their rows are copied in, the words by
our own tokenizer, the vectors random. Beyond `--different` memories the same texts come
again under other ids. A database that has so many memories already is measured as it is. What is measured
is what a server does: recall with one client and with many, saving one at a time and with many, and embedding
what was saved. PostgreSQL runs on this machine: besides the times, it is told how long each recall keeps the
processor, which other work on the machine changes less. With `--vectors shipped` questions and what is saved
are embedded by the shipped model.
"""

import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import LiteralString

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as bin/daybook has it

import click
import numpy as np
import psycopg

from benchmarks import synthetic
from benchmarks.latency import machine, percentile
from benchmarks.processor_time import PostgresTime
from benchmarks.synthetic_store import unit_vectors
from benchmarks.team_database import opened, wait_for_vectors
from mcp_server.adapters.index.memories.writing import searched_texts
from mcp_server.adapters.index.search.maxsim import packed
from mcp_server.adapters.index.search.tokens import tokens
from mcp_server.adapters.team.derived import vector_of
from mcp_server.adapters.team.rows import json_of
from mcp_server.core.memory import Memory
from mcp_server.core.ports import Embedded, Embedder
from mcp_server.core.search.query import Query
from mcp_server.core.sessions.passages import passages
from mcp_server.core.team.team import Role
from mcp_server.embedding import load_embedder

DIMENSIONS = 384
TOKENS = 24  # of a passage
WARM = 20  # questions that do not count
DIFFERENT_VECTORS = 10_000


class RandomEmbedder:
    """Gives random vectors, at no cost: what is measured is the database."""

    model, dimensions, sends, problem = "random", DIMENSIONS, False, ""

    def __init__(self) -> None:
        self._made = unit_vectors(np.random.default_rng(0), 1_000, DIMENSIONS)

    def embed_queries(self, texts: Sequence[str], *, patience: float = 0.0) -> list[Embedded]:
        return [self._embedded(text) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> list[Embedded]:
        return [self._embedded(text) for text in texts]

    def _embedded(self, text: str) -> Embedded:
        at = random.Random(text).randrange(900)
        return Embedded(self._made[at].tobytes(), self._made[at : at + TOKENS].tobytes())


@click.command()
@click.argument("size", type=int)
@click.option("--different", default=100_000, show_default=True, help="Memories of different texts.")
@click.option(
    "--vectors",
    type=click.Choice(["none", "random", "shipped"]),
    default="random",
    show_default=True,
    help="Whose vectors are asked for and saved.",
)
@click.option("--clients", default=16, show_default=True, help="Clients that ask at once.")
@click.option("--asked", default=300, show_default=True, help="Questions.")
@click.option("--database", default="", help="The URL of a database to use, filled if it is empty.")
def main(size: int, different: int, vectors: str, clients: int, asked: int, database: str) -> None:
    """Tell what recall and saving take among SIZE memories."""
    embedder = _embedder(vectors)
    with opened(database, embedder) as (url, team):
        some = [*synthetic.memories(min(size, different))]
        count_before = _count(url)
        if count_before < size:
            seconds = _timed(partial(_fill, url, some, size, vectors=bool(embedder)))
            click.echo(f"filling with {size:,}: {seconds:.0f} s")
        click.echo(f"the database has {_bytes(url) / 1e9:.1f} GB")
        member = team.member_of(team.issue("benchmark", Role.WRITER))
        assert member
        storage = team.storage_for(member)
        questions = synthetic.questions(some[:2_000], WARM + asked)

        postgres = PostgresTime(url)

        def ask(text: str) -> float:
            return 1000 * _timed(partial(storage.search, Query(text)))

        for text in questions[:WARM]:
            ask(text)
        with _processor_told("recall, one client", postgres, asked):
            _tell("recall, one client", [ask(text) for text in questions[WARM:]])
        with (
            ThreadPoolExecutor(clients) as threads,
            _processor_told(f"recall, {clients} clients", postgres, asked),
        ):
            _tell(f"recall, {clients} clients", [*threads.map(ask, questions[WARM:])])
        _tell("whose token it is", [1000 * _timed(team.members) for _ in range(200)])

        def save(memory: Memory) -> float:
            return 1000 * _timed(partial(storage.save, memory))

        new = [*synthetic.memories(1_000, seed=7 + count_before)]  # others than those of a run before
        _tell("save, one client", [save(memory) for memory in new[:300]])
        with ThreadPoolExecutor(clients) as threads:
            if team.semantic:
                wait_for_vectors(url)  # what waited before is not counted
            seconds = _timed(lambda: [*threads.map(save, new[300:])])
        saved = len(new[300:])
        click.echo(f"save, {clients} clients: {saved / seconds:.0f} a second")
        if team.semantic:
            seconds += _timed(partial(wait_for_vectors, url))
            click.echo(
                f"save, {clients} clients, until the vectors are stored: {saved / seconds:.0f} a second"
            )
    click.echo(machine())


def _embedder(vectors: str) -> Embedder | None:
    match vectors:
        case "random":
            return RandomEmbedder()
        case "shipped":
            return load_embedder(Path(), "minilm-l6")
    return None


def _count(url: str) -> int:
    return _number(url, "SELECT count(*) FROM daybook.memories")


def _bytes(url: str) -> int:
    return _number(url, "SELECT pg_database_size(current_database())")


def _number(url: str, query: LiteralString) -> int:
    with psycopg.connect(url) as db:
        return int(db.execute(query).fetchall()[0][0])


def _fill(url: str, some: list[Memory], size: int, *, vectors: bool) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SET search_path = pg_catalog, daybook; SET maintenance_work_mem = '4GB'")
        db.execute("ALTER TABLE daybook.memories DISABLE TRIGGER USER")
        db.execute("DROP INDEX daybook.searched_words")
        if vectors:
            db.execute("DROP INDEX daybook.vectors_near")
        with db.cursor() as cursor:
            with cursor.copy("COPY daybook.memories (row, id, said, digest, author) FROM STDIN") as copy:
                for row, memory in enumerate(some, start=1):
                    copy.write_row((row, memory.id, json_of(memory), "-", "benchmark"))
            with cursor.copy(
                "COPY daybook.searched (memory, length, type, status, category, updated, valid_from, tags,"
                " touches, lexemes) FROM STDIN"
            ) as copy:
                for row, memory in enumerate(some, start=1):
                    memory_tokens = tokens([*searched_texts(memory).values()])
                    copy.write_row(
                        (row, len(memory_tokens), memory.type, "active", "", memory.updated, memory.created,
                         [*memory.tags], [], vector_of(memory_tokens))
                    )  # fmt: skip
            with cursor.copy(
                "COPY daybook.passages (memory, position, text, length, lexemes) FROM STDIN"
            ) as copy:
                for row, memory in enumerate(some, start=1):
                    texts = passages(memory)
                    for position, text in enumerate(texts):
                        memory_tokens = tokens([text])
                        lexemes = vector_of(memory_tokens) if len(texts) > 1 else None
                        copy.write_row((row, position, text, len(memory_tokens), lexemes))
        for start in range(len(some), size, len(some)):
            db.execute(_AGAIN_MEMORIES, {"start": start, "most": min(len(some), size - start)})
            db.execute(_AGAIN_SEARCHED, {"start": start, "most": min(len(some), size - start)})
            db.execute(_AGAIN_PASSAGES, {"start": start, "most": min(len(some), size - start)})
        db.execute("SELECT setval(pg_get_serial_sequence('daybook.memories', 'row'), %s)", (size,))
        db.execute(
            "CREATE INDEX searched_words ON daybook.searched USING gin (lexemes) WITH (fastupdate = off)"
        )
        if vectors:
            _fill_vectors(db)
        db.execute("ALTER TABLE daybook.memories ENABLE TRIGGER USER")
        db.execute("VACUUM ANALYZE")


def _fill_vectors(db: "psycopg.Connection[tuple[object, ...]]") -> None:
    vectors_made = unit_vectors(np.random.default_rng(1), DIFFERENT_VECTORS, DIMENSIONS)
    signs = packed(vectors_made[:TOKENS].tobytes(), DIMENSIONS)
    chance = np.random.default_rng(2)
    rows = db.execute("SELECT row, memory FROM daybook.passages ORDER BY row").fetchall()
    with (
        db.cursor() as cursor,
        cursor.copy("COPY daybook.vectors (passage, memory, embedding, signs) FROM STDIN") as copy,
    ):
        for at, (passage, memory) in enumerate(rows):
            if at % DIFFERENT_VECTORS == 0:
                vectors_made = unit_vectors(chance, DIFFERENT_VECTORS, DIMENSIONS)
                vector_texts = [f"[{','.join(f'{x:.4f}' for x in numbers)}]" for numbers in vectors_made]
            copy.write_row((passage, memory, vector_texts[at % DIFFERENT_VECTORS], signs))
    seconds = _timed(
        lambda: db.execute(
            "CREATE INDEX vectors_near ON daybook.vectors USING hnsw (embedding halfvec_cosine_ops)"
        )
    )
    click.echo(f"the index of {len(rows):,} vectors: {seconds:.0f} s")


def _tell(title: str, times: Sequence[float]) -> None:
    p50, p95 = percentile(times, 50), percentile(times, 95)
    click.echo(f"{title}: p50 {p50:.1f} ms, p95 {p95:.1f} ms")


@contextmanager
def _processor_told(title: str, postgres: PostgresTime, number: int) -> Iterator[None]:
    """Tell how long this process and *postgres* keep the processor for each of *number* things."""
    python, database = time.process_time(), postgres.seconds()
    yield
    of_python = 1000 * (time.process_time() - python) / number
    of_database = 1000 * (postgres.seconds() - database) / number
    click.echo(
        f"{title}: processor time of each {of_python + of_database:.1f} ms,"
        f" Python {of_python:.1f} and PostgreSQL {of_database:.1f}"
    )


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


_AGAIN_MEMORIES = """
    INSERT INTO daybook.memories (row, id, said, digest, author) OVERRIDING SYSTEM VALUE
    SELECT row + %(start)s, left(id, 70) || '-' || %(start)s,
        jsonb_set(said, '{id}', to_jsonb(left(id, 70) || '-' || %(start)s)), '-', author
    FROM daybook.memories WHERE row <= %(most)s
"""
_AGAIN_SEARCHED = """
    INSERT INTO daybook.searched
    SELECT memory + %(start)s, length, type, status, category, updated, valid_from,
        valid_to, tags, touches, lexemes
    FROM daybook.searched WHERE memory <= %(most)s
"""
_AGAIN_PASSAGES = """
    INSERT INTO daybook.passages (memory, position, text, length, lexemes)
    SELECT memory + %(start)s, position, text, length, lexemes FROM daybook.passages WHERE memory <= %(most)s
"""


if __name__ == "__main__":
    main()
