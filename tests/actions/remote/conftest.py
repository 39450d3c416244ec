"""Machines of one person, with a bare repository between them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.actions.remote.exchange import Exchanged, exchange
from mcp_server.actions.remote.set_up import add, look_ahead
from mcp_server.bootstrap import Opened
from mcp_server.store import Store
from tests.conftest import Clock
from tests.opened import opened_at


class Machines:
    """Homes of one person; the remote is a folder that the first of them makes."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder, self.clock = folder, clock
        self.remote = folder / "memory.git"
        self.opened: list[Opened] = []

    def open(self, name: str, work: Path | None = None) -> Store:
        """Open the store of the machine *name* from the folder *work*."""
        opened = opened_at(self.folder / name, work or Path("/"), clock=self.clock)
        self.opened.append(opened)
        return opened.store()

    def joined(self, name: str, work: Path | None = None, **more: bool) -> Store:
        """Open the store of the machine *name*, and add the remote to it."""
        store = self.open(name, work)
        report = add(store, look_ahead(store, str(self.remote), **more))
        assert not report.trouble, report.trouble
        return store

    def meet(self, *stores: Store) -> list[Exchanged]:
        """Let the machines exchange, one after the other, until each has what all have."""
        return [exchange(store) for store in (*stores, *stores)]


@pytest.fixture
def machines(tmp_path: Path, clock: Clock) -> Iterator[Machines]:
    machines = Machines(tmp_path, clock)
    yield machines
    for opened in machines.opened:
        opened.database.close()
