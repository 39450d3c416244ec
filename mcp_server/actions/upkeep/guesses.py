"""
guesses: take back, once, the `contradicts` links that tidying wrote in earlier versions.

They were guessed, and they hid the memories that they joined. Now such a pair is a question, in no file.
"""

import contextlib
from collections import defaultdict

from mcp_server.actions.context.notice import GUESSES_TOLD
from mcp_server.actions.files import journal
from mcp_server.adapters import files, places
from mcp_server.adapters.index.events import audit, tidying
from mcp_server.core.authors import TIDY
from mcp_server.core.journal import Change, JournalEntry, change, with_values
from mcp_server.core.links import CONTRADICTS
from mcp_server.core.memory import Link
from mcp_server.core.render import counted
from mcp_server.store import Store

AT_ONCE = 50  # files in one event, whose length is limited
MOST_LINKED = 100  # links written into one file, the latest ones


def take_back_guesses(store: Store, run: str) -> list[JournalEntry]:
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
    wanted: dict[str, list[Change]] = defaultdict(list)
    for each in guessed:
        wanted[each.ref].append(each)
    changes = [found for of_one in wanted.values() if (found := _without(store, of_one))]
    entries, taken = [], 0
    for start in range(0, len(changes), AT_ONCE):
        some = tuple(changes[start : start + AT_ONCE])
        number = sum(len(each.was["links"]) - len(each.now["links"]) for each in some)
        line = f"taken back: {counted(number, 'link')} 'contradicts' that nobody had said"
        entries.append(JournalEntry(tidying.WITHDRAWAL, line, some))
        journal.perform(store.acting_as(TIDY), entries[-1], run)
        taken += number
    # Last: a process that is killed before finds them taken back already.
    store.ledger.append("tidied", store.clock(), run=run, withdraws=vaults)
    if taken:
        with contextlib.suppress(OSError):  # the journal shows it, too
            files.write_new(store.home / places.WORK / GUESSES_TOLD, str(taken).encode())
    return entries


def _without(store: Store, guessed: list[Change]) -> Change | None:
    """Return the change that takes what was *guessed* about one memory out of its file, None for none."""
    found = journal.file_of(store, guessed[0])
    if found is None:
        return None
    written: set[Link] = set()
    for each in guessed:
        before, after = (with_values(found.memory, said).links for said in (each.was, each.now))
        written |= {link for link in set(after) - set(before) if link.rel == CONTRADICTS}
    with store.database.read() as db:
        deeds = audit.history(db, ref=found.ref, events=["linked"], limit=MOST_LINKED)
    said = {str(deed.detail.get("to")) for deed in deeds if deed.detail.get("rel") == CONTRADICTS}
    links = tuple(link for link in found.memory.links if link not in written or link.to in said)
    if links == found.memory.links:
        return None
    return change(found.ref, found.memory, found.place, links=links)
