"""Tools for curation: links, contradictions, and memories made of documents."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from pydantic import Field

from mcp_server.actions.exchange import seed
from mcp_server.actions.exchange.imports.batch import Imported
from mcp_server.actions.exchange.seed import Options
from mcp_server.actions.files.read import read
from mcp_server.actions.judge import contradiction
from mcp_server.actions.memory import link, related
from mcp_server.actions.memory.archive import archivable
from mcp_server.actions.memory.archive import archive as to_archive
from mcp_server.actions.memory.repository import from_documents
from mcp_server.adapters.index.events.imports import DOCUMENT
from mcp_server.core.memory_parts import Level, as_one_text, split_list
from mcp_server.core.memory_types import TYPES
from mcp_server.core.render import one_line
from mcp_server.doors.server.application import Application
from mcp_server.doors.server.dialog import Dialog
from mcp_server.doors.shown import Shown, links
from mcp_server.doors.shown.memory import archived
from mcp_server.doors.shown.persons_acts import SETTLING_CONTRADICTION
from mcp_server.doors.shown.taken_in import taken_in
from mcp_server.store import Store

Words = Annotated[list[str] | str, Field(description="a list, or one comma-separated text")]
LevelName = Literal["", "user", "project"]
TypeName = Annotated[str, Field(description=f"one of {', '.join(TYPES)}; if empty, chosen by the headings")]
Source = Annotated[str, Field(validation_alias="from", description="id of a memory")]
Target = Annotated[
    str, Field(validation_alias="to", description="id of a memory, or a file as path or path:line")
]


def register(application: Application) -> None:
    """Add the curation tools to *application*."""
    tool = application.tool
    open_store = application.opened.store

    @tool()
    def archive(
        context: Context[Any, Any],
        ids: Annotated[
            list[str] | str, Field(description="ids of memories: a list, or one comma-separated text")
        ],
    ) -> Shown:
        """Archive memories: they are shown nowhere, recall finds them only with include_archived, and
        restore_memory brings them back. Ask the person first."""
        store = open_store()
        application.consent(context, store).before_archiving(archivable(store, split_list(ids)))
        return archived(to_archive(store, split_list(ids)))

    @tool()
    def link_memories(
        context: Context[Any, Any],
        source: Source,
        target: Target,
        rel: Annotated[
            str,
            Field(
                description="relates-to, depends-on, refines, elaborates, supersedes, contradicts, or a"
                " label of your own in a few words"
            ),
        ] = "",
    ) -> Shown:
        """Link two memories, or a memory and a file. The label supersedes makes the target superseded;
        contradicts marks the older memory wherever it is shown. Linking again changes nothing."""
        store = open_store()
        application.consent(context, store).before_replacing(source, target, rel)
        return links.linked(link.link(store, source, target, rel))

    @tool(destroys=True)
    def unlink_memories(
        context: Context[Any, Any],
        source: Source,
        target: Target,
        rel: Annotated[str, Field(description="only this label; if empty, every link between them")] = "",
    ) -> Shown:
        """Remove a link. A memory that was superseded through it becomes active again."""
        store = open_store()
        application.consent(context, store).before_unlinking(source, target, rel)
        return links.unlinked(link.unlink(store, source, target, rel))

    @tool(reads=True)
    def get_related(
        id: str = "",
        tags: Annotated[list[str] | str, Field(description="find memories with any of these tags")] = "",
    ) -> Shown:
        """List what a memory is linked with, in both directions and with labels, or the memories that have
        any of the tags. Call it to see what else a change affects."""
        return links.related(related.get_related(open_store(), id, tags=split_list(tags)))

    @tool(reads=True)
    def find_contradictions(
        id: Annotated[str, Field(description="only contradictions with this memory")] = "", limit: int = 5
    ) -> Shown:
        """Find memories about the same thing that differ in a number, a name or a negation. Changes nothing:
        mark_contradiction marks a pair, resolve_contradiction settles it."""
        return links.proposed_pairs(contradiction.find_contradictions(open_store(), id, limit=limit))

    @tool(reads=True)
    def get_contradictions() -> Shown:
        """List the memories that are marked as contradicting each other."""
        return links.marked_pairs(contradiction.get_contradictions(open_store()))

    @tool()
    def mark_contradiction(id: str, other: str) -> Shown:
        """Mark two memories as contradicting each other. Both are still shown, the older one with a mark."""
        return links.linked(contradiction.mark_contradiction(open_store(), id, other))

    @tool(destroys=True)
    def resolve_contradiction(
        context: Context[Any, Any],
        id: Annotated[str, Field(description="the memory that is right")],
        other: str,
        how: Annotated[
            Literal["supersede", "keep_both", "weaken", "delete"],
            Field(
                description="what happens to the other: superseded, kept, trusted less, or moved to the trash"
            ),
        ],
    ) -> Shown:
        """Propose how to settle a contradiction. A dialog asks the person, who decides."""
        Dialog(context).consent(
            _proposed(open_store(), id, other, how),
            act=SETTLING_CONTRADICTION,
            typed=f"contradictions --resolve {one_line(id, 80)} {one_line(other, 80)} --how {how}",
        )
        outcome = contradiction.resolve_contradiction(open_store(), id, other, how)
        return links.settled_pair(outcome)

    @tool()
    def seed_from_text(
        text: str,
        name: Annotated[
            str, Field(description="a name for the text; using it again updates these memories")
        ] = "",
        type: TypeName = "",
        level: LevelName = "",
        tags: Words = "",
    ) -> Shown:
        """Make memories from a longer text, one for each section. recall finds them; they are never shown
        unasked. Only when the person asked for it."""
        options = Options(type, Level(level) if level else None, split_list(tags))
        imports = seed.seed_from_text(open_store(), text, name=name, options=options)
        return _seeded(open_store(), imports)

    @tool()
    def seed_from_file(
        context: Context[Any, Any],
        path: Annotated[str, Field(description="a text file of this project, at most 1 MB")],
        type: TypeName = "",
        level: LevelName = "",
        tags: Words = "",
    ) -> Shown:
        """Make memories from a text file, one for each section; calling it again takes in what changed. Only
        when the person asked for it. For a file outside the project a dialog asks the person again."""
        options = Options(type, Level(level) if level else None, split_list(tags))
        whole = Path(application.opened.folder, os.path.expanduser(path))
        if why := seed.outside_project(open_store(), whole):
            Dialog(context).consent(
                f"{why} Read it and make memories from it?",
                act=seed.READING_OUTSIDE,
                typed=_seeding(whole, options),
            )
        imports = seed.seed_from_file(open_store(), whole, options=options)
        return _seeded(open_store(), imports)

    @tool()
    def bootstrap_project(
        dry_run: Annotated[bool, Field(description="only show what would be done")] = False,
    ) -> Shown:
        """Make memories from this project's CLAUDE.md, README, docs and rules of other agents; calling
        it again takes in what changed. Only when the person asked for it."""
        imports = seed.bootstrap_project(open_store(), dry_run=dry_run)
        return _seeded(open_store(), imports, dry_run=dry_run)


def _seeding(path: Path, options: Options) -> str:
    """Return what the person types, after `daybook`, to seed the file at *path* with these *options*."""
    given = {
        "--type": options.type,
        "--level": options.level.value if options.level else "",
        "--tags": as_one_text(options.tags),
    }
    words = [word for option, value in given.items() if value for word in (option, one_line(value, SHOWN))]
    return shlex.join(["seed", one_line(str(path), SHOWN), *words])


def _seeded(store: Store, imports: Sequence[Imported], *, dry_run: bool = False) -> Shown:
    waiting = from_documents(store)
    return taken_in(imports, format_name=DOCUMENT, dry_run=dry_run, waiting=waiting)


def _proposed(store: Store, memory_id: str, other: str, how: str) -> str:
    """
    Return what the person is asked: both memories, and what becomes of the second.

    Raises NotFound, and Rejected for two that do not contradict each other.
    """
    first, second = read(store, memory_id), read(store, other)
    contradiction.must_differ(store, first, second)
    holds, loses = first.memory, second.memory
    return (
        f"Settle: {holds.id} “{holds.title}” is right ({one_line(holds.text, SHOWN)});"
        f" {loses.id} “{loses.title}” becomes: {BECOMES[how]} ({one_line(loses.text, SHOWN)}). Agreed?"
    )


BECOMES = {
    "supersede": "superseded",
    "keep_both": "kept; both stay active",
    "weaken": "kept, but trusted less",
    "delete": "moved to the trash",
}
SHOWN = 200  # characters of a memory's text that the person is shown of each
