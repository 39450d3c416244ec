"""What an export brought counts as the person's word once they say that the export is their own."""

from pathlib import Path

import pytest

from mcp_server.actions.exchange.imports.batch import Outcome
from mcp_server.actions.files.read import read
from mcp_server.actions.files.sync import sync
from mcp_server.store import Store
from tests.importing import import_from

WORDS = "---\nid: {0}\ntitle: {0}\nsource: {0}\n---\nThe shop listens on port 8000, as {0} said.\n"


@pytest.fixture
def export(store: Store, tmp_path: Path) -> Path:
    """An export with a memory of each source, which was taken in as one that anybody may have written."""
    folder = tmp_path / "out"
    (folder / "knowledge").mkdir(parents=True)
    for source in ("manual", "assistant", "output"):
        (folder / "knowledge" / f"{source}.md").write_text(WORDS.format(source))
    import_from(store, "daybook", folder)
    return folder


def sources(store: Store) -> dict[str, str]:
    return {name: read(store, name).memory.source for name in ("manual", "assistant", "output")}


def outcomes(store: Store, export: Path, *, dry_run: bool = False) -> dict[str, Outcome]:
    (report,) = import_from(store, "daybook", export, own_export=True, dry_run=dry_run)
    return {item.id: item.outcome for item in report.items}


def test_the_persons_words_alone_count_as_theirs_again(store: Store, export: Path) -> None:
    before = sources(store)
    same = dict.fromkeys(before, Outcome.UNCHANGED)

    assert outcomes(store, export, dry_run=True) == {**same, "manual": Outcome.REVISED}
    assert sources(store) == before == {**before, "manual": "imported"}
    assert outcomes(store, export) == {**same, "manual": Outcome.REVISED}
    assert sources(store) == {**before, "manual": "manual"}
    assert outcomes(store, export) == same


def test_what_was_changed_here_stays_as_it_is(store: Store, export: Path) -> None:
    path = read(store, "manual").path
    path.write_text(path.read_text().replace("8000", "9000"))
    sync(store)

    assert outcomes(store, export)["manual"] is Outcome.UNCHANGED
    assert sources(store)["manual"] == "imported"
