"""
former_guesses: take back, once, the `contradicts` links that tidying wrote in earlier versions.

They were guessed, and they hid the memories that they joined. Now such a pair is a question, in no file.
"""

import contextlib
from collections import defaultdict

from mcp_server.actions.context.notice import GUESSES_TOLD
from mcp_server.actions.files import runs
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import deeds, tidying
from mcp_server.core.authors import TIDY
from mcp_server.core.batches import batches
from mcp_server.core.links import CONTRADICTS
from mcp_server.core.memory import Link
from mcp_server.core.runs import Change, Reason, RunEntry, Why, change, with_values
from mcp_server.store import Store

AT_ONCE = 50  # files in one event, whose length is limited
MOST_LINKED = 100  # links written into one file, the latest ones


def take_back_guesses(store: Store, run: str) -> list[RunEntry]:
    """
    Take those links out of the files, as entries of *run* that can be undone; return the entries.

    A link that was written on purpose stays, also if it had been guessed before. A file that cannot be
    written now is not tried again.
    """
    vaults = store.keys
    with store.database.read() as db:
        guessed = tidying.guessed(db, vaults)
    if not guessed:
        return []
    by_memory: dict[str, list[Change]] = defaultdict(list)
    for guess in guessed:
        by_memory[guess.ref].append(guess)
    changes = [withdrawal for guesses in by_memory.values() if (withdrawal := _without(store, guesses))]
    entries, count = [], 0
    for batch in map(tuple, batches(changes, AT_ONCE)):
        number = sum(len(change.was["links"]) - len(change.now["links"]) for change in batch)
        entries.append(RunEntry(tidying.WITHDRAWAL, Reason(Why.GUESSED, number=number), batch))
        runs.perform(store.acting_as(TIDY), entries[-1], run)
        count += number
    # Noted last: when the process is killed before, the next run finds the links taken back already.
    store.record("tidied", run=run, withdraws=vaults)
    if count:
        with contextlib.suppress(OSError):  # the run shows it, too
            files.write_new(store.home / places.WORK / GUESSES_TOLD, str(count).encode())
    return entries


def _without(store: Store, guessed: list[Change]) -> Change | None:
    """Return the change that takes what was *guessed* about one memory out of its file, None for none."""
    file = runs.file_of(store, guessed[0])
    if file is None:
        return None
    guessed_links: set[Link] = set()
    for guess in guessed:
        before, after = (with_values(file.memory, values).links for values in (guess.was, guess.now))
        guessed_links |= {link for link in set(after) - set(before) if link.rel == CONTRADICTS}
    with store.database.read() as db:
        linked = deeds.listed(db, ref=file.ref, events=["linked"], limit=MOST_LINKED)
    targets = {str(deed.detail.get("to")) for deed in linked if deed.detail.get("rel") == CONTRADICTS}
    links = tuple(link for link in file.memory.links if link not in guessed_links or link.to in targets)
    if links == file.memory.links:
        return None
    return change(file.ref, file.memory, file.place, links=links)
