"""Records that come again: what was forgotten, under another name; the person's own words, as theirs now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mcp_server.actions.exchange.imports.batch import Batch, Item, Outcome, written
from mcp_server.actions.exchange.imports.plan import Around, Plan, parsed, vault_at
from mcp_server.actions.files.commit import put
from mcp_server.actions.memory.list_trash import LOOKED_INTO, list_trash
from mcp_server.core.memory_parts import fingerprint, id_in, vault_in
from mcp_server.core.provenance.provenance import MANUAL
from mcp_server.core.search.query import Filter
from mcp_server.store import Store

FORGOTTEN = "it was forgotten here and stays so; while it is in the trash: daybook restore {}"


def words_in_trash(store: Store, forgotten: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return *forgotten*, and those of its refs that are in the trash by their words: a name is content."""
    refs = {ref for of_digest in forgotten.values() for ref in of_digest}
    trashed = list_trash(store, Filter(), "", limit=LOOKED_INTO, offset=0).rows if refs else ()
    words = {fingerprint(it.memory.title, it.memory.text): (it.ref,) for it in trashed if it.memory}
    return {**{name: ref for name, ref in words.items() if refs.issuperset(ref)}, **forgotten}


def forgotten_before(plan: Plan, around: Around) -> Item | None:
    """Return what became of a record that is new by its name, but says what was taken and forgotten here."""
    if plan.last_import or plan.holder or plan.record.lossless or not plan.memory:
        return None
    names = plan.digest(plan.memory), fingerprint(plan.title, plan.text)
    refs = [ref for name in names for ref in around.forgotten.get(name, ())]
    ids = [id_in(ref) for ref in refs if vault_in(ref) == plan.vault.key]
    return Item(plan.record.key, Outcome.LEFT, why=FORGOTTEN.format(ids[0])) if ids else None


def given_back(store: Store, plan: Plan, batch: Batch, *, dry_run: bool) -> Item | None:
    """
    Let a memory that an export brought count as the person's word again, once they say that it is their own.

    Return None where there is nothing to do: it says something else by now, or counts so already.
    """
    record, last_import, memory = plan.record, plan.last_import, plan.memory
    if not (memory and record.lossless and record.lossless.source == MANUAL and last_import and plan.holder):
        return None
    digest, file = plan.digest(memory), parsed(vault_at(store, plan), Path(plan.holder.path))
    if not last_import.own or file.memory.source == MANUAL or plan.digest(file.memory) != digest:
        return None
    if not dry_run:
        now = put(store, file, replace(file.memory, source=MANUAL), verb="imported")
        plan.vault = file.vault
        written(store, plan, file, now, digest, batch)
    return Item(record.key, Outcome.REVISED, plan.id)
