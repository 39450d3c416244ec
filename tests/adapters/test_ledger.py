"""Which lines of the ledger wait for the disk."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.adapters.ledger import Ledger

NOW = datetime(2026, 11, 20, 9, 12, 3, tzinfo=UTC)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reached the disk, by its place, and how long it was then."""
    synced_files: list[str] = []
    really = os.fsync

    def fsync(handle: int) -> None:
        really(handle)
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        synced_files.append(f"{path.name} {path.stat().st_size}" if path.is_file() else path.name)

    monkeypatch.setattr(os, "fsync", fsync)
    return synced_files


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux names what is open")
def test_what_is_about_to_be_done_is_on_the_disk_before_and_a_recall_waits_for_nothing(
    tmp_path: Path, synced: list[str]
) -> None:
    ledger = Ledger(tmp_path / "ledger")

    ledger.append("tidied", NOW, run="r1")
    (path,) = ledger.paths()
    first = path.stat().st_size
    assert synced == [tmp_path.name, f"{path.name} {first}", "ledger"]  # first the entry of the new folder

    ledger.append("reserved", NOW, call="c1", usd=0.01)
    second = path.stat().st_size
    assert synced[3:] == [f"{path.name} {second}", "ledger"]

    ledger.append("recalled", NOW, refs=["user/a"])
    assert len(synced) == 5
    assert path.stat().st_size > second > first
