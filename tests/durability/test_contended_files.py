"""What two processes do to one file at the same moment, and what a kill leaves of a line."""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_server.adapters import files, moving
from mcp_server.adapters.ledger import Ledger, read_events
from mcp_server.core.errors import Conflict
from tests.conftest import Wait


def test_what_is_moved_is_what_the_file_says_last(tmp_path: Path, wait_until_in: Wait) -> None:
    """A revision that was accepted while somebody forgets the memory must be in the trash."""
    path, target = tmp_path / "a.md", tmp_path / "trash" / "a.md"
    files.write_new(path, b"old")
    with files.lock(tmp_path / files.LOCK_NAME):
        mover = threading.Thread(target=moving.move, args=(path, target))
        mover.start()
        wait_until_in(mover, "_locked_within")
        revised = tmp_path / "revised"
        revised.write_bytes(b"new")
        revised.replace(path)
    mover.join()

    assert target.read_bytes() == b"new"
    assert not path.exists()


def test_a_file_deleted_for_good_does_not_come_back_by_a_revision(
    tmp_path: Path, wait_until_in: Wait
) -> None:
    path = tmp_path / "a.md"
    files.write_new(path, b"old")
    errors: list[Exception] = []

    def revise() -> None:
        try:
            files.replace(path, b"new", expected=files.digest(b"old"))
        except Conflict as error:
            errors.append(error)

    with files.lock(tmp_path / files.LOCK_NAME):
        reviser = threading.Thread(target=revise)
        deleter = threading.Thread(target=files.delete, args=(path,))
        deleter.start()
        wait_until_in(deleter, "_locked_within")
        reviser.start()
        wait_until_in(reviser, "_locked_within")
    deleter.join()
    reviser.join()

    # Whoever came first: the file is gone.
    assert not path.exists()


def test_a_line_cut_short_costs_no_other_line(tmp_path: Path) -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    ledger = Ledger(tmp_path)
    ledger.append("recalled", now, refs=["user/a"])
    path = ledger.paths()[0]
    with open(path, "ab") as handle:
        handle.write(b'{"at": "2026-11-20T00:00:00Z", "event": "remem')

    ledger.append("forgotten", now, refs=["user/b"])
    ledger.append("recalled", now, refs=["user/c"])

    assert [event.data["refs"] for event, _ in read_events(path, 0)] == [["user/a"], ["user/b"], ["user/c"]]


@pytest.mark.parametrize("end", [b"", b"\n", b"{", b'{"at": 1, "event": null', b"\xff\xfe", b"[1]\n[2"])
def test_a_ledger_goes_on_after_any_end(tmp_path: Path, end: bytes) -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    ledger = Ledger(tmp_path)
    ledger.append("recalled", now, refs=["user/a"])
    path = ledger.paths()[0]
    path.write_bytes(path.read_bytes() + end)

    ledger.append("recalled", now, refs=["user/b"])

    whole = [json.dumps(event.data["refs"]) for event, _ in read_events(path, 0) if "refs" in event.data]
    assert whole == ['["user/a"]', '["user/b"]']
