"""What was acknowledged lasts: the database stops under load, and processes that write to it are killed."""

import os
import random
import signal
import subprocess
import sys
import threading

from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import StorageUnavailable
from mcp_server.core.storage.port import ChangeKind
from mcp_server.core.team.team import Role
from tests.live import ROOT
from tests.patience import PATIENCE
from tests.postgres import empty_database, restarting
from tests.team_database.teams import memory, storages

WRITERS = 4
PROCESSES = 12  # that are killed, two at a time
EACH = 10  # acknowledged writes of each that are waited for, before and after


def test_the_database_is_stopped_and_started_under_load() -> None:
    with empty_database() as url, open_database(url) as team:
        by = storages(team)
        ids_written: list[str] = []
        refused = threading.Event()
        ended = threading.Event()

        def write(writer: int) -> None:
            number = 0
            while not ended.is_set():
                number += 1
                written = memory(f"written-{writer}-{number}", f"What {writer} wrote as number {number}.")
                try:
                    by["anna"].save(written)
                except StorageUnavailable:
                    refused.set()
                    continue
                ids_written.append(written.id)

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            _wait_for(ids_written, WRITERS * EACH)
            with restarting():
                assert refused.wait(PATIENCE), "nothing was refused while there was no database"
                before = len(ids_written)
            _wait_for(ids_written, before + WRITERS * EACH)
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        ids_kept: set[str] = set()
        while page := by["rita"].page(after=max(ids_kept, default="")):
            ids_kept.update(stored.memory.id for stored in page)
        assert {*ids_written} <= ids_kept


def _wait_for(ids_written: list[str], number: int) -> None:
    waited = threading.Event()
    for _ in range(int(PATIENCE * 20)):
        if len(ids_written) >= number:
            return
        waited.wait(0.05)
    raise AssertionError(f"{len(ids_written)} of {number} were written in time")


WRITE = """
import sys
from mcp_server.adapters.team.database import open_database
from mcp_server.core.errors import Conflict
from tests.team_database.teams import memory
from dataclasses import replace
url, name, token = sys.argv[1:]
with open_database(url) as team:
    storage = team.storage_for(team.member_of(token))
    print("ready", flush=True)
    for number in range(100_000):
        each = memory(f"{name}-{number}", f"Number {number} of {name}.")
        stored = storage.save(each)
        print(each.id, stored.digest, flush=True)
        if number % 3 == 0:
            stored = storage.save(replace(each, text="Changed."), replaces=stored.digest)
            print(each.id, stored.digest, flush=True)
        if number % 5 == 0:
            storage.forget(each.id, digest=stored.digest)
            print(each.id, "forgotten", flush=True)
"""


def test_processes_that_are_killed_lose_nothing_that_was_acknowledged() -> None:
    chance = random.Random(7)
    with empty_database() as url, open_database(url) as team:
        token = team.issue("anna", Role.WRITER)
        digest_by_id: dict[str, str] = {}
        for start in range(PROCESSES // 2):
            names = [f"p{start}-{letter}" for letter in "ab"]
            processes = [
                subprocess.Popen(
                    [sys.executable, "-c", WRITE, url, name, token],
                    cwd=ROOT,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for name in names
            ]
            for process in processes:
                assert process.stdout
                for _ in range(chance.randint(2, 40)):
                    _note(process.stdout.readline(), digest_by_id)
            for process in processes:
                process.send_signal(signal.SIGKILL)
            for process in processes:
                assert process.stdout
                for line in process.stdout.read().splitlines(keepends=True):
                    _note(line, digest_by_id)
                process.stdout.close()
                process.wait()
        member = team.member_of(token)
        assert member
        storage = team.storage_for(member)
        digest_kept = {}
        while page := storage.page(after=max(digest_kept, default="")):
            digest_kept |= {stored.memory.id: stored.digest for stored in page}
        assert len(digest_by_id) > 50
        # What a process did last may be done without having been told: one thing of each.
        back = [
            memory_id
            for memory_id, digest in digest_by_id.items()
            if digest == "forgotten" and memory_id in digest_kept
        ]
        gone = [
            memory_id
            for memory_id, digest in digest_by_id.items()
            if digest != "forgotten" and memory_id not in digest_kept
        ]
        other = [
            memory_id
            for memory_id, digest in digest_by_id.items()
            if memory_id in digest_kept and digest_kept[memory_id] != digest
        ]
        assert back == []
        assert {storage.history(memory_id)[-1].kind for memory_id in gone} <= {ChangeKind.FORGOTTEN}
        assert {storage.history(memory_id)[-1].kind for memory_id in other} <= {ChangeKind.REVISED}
        assert len(gone) + len(other) <= PROCESSES


def _note(line: str, digest_by_id: dict[str, str]) -> None:
    if line.endswith("\n") and line != "ready\n":
        memory_id, digest = line.split()
        digest_by_id[memory_id] = digest
