"""Servers as an administrator runs them, before a database whose vectors come from another model."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.embedding_models import Endpoint
from mcp_server.core.search.query import Query
from tests.durability.served import eventually
from tests.embedding_endpoint import NAME, answer, embeds, texts, vector
from tests.patience import PATIENCE
from tests.scripted_model import Answer, ScriptedModel
from tests.team_server.processes import Server, issued, serving, team
from tests.team_server.test_roles import memory

postgres = pytest.importorskip("tests.postgres")
DIMENSIONS = 8
CHOSEN = {"EMBEDDING_MODEL": ""}  # in the environment, so that what the file says holds
MANY = 100  # memories: several batches for each of two servers


@pytest.fixture
def url() -> Iterator[str]:
    with postgres.empty_database() as url:
        yield url


def model(endpoint: ScriptedModel) -> Endpoint:
    return Endpoint(endpoint.url, NAME, DIMENSIONS)


def machine(folder: Path, endpoint: ScriptedModel) -> Path:
    """Return the home of an administrator who chose the model behind *endpoint*."""
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "config.toml").write_text(f'embedding_model = "{model(endpoint).setting}"\n')
    return folder


def counted(url: str, table: str) -> int:
    """Return how many rows a table of the team's database has."""
    with postgres.administrator(postgres.conninfo.conninfo_to_dict(url)["dbname"]) as db:
        return int(db.execute(f"SELECT count(*) FROM daybook.{table}".encode()).fetchall()[0][0])


def is_embedded(url: str) -> bool:
    return counted(url, "unembedded") == 0 and counted(url, "vectors") == counted(url, "passages")


def test_vectors_of_another_model_are_refused_and_with_the_word_made_anew(tmp_path: Path, url: str) -> None:
    token = issued(tmp_path, url, "anna", "writer")
    with ScriptedModel(embeds(DIMENSIONS)) as before, ScriptedModel(embeds(DIMENSIONS)) as after:
        first, second = machine(tmp_path / "first", before), machine(tmp_path / "second", after)
        with serving(first, url, **CHOSEN) as server:
            anna = TeamClient(server.address, token, deadline=PATIENCE)
            anna.save(memory())
            eventually(lambda: is_embedded(url), "the memory is embedded")
            assert anna.team().model == model(before).model

        refused = team(second, url, "serve", "--port", "0", **CHOSEN)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"The team's vectors are those of {model(before).model}" in refused.stderr
        assert "daybook team serve --embed-anew" in refused.stderr
        assert (after.calls, is_embedded(url)) == (0, True)

        with serving(second, url, "--embed-anew", **CHOSEN) as server:
            anna = TeamClient(server.address, token, deadline=PATIENCE)
            eventually(lambda: is_embedded(url), "the memory is embedded anew")
            assert len(texts(after)) == counted(url, "passages")
            assert anna.team().model == model(after).model
            assert anna.search(Query("body parsing")).semantic


def test_of_two_servers_that_embed_at_once_none_embeds_twice_and_none_fails(tmp_path: Path, url: str) -> None:
    token = issued(tmp_path, url, "anna", "writer")
    with (
        ScriptedModel(embeds(DIMENSIONS)) as before,
        serving(machine(tmp_path / "first", before), url, **CHOSEN) as server,
    ):
        anna = TeamClient(server.address, token, deadline=PATIENCE)
        for number in range(MANY):
            anna.save(replace(memory(f"memory-{number}"), text=f"The quagga number {number} is extinct."))
    both_ask = threading.Event()

    def answer_late(body: dict[str, Any]) -> Answer:
        return replace(answer(*(vector(text) for text in body["input"])), after=both_ask)

    with ScriptedModel(answer_late) as after, ThreadPoolExecutor(2) as threads:
        second = machine(tmp_path / "second", after)
        starting = [threads.submit(Server, second, url, "--embed-anew", **CHOSEN) for _ in range(2)]
        servers = [started.result() for started in starting]
        try:
            assert after.wait_for_calls(2), "a server asks once at a time, so both of them ask"
            both_ask.set()
            eventually(lambda: is_embedded(url), "everything is embedded")
            texts_sent = texts(after)
            assert len(texts_sent) == len(set(texts_sent)) == counted(url, "passages")
            for server in servers:
                results = TeamClient(server.address, token, deadline=PATIENCE).search(Query("quagga"))
                assert results.semantic
                assert server.process.poll() is None
        finally:
            both_ask.set()
            printed = [server.end() for server in servers]
    assert printed == ["", ""]
